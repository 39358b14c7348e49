/**
 * The log that several nodes share: records in one order, each at its position. Nodes apply them, so all get the same
 * archive.
 */

import { readDamage } from '../store/claims.ts';
import type { Store } from '../store/store.ts';
import { DamagedValue, StoreError } from '../store/store_error.ts';
import type { Election } from '../store/writer.ts';

export interface LogEntry {
  readonly position: number;
  /** The id by which its submitter recognises the record. The same record may be in the log twice. */
  readonly id: string;
  readonly record: Uint8Array;
}

/** Entries, and the extent of the log when they were read. */
export interface LogRead {
  /** Start at the requested position, without gaps; empty if there are none yet. */
  readonly entries: readonly LogEntry[];
  /** The position of the oldest record that is kept, or `end`. */
  readonly first: number;
  /** The position after the last record. */
  readonly end: number;
}

/** Any call may reject; it may then be repeated. */
export interface RecordLog {
  /** The name of the log; no other log, and no recreated log, has the same one. */
  identity(): Promise<string>;
  /**
   * Resolves when the record is durable. If the call rejects, it is unknown whether the record was appended.
   * @param timeUs the time of the record
   * @throws ClockAhead if that time is too far ahead of the log's servers: the record was then not appended
   */
  append(id: string, record: Uint8Array, timeUs: number): Promise<void>;
  /**
   * Reads the next entries from a position on, after a short wait if there are none yet. Empty if that position is no
   * longer kept, or beyond the end.
   * @throws LostPlace if the log is no longer the one that was read before
   */
  read(from: number): Promise<LogRead>;
  /** Becomes a candidate for a duty among the nodes of the log. */
  elect(duty: string): Election;
}

/**
 * A node's archive does not match the log, or may not match it. The node stops, because continuing would be a guess.
 * The message gives the remedy.
 */
export class LostPlace extends StoreError {
  override name = 'LostPlace';
}

export const CURE =
  'start this node from a backup of another one (nearsky backup). If all nodes have stopped, `nearsky node status` prints which one holds most: end its service, run `nearsky node leave` and `nearsky node begin` there with an empty topic, and start the others from a backup of it';

/** @param why a clause to follow "because" */
export function lostPlace(why: string, options?: ErrorOptions): LostPlace {
  return new LostPlace(`Cannot follow the log because ${why}: ${CURE}`, options);
}

export const changedOnDisk = (damage: DamagedValue) =>
  lostPlace(`${damage.what} has changed on the disk since it was stored`, { cause: damage });

/** @throws LostPlace if a process of this node has found the stored data damaged */
export function requireUndamaged(store: Store): void {
  const what = readDamage(store.databases);
  if (what !== undefined) throw changedOnDisk(new DamagedValue(what));
}
