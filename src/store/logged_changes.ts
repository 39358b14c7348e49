/** Changes from a log, which several archives are made from. */
import { createHash } from 'node:crypto';
import { apply } from './apply.ts';
import { decodeChange } from './change_record.ts';
import type { Change } from './changes.ts';
import type { Databases } from './databases.ts';
import { readLogPosition, writeLogPosition } from './log_position.ts';
import { readLatestIngest } from './recent.ts';
import { RefusedChange, StoreError } from './store_error.ts';

/** A change that is at its position in a log. */
export interface LoggedChange {
  readonly position: number;
  readonly record: Uint8Array;
  readonly change: Change;
}

/** @throws StoreError when the bytes are no record, or are one that this nearsky does not know */
export function loggedChange(position: number, record: Uint8Array): LoggedChange {
  return { position, record, change: decodeChange(record) };
}

/** SHA-256, 64 hexadecimal digits. */
export function recordHash(record: Uint8Array): string {
  return createHash('sha256').update(record).digest('hex');
}

/**
 * Applies changes of a log, in their order, in the open transaction, and notes how far the archive has come. Time
 * neither stands still nor goes back from one record to the next, whatever the clocks of their writers: a record that
 * is not later than the one before gets the microsecond after that.
 * @returns the outcome of each: the result of `apply`, or a RefusedChange where the change no longer fits
 * @throws StoreError when the first one is not the next of the log
 */
export function applyLogged(databases: Databases, log: string, changes: readonly LoggedChange[]): unknown[] {
  const before = readLogPosition(databases);
  const [first, next] = [changes[0]?.position ?? 0, before?.next ?? 0];
  if (changes.length > 0 && first !== next) {
    throw new StoreError(
      `Cannot apply the log from record ${first} because the next one is ${next}: let one process apply it`,
    );
  }
  let timeUs = before?.timeUs ?? readLatestIngest(databases) ?? 0;
  const outcomes = changes.map(({ change }) => {
    timeUs = Math.max(change.timeUs, timeUs + 1);
    return outcomeOf(databases, { ...change, timeUs });
  });
  const last = changes.at(-1);
  if (last) writeLogPosition(databases, { log, next: last.position + 1, hash: recordHash(last.record), timeUs });
  return outcomes;
}

function outcomeOf(databases: Databases, change: Change): unknown {
  try {
    return apply(databases, change);
  } catch (error) {
    if (error instanceof RefusedChange) return error;
    throw error;
  }
}
