/** The position of an archive in the log that it follows. */
import type { Databases } from './databases.ts';
import { FORMAT_VERSION } from './environment.ts';
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
  /**
   * The digest of everything that the records have written: see `WriteDigest`. Null while it is not comparable with the
   * digests of other nodes, because the stored format was upgraded.
   */
  readonly digest: string | null;
}

const KEY = new TextEncoder().encode('log_position');

/** The position that was read last, cached because every answer of a node reports its position. */
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
  const [log, next, hash, timeUs, format, digest] = decodePlain(bytes) as [
    string,
    number,
    string,
    number,
    number,
    string | null,
  ];
  return { log, next, hash, timeUs, digest: format === FORMAT_VERSION ? digest : null };
}

/** To be called in a write transaction, like `removeLogPosition`. */
export function writeLogPosition({ meta }: Databases, { log, next, hash, timeUs, digest }: LogPosition): void {
  meta.put(KEY, encodePlain([log, next, hash, timeUs, FORMAT_VERSION, digest]));
}

export function removeLogPosition({ meta }: Databases): void {
  meta.remove(KEY);
}
