/** Applies changes from a log that several archives follow. */
import { createHash } from 'node:crypto';
import { apply } from './apply.ts';
import { decodeChange } from './change_record.ts';
import type { Change } from './changes.ts';
import { passOutcome } from './claims.ts';
import type { Databases } from './databases.ts';
import { readLogPosition, writeLogPosition } from './log_position.ts';
import { readLatestIngest } from './recent.ts';
import { RefusedChange, StoreError } from './store_error.ts';

/** A change that is at its position in a log. */
export interface LoggedChange {
  readonly position: number;
  /** The id by which its submitter recognises it. */
  readonly id: string;
  readonly record: Uint8Array;
  readonly change: Change;
}

/** @throws StoreError like `decodeChange` */
export function loggedChange(
  { position, id, record }: Omit<LoggedChange, 'change'>,
  readableLevel?: number,
): LoggedChange {
  return { position, id, record, change: decodeChange(record, readableLevel) };
}

/** SHA-256, 64 hexadecimal digits. */
export function recordHash(record: Uint8Array): string {
  return createHash('sha256').update(record).digest('hex');
}

/**
 * Applies changes of a log, in order, in the open transaction, and stores the new position of the archive. It skips
 * changes that another process has applied meanwhile. Time always increases from record to record, whatever the clocks
 * of the writers: a record that is not later than the one before gets the next microsecond.
 * @returns the outcome of each change that was not skipped: the result of `apply`, or a RefusedChange if the change no
 * longer fits
 * @throws StoreError if the changes do not continue at the position of the archive
 */
export function applyLogged(databases: Databases, log: string, changes: readonly LoggedChange[]): unknown[] {
  const before = readLogPosition(databases);
  const next = before?.next ?? 0;
  const fresh = changes.filter(({ position }) => position >= next);
  const last = changes.find(({ position }) => position === next - 1);
  const isOther = before && (before.log !== log || (last && recordHash(last.record) !== before.hash));
  if (isOther || (fresh[0] && fresh[0].position !== next)) {
    throw new StoreError(`Cannot apply the log from record ${changes[0]!.position} because the next one is ${next}`);
  }
  let timeUs = before?.timeUs ?? readLatestIngest(databases) ?? 0;
  const outcomes = fresh.map(({ id, change }) => {
    timeUs = Math.max(change.timeUs, timeUs + 1);
    const outcome = outcomeOf(databases, { ...change, timeUs });
    passOutcome(databases, id, outcome);
    return outcome;
  });
  const end = fresh.at(-1);
  if (end) {
    const [next, hash] = [end.position + 1, recordHash(end.record)];
    writeLogPosition(databases, { log, next, hash, timeUs });
  }
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
