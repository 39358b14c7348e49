/**
 * Whether the disk has room for a write. An LMDB write that finds no room may end the process, because lmdb describes
 * the failure in more bytes than its buffer has (docs/traps.md). No write therefore begins unless there is surely room.
 */
import { statfsSync } from 'node:fs';
import { StoreError } from './store_error.ts';

const MIB = 2 ** 20;
/**
 * The space that must be free for the smallest write, bytes: other programs write to the disk meanwhile, if only logs.
 */
export const RESERVE_BYTES = 4 * MIB;
/** The reserve for giving up something that was begun: this is possible even where nothing new can begin. */
export const RESERVE_TO_END_BYTES = 2 * MIB;
/** An entry changes a page in each of up to eight tables, and every changed page is written to another place. */
const CHANGED_BYTES_AN_ENTRY = 8 * 4096;
/** The space of an entry, in pages that are half full. */
const NEW_BYTES_AN_ENTRY = 4096;

/** The bytes that a transaction may write, with the reserve. It changes no more pages than exist. */
export function spaceFor(entries: number, databaseBytes: number): number {
  return RESERVE_BYTES + Math.min(entries * CHANGED_BYTES_AN_ENTRY, databaseBytes) + entries * NEW_BYTES_AN_ENTRY;
}

/**
 * The bytes that this user may still write to the disk of a directory; undefined where its file system does not say.
 */
export function freeBytesAt(directory: string): number | undefined {
  const { bavail, bsize, blocks } = statfsSync(directory);
  return blocks > 0 ? bavail * bsize : undefined;
}

/**
 * @param doing to follow "Cannot"
 * @throws StoreError when fewer bytes are free
 */
export function requireSpace(doing: string, directory: string, neededBytes: number): void {
  const free = freeBytesAt(directory);
  if (free === undefined || free >= neededBytes) return;
  throw new StoreError(
    `Cannot ${doing} because the disk of ${directory} is full: ${megabytes(free)} are free, and writing may take ${megabytes(neededBytes)}; free some space there, or move the data directory`,
  );
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
