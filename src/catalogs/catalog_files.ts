/** The files of a catalog as its readers see them, wherever they lie. */
import type { RemoteOptions } from './remote/options.ts';

/** The cost of reading. */
export interface ReadCounts {
  /** Requests sent to hosts, failed tries included. */
  requests: number;
  /** The number of `requests` that repeat a failed one. */
  retries: number;
  /** Bytes of bodies received, those of failed tries included. */
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

/** A file that is open for reading, local or remote. Close it when done. */
export interface OpenFile {
  /** The file's path or address, for messages. */
  readonly name: string;
  readonly byteLength: number;
  /**
   * The bytes [start, end). Ranges of a remote file that are asked for in one turn of the event loop and lie near each
   * other are fetched together.
   * @throws ReadFailure
   */
  read(start: number, end: number): Promise<ArrayBuffer>;
  close(): void;
}

/** The files below a directory; names are relative to it, with `/` between the parts. */
export interface CatalogFiles {
  /** Absolute path or address, without a slash at its end. */
  readonly location: string;
  /** The path or address of a file, for messages. */
  nameOf(name: string): string;
  /** The directory that a text names as seen from this one: a relative or a full path or address. */
  directory(text: string): CatalogFiles;
  /** @throws ReadFailure; MissingFile where the file certainly does not exist */
  open(name: string): Promise<OpenFile>;
  /** @throws ReadFailure when the host or disk does not tell */
  has(name: string): Promise<boolean>;
  /** The names in a folder, sorted; empty where there is no such folder; undefined where folders cannot be listed. */
  list(folder: string): Promise<string[] | undefined>;
}

export interface FilesOptions {
  readonly remote?: RemoteOptions | undefined;
  /** Reading adds its cost here. */
  readonly counts?: ReadCounts | undefined;
}
