/** Upgrades from older formats to the present one. All steps run in the single transaction of the upgrade. */
import { CountChanges } from './counts.ts';
import type { DatabaseName, Databases } from './databases.ts';
import { upgradeObject } from './format2.ts';
import { appendPositions } from './positions.ts';
import { listObjects, listRecent, raiseLatestIngest } from './recent.ts';
import { decodeKey, decodeObject, decodePlain, EMPTY_TABLE, encodeJournal, encodeKey } from './records.ts';
import { listMatches } from './source_index.ts';
import { DamagedValue } from './store_error.ts';
import type { Entry, Table } from './table.ts';
import type { StoredObject } from './types.ts';
import { listUnread } from './unread.ts';

const UPGRADED_AT_ONCE = 10_000;

/** Upgrades from format 1 or 2. */
export function upgradeTo3(databases: Databases, format: number): void {
  layOutObjects(databases);
  if (format < 2) listAllRecent(databases);
  tabulatePositions(databases);
}

/** Yields the entries of a table in portions. The caller may replace entries between two portions. */
function* entriesOf(table: Table): Iterable<Entry> {
  let range = {};
  for (;;) {
    const some = [...table.getRange({ ...range, limit: UPGRADED_AT_ONCE })];
    yield* some;
    const last = some.at(-1);
    if (!last) return;
    range = { start: last.key, exclusiveStart: true };
  }
}

/** Up to format 2, objects were stored in another form. */
function layOutObjects({ objects }: Databases): void {
  for (const { key, value } of entriesOf(objects)) objects.put(key, upgradeObject(value));
}

/** Format 1 had no listing of the objects with matches by time, and no latest ingest time. */
function listAllRecent(databases: Databases): void {
  for (const { key, value } of databases.objects.getRange()) {
    const object = decodeObject(decodeKey(key), value);
    raiseLatestIngest(databases, object.ingestTimeUs);
    if (object.matches.length > 0) listRecent(databases, object);
  }
}

/** Up to format 2 the journal listed the ids that a commit stored; now it counts the rows of the position table. */
function tabulatePositions(databases: Databases): void {
  let table = EMPTY_TABLE;
  for (const { key, value } of entriesOf(databases.journal)) {
    const [stored, delivered, crossmatched] = decodePlain(value) as [bigint[], bigint[], bigint[]];
    const points = stored.map(id => decodeObject(id, databases.objects.get(encodeKey(id))!));
    table = appendPositions(databases, table, points);
    databases.journal.put(key, encodeJournal({ table, delivered, crossmatched }));
  }
}

/**
 * Up to format 3, values had no checksums and no counters were kept.
 * @param before the tables without checksums
 * @param after the same tables with checksums
 * @param isSealedMeta which values of `meta` have one
 */
export function upgradeTo4(before: Databases, after: Databases, isSealedMeta: (key: Uint8Array) => boolean): void {
  const counts = new CountChanges();
  for (const name of Object.keys(after) as DatabaseName[]) {
    if (!after[name].isSealed) continue;
    for (const { key, value } of entriesOf(before[name])) {
      if (name === 'meta' && !isSealedMeta(key)) continue;
      if (name === 'objects') {
        counts.added(decodeKey(key), value);
        listUnread(after, decodeObject(decodeKey(key), value));
      }
      after[name].put(key, value);
    }
  }
  counts.store(after);
}

/** Up to format 4, there was no index of the matches by source. */
export function upgradeTo5(databases: Databases): void {
  for (const { key, value } of entriesOf(databases.objects)) listMatches(databases, decodeKey(key), value);
}

/** Up to format 6, only the objects with matches were listed by time. */
export function upgradeTo7(databases: Databases): void {
  let objects: StoredObject[] = [];
  for (const { key, value } of entriesOf(databases.objects)) {
    if (objects.push(decodeObject(decodeKey(key), value)) < UPGRADED_AT_ONCE) continue;
    listObjects(databases, objects);
    objects = [];
  }
  listObjects(databases, objects);
}

/**
 * Up to format 8, the records of pending objects were in `objects`, too, and `pending` had only their ids.
 * @param before the tables without checksums: `pending` had none
 * @throws DamagedValue
 */
export function upgradeTo9(before: Databases, { objects, pending }: Databases): void {
  for (const { key } of entriesOf(before.pending)) {
    const record = objects.get(key);
    if (!record) throw new DamagedValue(`object ${decodeKey(key)}, which is pending`);
    pending.put(key, record);
    objects.remove(key);
  }
}
