/**
 * A catalog that is not what it must be: its directory, columns or types. The message says what is wrong and how to
 * mend it.
 */
export class CatalogError extends Error {
  override name = 'CatalogError';
}

/** A catalog file that cannot be read now: missing, cut short, damaged, or not permitted. Another time it may be. */
export class ReadFailure extends Error {
  override name = 'ReadFailure';
}

/** There is no such file: asked more than once where a host was asked. */
export class MissingFile extends ReadFailure {
  override name = 'MissingFile';
}

/** A remote file is no longer the one that was opened: what was read of it does not belong to what is there now. */
export class FileChanged extends ReadFailure {
  override name = 'FileChanged';
}

/** The one line that says why: of a system error the code and text, without the call and path that Node adds. */
export function reasonOf(error: unknown): string {
  // What a decoder stumbles over in damaged bytes tells a reader nothing. A system error is neither of these.
  if (error instanceof TypeError || error instanceof RangeError) return 'it is damaged';
  return error instanceof Error ? error.message.replace(/, \w+( '.*')?$/, '') : String(error);
}

/** How often a file that changes under the reader is begun anew. */
const FRESH_STARTS = 3;

/** What `read` resolves with; it is run again when the file that it reads is replaced meanwhile. */
export async function withStableFile<T>(read: () => Promise<T>): Promise<T> {
  for (let start = 1; ; start++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof FileChanged) || start === FRESH_STARTS) throw error;
    }
  }
}
