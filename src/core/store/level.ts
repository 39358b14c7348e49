/**
 * The level of a log lets nodes of different releases share it. A release reads records up to its own level, `LEVEL`. A
 * log has a level too, given by its last `level` record, and new records are written in that level. Features of a
 * higher level are not written until a `level` record has raised the level of the log. `nearsky node upgrade` appends
 * one once every node can read the new level. A node that cannot read the new level stops before that record, and
 * continues there after its upgrade. Each record begins with the level in which it is written.
 *
 * An archive without a log has no level: it may hold anything that its release supports.
 */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';
import { StoreError } from './store_error.ts';

/** The highest level that this release reads. Every change to the format of records raises it. */
export const LEVEL = 1;

/** The level of a log that has no `level` record. */
export const FIRST_LEVEL = 1;

/** A log or an archive of a level that this nearsky cannot read. The message follows "because". */
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

/** @throws UnreadableLevel if `level` is above `readable`, the highest readable level */
export function requireReadable(level: number, readable: number): void {
  if (level > readable) throw new UnreadableLevel(level, readable);
}

export const storedLevel = new MetaValue<number>('level');

/** The level of the log that the archive follows. */
export const readLevel = (databases: Databases) => storedLevel.read(databases) ?? FIRST_LEVEL;

/** Call this in a write transaction. A level that is not higher changes nothing. */
export function raiseLevel(databases: Databases, level: number): void {
  if (level > readLevel(databases)) storedLevel.write(databases, level);
}
