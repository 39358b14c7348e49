/** The interface to the files of a catalog, local or remote. */
import type { OpenFile } from '@nearsky/astrotables/files';
import { isAbsent } from './errors.ts';
import type { RemoteOptions } from './remote/options.ts';

/** The cost of reading. */
export interface ReadCounts {
  /** Requests sent to hosts, including failed ones. */
  requests: number;
  /** The number of `requests` that repeat a failed one. */
  retries: number;
  /** Bytes of bodies received, including failed requests. */
  networkBytes: number;
  /** Bytes from local files, or from the cache of remote ones. */
  diskBytes: number;
}

export function noReads(): ReadCounts {
  return { requests: 0, retries: 0, networkBytes: 0, diskBytes: 0 };
}

export function addReads(sum: ReadCounts, more: Readonly<ReadCounts>): void {
  sum.requests += more.requests;
  sum.retries += more.retries;
  sum.networkBytes += more.networkBytes;
  sum.diskBytes += more.diskBytes;
}

/** The files below a directory; names are relative to it, with `/` between the parts. */
export interface CatalogFiles {
  /** Absolute path or address, without a slash at its end. */
  readonly location: string;
  /** The path or address of a file, for messages. */
  nameOf(name: string): string;
  /** The directory at a relative or full path or address. A relative one starts from this directory. */
  directory(text: string): CatalogFiles;
  /**
   * Opens a file. Nearby ranges of a remote file that are requested within one turn of the event loop are fetched
   * together.
   * @throws ReadFailure; MissingFile where the file certainly does not exist, WithheldFile where the host answers 403
   */
  open(name: string): Promise<OpenFile>;
  /** @throws ReadFailure if the host or disk gives no answer; WithheldFile if the host answers 403 */
  has(name: string): Promise<boolean>;
  /** The names in a folder, sorted; empty if there is no such folder; undefined if folders cannot be listed. */
  list(folder: string): Promise<string[] | undefined>;
}

export interface FilesOptions {
  readonly remote?: RemoteOptions | undefined;
  /** Reading adds its cost to these counts. */
  readonly counts?: ReadCounts | undefined;
}

/**
 * Whether a catalog has a file that it need not have.
 * @throws ReadFailure if the host or disk gives no answer
 */
export async function hasOptional(files: CatalogFiles, name: string): Promise<boolean> {
  try {
    return await files.has(name);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
