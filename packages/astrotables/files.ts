/** Files that are read in parts. */
import { isAllocationFailure } from './bytes.ts';

/** An open file, local or remote. Close it when done. */
export interface OpenFile {
  /** The file's path or address, for messages. */
  readonly name: string;
  readonly byteLength: number;
  /**
   * The bytes [start, end).
   * @throws ReadFailure
   */
  read(start: number, end: number): Promise<ArrayBuffer>;
  /**
   * The same bytes without a promise. Local files have it, because waiting costs more than reading a small part.
   * @throws ReadFailure
   */
  readNow?(start: number, end: number): ArrayBuffer;
  /** The version of a local file. */
  readonly version?: FileVersion;
  close(): void;
}

/** Tells whether a local file is still the one that was read before. */
export interface FileVersion {
  /** Differs after every change of the file, even if the time of its modification was set back. */
  readonly key: string;
  /** When the file was modified, nanoseconds since 1970. A copy may have the time of the original. */
  readonly modifiedNs: bigint;
  /** Whether the last change is so recent that a further change may not alter `key`. */
  readonly isRecent: boolean;
}

/**
 * A file that cannot be read now: missing, cut short, damaged, or not permitted. A later attempt may succeed.
 */
export class ReadFailure extends Error {
  override name = 'ReadFailure';
}

/** The one-line reason of an error. For a system error: its code and text, without the call and path that Node adds. */
export function reasonOf(error: unknown): string {
  if (isAllocationFailure(error)) return 'reading it takes more memory than there is';
  // A decoder's TypeError or RangeError about damaged bytes means nothing to a user. System errors do not belong to
  // these classes.
  if (error instanceof TypeError || error instanceof RangeError) return 'it is damaged';
  return error instanceof Error ? error.message.replace(/, \w+( '.*')?$/, '') : String(error);
}
