/**
 * The log that several nodes share: records in one order, each at its position, which the nodes apply to make the same
 * archive each.
 */
import { StoreError } from '../store/store_error.ts';

export interface LogEntry {
  readonly position: number;
  /** Whoever appended the record knows it by this text; the same record may be in the log twice. */
  readonly id: string;
  readonly record: Uint8Array;
}

/** Entries, and the extent of the log when they were read. */
export interface LogRead {
  /** From the position that was asked for, without gaps; empty where there are none yet. */
  readonly entries: readonly LogEntry[];
  /** The position of the oldest record that is kept, or `end`. */
  readonly first: number;
  /** The position after the last record. */
  readonly end: number;
}

/** Any call may reject, and may then be repeated. */
export interface Log {
  /** Names the log: no other one, and none that was made anew, has the same name. */
  identity(): Promise<string>;
  /** Resolves when the record is durable. Whether it was appended is unknown where the call rejects. */
  append(id: string, record: Uint8Array): Promise<void>;
  /**
   * The entries from a position on, as many as come at once, after a short wait where there are none yet. None where
   * that position is no longer kept, or beyond the end.
   * @throws LostPlace when the log no longer is the one that was read before
   */
  read(from: number): Promise<LogRead>;
}

/**
 * A node's archive is not, or not known to be, what the log makes: the node stops, because going on could only be a
 * guess. The message names the cure.
 */
export class LostPlace extends StoreError {
  override name = 'LostPlace';
}

const CURE = 'start this node from a backup of another one (nearsky backup)';

/** @param why to follow "because" */
export function lostPlace(why: string): LostPlace {
  return new LostPlace(`Cannot follow the log because ${why}: ${CURE}`);
}
