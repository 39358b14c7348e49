/**
 * The records of the objects, in two tables with the same keys and values: `pending` has the pending objects, `objects`
 * all others.
 *
 * Objects arrive in any order of their ids. In one large table, each would change a page of its own. `pending` stays
 * small while objects are crossmatched soon after they arrive, so many objects of a commit share a page. The crossmatch
 * stores their records anew in any case, ordered by id.
 */
import type { Databases } from './databases.ts';
import { isPendingRecord } from './object_record.ts';
import { encodeKey, scratchKey } from './records.ts';
import type { Entry, Range } from './table.ts';

/** The record of an object, in a buffer that the next read overwrites; undefined if the object is not stored. */
export function readRecord({ objects, pending }: Databases, diaObjectId: bigint): Uint8Array | undefined {
  return objects.getFast(scratchKey(diaObjectId)) ?? pending.getFast(scratchKey(diaObjectId));
}

/** Like `readRecord`, but returns a copy. */
export function copyRecord({ objects, pending }: Databases, key: Uint8Array, options?: object): Uint8Array | undefined {
  return objects.get(key, options) ?? pending.get(key, options);
}

export function isStored({ objects, pending }: Databases, diaObjectId: bigint): boolean {
  const key = encodeKey(diaObjectId);
  return objects.doesExist(key) || pending.doesExist(key);
}

/** Stores a record. If the object was pending and no longer is, the caller removes it from `pending`. */
export function putRecord({ objects, pending }: Databases, key: Uint8Array, record: Uint8Array): void {
  (isPendingRecord(record) ? pending : objects).put(key, record);
}

/**
 * The records of a range by ascending id, all from one snapshot. The entry after the next one overwrites an entry's key
 * and value.
 */
export function* records({ objects, pending }: Databases, range: Omit<Range, 'limit'> = {}): Iterable<Entry> {
  const waiting = pending.stream(range)[Symbol.iterator]();
  try {
    let next = waiting.next();
    for (const entry of objects.stream(range)) {
      for (; !next.done && Buffer.compare(next.value.key, entry.key) < 0; next = waiting.next()) yield next.value;
      yield entry;
    }
    for (; !next.done; next = waiting.next()) yield next.value;
  } finally {
    waiting.return?.();
  }
}

/** The number of pending objects, counted without reading them. */
export const countPending = ({ pending }: Databases) => pending.entryCount();

/** The number of all stored objects, counted without reading them. */
export const countRecords = ({ objects, pending }: Databases) => objects.entryCount() + pending.entryCount();
