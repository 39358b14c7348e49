/** Files of requests and answers that are under way, in the data directory. */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ClientRoom } from './client_room.ts';
import { isThere, makeDirectory } from './files.ts';
import { isAlive } from './processes.ts';
import { Unavailable } from './refusal.ts';

const DIRECTORY = 'spool';

/**
 * The path of a new file, which is not made.
 * @throws Unavailable where the data directory is gone
 */
export function spoolPath(dataDir: string): string {
  const directory = join(dataDir, DIRECTORY);
  // A data directory that is gone must not come back empty.
  if (!isThere(dataDir)) throw new Unavailable('the data directory is gone');
  makeDirectory(directory);
  return join(directory, `${process.pid}-${randomUUID()}`);
}

let isSwept = false;

/** Removes what processes that have ended have left behind. */
export function sweepSpool(dataDir: string): void {
  const directory = join(dataDir, DIRECTORY);
  // An earlier process may have had the same number.
  const isOwn = (pid: number) => pid === process.pid && isSwept;
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    // There has been no request with a file, or nobody may look: then nobody writes either.
    return;
  }
  for (const name of names) {
    const pid = Number.parseInt(name, 10);
    if (!isOwn(pid) && (pid === process.pid || !isAlive(pid))) rmSync(join(directory, name), { force: true });
  }
  isSwept = true;
}

/** The room on the disk for such files. */
export function spoolRoom(maxBytes: number): ClientRoom {
  return new ClientRoom({
    maxBytes,
    isFull: 'there is no room for further tables on the disk',
    isHalf: 'the tables of this client take half of the room for tables',
  });
}
