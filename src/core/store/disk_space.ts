/**
 * Whether the disk has room for a write. An LMDB write to a full disk may crash the process, because lmdb's error
 * message overflows its buffer (docs/traps.md). So no write begins unless the space certainly suffices.
 */
import { freeBytesAt } from '../base/disk.ts';
import { StoreError } from './store_error.ts';

const MIB = 2 ** 20;
/**
 * The minimum free space for the smallest write, bytes. It leaves room for other programs that write to the disk, such
 * as logs.
 */
export const RESERVE_BYTES = 4 * MIB;
/** The reserve for abandoning unfinished work, which must be possible even if no new work can start. */
export const RESERVE_TO_END_BYTES = 2 * MIB;
/** An entry changes a page in each of up to eight tables, and LMDB writes every changed page to a new location. */
const CHANGED_BYTES_AN_ENTRY = 8 * 4096;
/** The space of an entry, assuming pages that are half full. */
const NEW_BYTES_AN_ENTRY = 4096;

/** The maximum bytes that a transaction may write, including the reserve. It cannot change more pages than exist. */
export function spaceFor(entries: number, databaseBytes: number): number {
  return RESERVE_BYTES + Math.min(entries * CHANGED_BYTES_AN_ENTRY, databaseBytes) + entries * NEW_BYTES_AN_ENTRY;
}

/** A write was not begun, because it may need more space than the disk has. */
export class FullDisk extends StoreError {
  override name = 'FullDisk';
}

/**
 * @param doing completes the message "Cannot …"
 * @throws FullDisk when fewer bytes are free
 */
export function requireSpace(doing: string, directory: string, neededBytes: number): void {
  const free = freeBytesAt(directory);
  if (free === undefined || free >= neededBytes) return;
  throw new FullDisk(
    `Cannot ${doing} because the disk of ${directory} is full: ${megabytes(free)} are free, and writing may take ${megabytes(neededBytes)}; free some space there, or move the data directory`,
  );
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
