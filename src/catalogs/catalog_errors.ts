/** An invalid catalog: its directory, columns or types. The message says what is wrong and how to fix it. */
export class CatalogError extends Error {
  override name = 'CatalogError';
}

/**
 * A catalog file that cannot be read now: missing, cut short, damaged, or not permitted. A later attempt may succeed.
 */
export class ReadFailure extends Error {
  override name = 'ReadFailure';
}

/** The file does not exist. For a remote file, the host was asked several times. */
export class MissingFile extends ReadFailure {
  override name = 'MissingFile';
}

/** A remote file was replaced after it was opened: the bytes read earlier do not belong to the new content. */
export class FileChanged extends ReadFailure {
  override name = 'FileChanged';
}

/** The one-line reason of an error. For a system error: its code and text, without the call and path that Node adds. */
export function reasonOf(error: unknown): string {
  // A decoder's TypeError or RangeError about damaged bytes tells a reader nothing. System errors are of neither class.
  if (error instanceof TypeError || error instanceof RangeError) return 'it is damaged';
  return error instanceof Error ? error.message.replace(/, \w+( '.*')?$/, '') : String(error);
}

/** The number of times that reading restarts if a file changes meanwhile. */
const FRESH_STARTS = 3;

/** Returns the result of `read`. Runs it again if the file that it reads is replaced meanwhile. */
export async function withStableFile<T>(read: () => Promise<T>): Promise<T> {
  for (let start = 1; ; start++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof FileChanged) || start === FRESH_STARTS) throw error;
    }
  }
}
