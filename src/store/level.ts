/**
 * The level of a log, by which nodes of different releases share it. A release reads records up to its own level,
 * `LEVEL`. A log has a level, too, that of its last `level` record, and is written in it: whatever a higher level has
 * brought is not written until a `level` record has raised the log's, which `nearsky node upgrade` does once every node
 * can read it. A node that cannot read the new level stops in front of that record, and goes on there when it is
 * upgraded. A record has the level in which it is written at its head.
 *
 * An archive without a log knows no level: it may hold whatever its release can.
 */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';
import { StoreError } from './store_error.ts';

/**
 * The highest level that this release reads. It is raised with any change of what records may be, and these are the
 * levels that there were:
 *
 * 1. Records.
 * 2. Matches may have a separation at the time of the event; `level` records.
 * 3. Catalogs may be removed, and may have text ids.
 */
export const LEVEL = 3;

/** The level of a log that has no `level` record. */
export const FIRST_LEVEL = 2;

/** A log or an archive of a level that this nearsky cannot read. The message is to follow "because". */
export class UnreadableLevel extends StoreError {
  override name = 'UnreadableLevel';
  readonly level: number;

  constructor(level: number, readable: number) {
    super(
      `the level of the log is ${level} and this nearsky reads levels up to ${readable}: install a newer nearsky on this node`,
    );
    this.level = level;
  }
}

/** @throws UnreadableLevel where `level` is above `readable`, the highest that can be read */
export function requireReadable(level: number, readable: number): void {
  if (level > readable) throw new UnreadableLevel(level, readable);
}

const KEY = new TextEncoder().encode('level');

/** The level of the log that the archive is made from. */
export function readLevel({ meta }: Databases): number {
  const bytes = meta.get(KEY);
  return bytes ? (decodePlain(bytes) as number) : FIRST_LEVEL;
}

/** To be called in a write transaction, as is `removeLevel`. A level that is not higher changes nothing. */
export function raiseLevel(databases: Databases, level: number): void {
  if (level > readLevel(databases)) databases.meta.put(KEY, encodePlain(level));
}

export function removeLevel({ meta }: Databases): void {
  meta.remove(KEY);
}
