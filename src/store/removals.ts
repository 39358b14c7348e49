/**
 * Finds the objects that were removed. The journal entry of each removal names the entry of the one before, so that
 * the latest removals are found without reading the rest of the journal.
 */
import type { Databases } from './databases.ts';
import { decodeJournal, decodeKey, encodeKey } from './records.ts';
import { DamagedValue } from './table.ts';
import type { Removal } from './types.ts';

const KEY = new TextEncoder().encode('last_removal');

/** The journal entry of the last removal; 0 if there is none. */
export function readLastRemoval({ meta }: Databases, options?: object): number {
  // Many queries ask, and need no copy of the value.
  const bytes = options ? meta.get(KEY, options) : meta.getFast(KEY);
  return bytes ? Number(decodeKey(bytes.subarray(0, 8))) : 0;
}

/** To be called in the transaction that appends the entry. */
export function noteRemoval({ meta }: Databases, sequence: number): void {
  meta.put(KEY, encodeKey(BigInt(sequence)));
}

/** The last removal of an object. */
export interface LastRemoval {
  readonly sequence: number;
  /** The rows of the position table at that time. All rows of the object among them are void. */
  readonly rows: number;
}

export interface RemovalEntry extends Removal {
  readonly sequence: number;
  readonly rows: number;
}

/** The removals after a journal entry, the latest first. */
export function* removalsAfter(databases: Databases, sequence: number, options?: object): Iterable<RemovalEntry> {
  for (let at = readLastRemoval(databases, options); at > sequence; ) {
    const bytes = databases.journal.get(encodeKey(BigInt(at)), options);
    const { removal, table } = bytes ? decodeJournal(bytes) : {};
    if (!removal || !table || removal.previous >= at)
      throw new DamagedValue(`the removal of entry ${at} of the journal`);
    yield { ...removal, sequence: at, rows: table.rows };
    at = removal.previous;
  }
}

/** The last removal of each object that was removed after a journal entry. */
export function lastRemovals(
  databases: Databases,
  sequence: number,
  options?: object,
): ReadonlyMap<bigint, LastRemoval> {
  const found = new Map<bigint, LastRemoval>();
  for (const { sequence: at, rows, objects } of removalsAfter(databases, sequence, options))
    for (const { diaObjectId } of objects) if (!found.has(diaObjectId)) found.set(diaObjectId, { sequence: at, rows });
  return found;
}
