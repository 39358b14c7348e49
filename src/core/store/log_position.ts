/** The position of an archive in the log that it follows. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';

export interface LogPosition {
  /** The name of the log; no other log, and no recreated log, has the same one. */
  readonly log: string;
  /** The position of the next record; every record before it is applied. */
  readonly next: number;
  /** The hash of the last record; see `recordHash`. */
  readonly hash: string;
  /** The time that the last record got when it was applied. */
  readonly timeUs: number;
}

const KEY = new TextEncoder().encode('log_position');

/** The last position read. It is cached because every answer of a node reports it. */
let last: { readonly bytes: Uint8Array; readonly position: LogPosition } | undefined;

/** Undefined if the archive follows no log. */
export function readLogPosition({ meta }: Databases): LogPosition | undefined {
  const bytes = meta.getFast(KEY);
  if (!bytes) return undefined;
  if (!last || Buffer.compare(bytes, last.bytes) !== 0)
    last = { bytes: Uint8Array.from(bytes), position: decoded(bytes) };
  return last.position;
}

function decoded(bytes: Uint8Array): LogPosition {
  const [log, next, hash, timeUs] = decodePlain(bytes) as [string, number, string, number];
  return { log, next, hash, timeUs };
}

/** Call this in a write transaction, like `removeLogPosition`. */
export function writeLogPosition({ meta }: Databases, { log, next, hash, timeUs }: LogPosition): void {
  meta.put(KEY, encodePlain([log, next, hash, timeUs]));
}

export function removeLogPosition({ meta }: Databases): void {
  meta.remove(KEY);
}
