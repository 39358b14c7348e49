/** How far an archive that is made from a log has come. */
import type { Databases } from './databases.ts';
import { FORMAT_VERSION } from './environment.ts';
import { decodePlain, encodePlain } from './records.ts';

export interface LogPosition {
  /** Names the log: no other one, and none that was made anew, has the same name. */
  readonly log: string;
  /** The position of the next record; every record before it is applied. */
  readonly next: number;
  /** The hash of the last record; see `recordHash`. */
  readonly hash: string;
  /** The time of the last record, as it was applied. */
  readonly timeUs: number;
  /**
   * The digest of all that the records have written: see `WriteDigest`. Null where it is not comparable with that of other
   * nodes, because the stored format was upgraded meanwhile.
   */
  readonly digest: string | null;
}

const KEY = new TextEncoder().encode('log_position');

/** The one that was read last: every answer of a node says its position. */
let last: { readonly bytes: Uint8Array; readonly position: LogPosition } | undefined;

/** Undefined where the archive is not made from a log. */
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

/** To be called in a write transaction, as is `removeLogPosition`. */
export function writeLogPosition({ meta }: Databases, { log, next, hash, timeUs, digest }: LogPosition): void {
  meta.put(KEY, encodePlain([log, next, hash, timeUs, FORMAT_VERSION, digest]));
}

export function removeLogPosition({ meta }: Databases): void {
  meta.remove(KEY);
}
