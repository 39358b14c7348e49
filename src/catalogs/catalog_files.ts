/** The files of a catalog as its readers see them, wherever they lie. */
import type { RemoteOptions } from './remote/options.ts';

/** What reading cost. */
export interface ReadCounts {
  /** Sent to a host, tries that failed included. */
  requests: number;
  /** Of these, the ones that were sent again after a failure. */
  retries: number;
  /** Bodies received, those of failed tries included. */
  networkBytes: number;
  /** From local files, or from the cache of remote ones. */
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

/** A file that is open for reading in any place. Close it when done. */
export interface OpenFile {
  /** Its path or address, for messages. */
  readonly name: string;
  readonly byteLength: number;
  /**
   * The bytes [start, end). What is asked of a remote file in one turn of the event loop is fetched together where it
   * lies near.
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
  /** The directory that a text names as seen from this one: relative, or whole. */
  directory(text: string): CatalogFiles;
  /** @throws ReadFailure; MissingFile where it is certain that there is none */
  open(name: string): Promise<OpenFile>;
  /** @throws ReadFailure when that cannot be told */
  has(name: string): Promise<boolean>;
  /** The names in a folder, sorted, none where there is no such folder; undefined where folders cannot be listed. */
  list(folder: string): Promise<string[] | undefined>;
}

export interface FilesOptions {
  readonly remote?: RemoteOptions | undefined;
  /** What reading costs is added here. */
  readonly counts?: ReadCounts | undefined;
}
