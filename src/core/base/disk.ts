/** Free space on disks, and the part of it that requests of clients may use. */
import { statfsSync } from 'node:fs';
import { isThere } from './files.ts';
import { Unavailable } from './refusal.ts';

/** The archive's part of a disk: this share, or fewer bytes if the disk is large. Clients leave it free. */
const RESERVED_SHARE = 1 / 4;
const MAX_RESERVED_BYTES = 2 ** 30;

/** The free bytes for this user on the disk of a directory; undefined if its file system does not report them. */
export function freeBytesAt(directory: string): number | undefined {
  const { bavail, bsize, blocks } = statfsSync(directory);
  return blocks > 0 ? bavail * bsize : undefined;
}

/** The bytes that clients leave free on the disk of a directory. */
export function reservedBytesAt(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return Math.min(MAX_RESERVED_BYTES, RESERVED_SHARE * blocks * bsize);
}

/** The bytes that clients may still use on the disk of a directory; infinite if that is unknown. */
export function spareBytesAt(directory: string): number {
  const free = isThere(directory) ? freeBytesAt(directory) : undefined;
  return free === undefined ? Number.POSITIVE_INFINITY : Math.max(0, free - reservedBytesAt(directory));
}

/** @throws Unavailable if a client's bytes would use the archive's part of the disk */
export function requireSpareBytes(directory: string, bytes: number): void {
  if (bytes > spareBytesAt(directory)) throw fullDisk();
}

export function fullDisk(): Unavailable {
  return new Unavailable('the disk of the service has no space left for requests');
}

/** Whether a system call failed because the disk, or this user's share of it, is full. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
