import { ReadFailure } from '@nearsky/astrotables/files';

/** An invalid catalog: its directory, columns or types. The message says what is wrong and how to fix it. */
export class CatalogError extends Error {
  override name = 'CatalogError';
}

/** The file does not exist. For a remote file, the host was asked several times. */
export class MissingFile extends ReadFailure {
  override name = 'MissingFile';
}

/**
 * The host answers 403: the file does not exist, or it is not public. Amazon S3 and CloudFront answer 403 for a missing
 * key of a bucket that may not be listed.
 */
export class WithheldFile extends ReadFailure {
  override name = 'WithheldFile';
}

/** Whether a file that a catalog need not have counts as missing. A data file that is withheld is a read failure. */
export function isAbsent(error: unknown): boolean {
  return error instanceof MissingFile || error instanceof WithheldFile;
}

/** A remote file was replaced after it was opened, so bytes that were read earlier do not match the new content. */
export class FileChanged extends ReadFailure {
  override name = 'FileChanged';
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
