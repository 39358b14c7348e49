/** Manages the files of requests and answers in progress, in the data directory. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ClientRoom } from '../../core/base/client_room.ts';
import { spareBytesAt } from '../../core/base/disk.ts';
import { discard, isThere, makeDirectory } from '../../core/base/files.ts';
import { memoized } from '../../core/base/memoized.ts';
import { isAlive } from '../../core/base/processes.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { Service } from '../../core/service/service.ts';

const DIRECTORY = 'spool';

/**
 * The path of a new file, without creating it.
 * @throws Unavailable if the data directory is missing
 */
export function spoolPath(dataDir: string): string {
  const directory = join(dataDir, DIRECTORY);
  // If the data directory is missing, it must not be created again without its contents.
  if (!isThere(dataDir)) throw new Unavailable('the data directory is gone');
  makeDirectory(directory);
  return join(directory, `${process.pid}-${randomUUID()}`);
}

let isSwept = false;

/** Removes the files of processes that have ended. */
export function sweepSpool(dataDir: string): void {
  const directory = join(dataDir, DIRECTORY);
  // An earlier process may have had the same process id.
  const isOwn = (pid: number) => pid === process.pid && isSwept;
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    // Either no request has needed a file yet, or the directory is unreadable, and so unwritable, too.
    return;
  }
  for (const name of names) {
    const pid = Number.parseInt(name, 10);
    if (!isOwn(pid) && (pid === process.pid || !isAlive(pid))) discard(join(directory, name));
  }
  isSwept = true;
}

/** A serving thread's share of the disk space for such files. */
export const spoolOf = memoized(({ config, threads }: Pick<Service, 'config' | 'threads'>) =>
  spoolRoom((config.SPOOL_MAX_MIB * 2 ** 20) / threads, config.NEARSKY_DATA),
);

export function spoolRoom(maxBytes: number, dataDir: string): ClientRoom {
  return new ClientRoom({
    maxBytes,
    spareBytes: () => spareBytesAt(dataDir),
    isFull: 'the disk space for tables is used up',
    isHalf: 'the tables of this client use half of the disk space for tables',
  });
}
