/** Files of requests and answers that are under way, in the data directory. */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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

/** The room on the disk for such files: one client has at most half of it. */
export class SpoolRoom {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes that a client may take. */
  left(client: string): number {
    return Math.min(this.#maxBytes - this.#bytes, this.#maxBytes / 2 - (this.#bytesOf.get(client) ?? 0));
  }

  /** @throws Unavailable */
  take(client: string, bytes: number): void {
    const own = (this.#bytesOf.get(client) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#maxBytes) throw new Unavailable('there is no room for further tables on the disk');
    if (own > this.#maxBytes / 2) throw new Unavailable('the tables of this client take half of the room for tables');
    this.#bytes += bytes;
    this.#bytesOf.set(client, own);
  }

  free(client: string, bytes: number): void {
    this.#bytes -= bytes;
    const own = this.#bytesOf.get(client)! - bytes;
    if (own === 0) this.#bytesOf.delete(client);
    else this.#bytesOf.set(client, own);
  }
}
