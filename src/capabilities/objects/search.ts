/** Finds the objects around a position or a registry name. */
import { ConeHits, separationArcsec } from '@nearsky/sky-index';
import { type InSteps, type Past, type QueryContext, StaleIndex } from '../../core/answers/context.ts';
import type { Circle } from '../../core/answers/queries.ts';
import { nowUs } from '../../core/base/times.ts';
import type { InputStatus } from '../../core/contract/enums.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import { type IndexedRow, removedRows } from '../../core/generations/removed_rows.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { findByName, readRegistryEpochUs } from '../../core/store/registry.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import type { TnsInput } from './queries.ts';

/** An object as stored in the index. */
export interface Row {
  /** The object's ingest time. */
  readonly timeUs: number;
  readonly id: bigint;
  readonly arena: number;
  readonly row: number;
}

const hits = new ConeHits();

/**
 * The objects within a circle, in no particular order.
 * @param asOfUs leaves out objects that were ingested later
 */
export function* rowsWithin(context: QueryContext, circle: Circle, asOfUs = Number.POSITIVE_INFINITY): InSteps<Row[]> {
  const { index, clock } = context;
  index.coneSearch(circle.ra, circle.dec, circle.radiusArcsec, hits);
  void clock.due;
  const rows: Row[] = [];
  for (let i = 0; i < hits.count; i++) {
    const arena = hits.arena[i]!;
    const row = hits.row[i]!;
    const columns = index.arenas[arena]!;
    const timeUs = columns.time(row);
    if (timeUs <= asOfUs) rows.push({ timeUs, id: columns.id(row), arena, row });
  }
  const isLeftOut = leftOut(context);
  if (!isLeftOut) return rows;
  const kept: Row[] = [];
  for (const row of rows) {
    if (clock.due) yield;
    if (!isLeftOut(row)) kept.push(row);
  }
  return kept;
}

/** A test whether a row of the index is not an object of the state that is read; undefined if all rows are. */
export function leftOut(context: QueryContext): Past['isLeftOut'] {
  return context.past ? context.past.isLeftOut : removedRows(context.store, context);
}

/** The order of the objects around a position: by ingest time, then by id. */
export function inOrder(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => a.timeUs - b.timeUs || (a.id < b.id ? -1 : 1));
}

/**
 * Reads the object of a row, in the state that is read; undefined if it was removed since the row was indexed.
 * @throws StaleIndex
 */
export function readRow(context: QueryContext, row: IndexedRow & Pick<Row, 'timeUs'>): ObjectView | undefined {
  const { store, stored, object, past } = context;
  const isStored = stored.readObject(row.id, object);
  if (!isStored || object.ingestTimeUs !== row.timeUs) {
    if (!past && removedRows(store, context)?.(row)) return undefined;
    throw new StaleIndex(
      `The index holds object ${row.id} of ${row.timeUs} µs and the database ${isStored ? 'another' : 'none'}`,
    );
  }
  return object;
}

export function separationOf({ index }: QueryContext, { ra, dec }: Circle, row: Row): number {
  const columns = index.arenas[row.arena]!;
  return separationArcsec(ra, dec, columns.ra(row.row), columns.dec(row.row));
}

/** The result of a position or a name. */
export interface Found {
  readonly status: InputStatus;
  /** The searched circle; undefined if there was no search. */
  readonly circle: Circle | undefined;
  /** All objects in the circle; undefined if there was no search. */
  readonly rows: readonly Row[] | undefined;
}

interface FoundByName extends Found {
  readonly record: TnsRecord | undefined;
  /** The epoch of the registry's snapshot if the snapshot is current; otherwise null. */
  readonly snapshotEpochUs: number | null;
}

export function* findCircle(context: QueryContext, circle: Circle): InSteps<Found> {
  const rows = yield* rowsWithin(context, circle);
  return { status: rows.length > 0 ? 'objects_found' : 'no_rubin_object', circle, rows };
}

const NO_SEARCH = { circle: undefined, rows: undefined, record: undefined };

/** Finds the objects of a name: those around its position in the current snapshot of the registry. */
export function* findName(context: QueryContext, { name, prefix, radiusArcsec }: TnsInput): InSteps<FoundByName> {
  const { store, fragments } = context;
  const snapshotEpochUs = readRegistryEpochUs(store.databases);
  if (!isSnapshotCurrent(snapshotEpochUs, nowUs(), fragments.tnsSnapshotMaxAgeSeconds))
    return { status: 'resolver_unavailable', ...NO_SEARCH, snapshotEpochUs: null };
  const record = findByName(store.databases, name, prefix);
  if (!record) return { status: 'tns_name_not_found', ...NO_SEARCH, snapshotEpochUs };
  const { ra, dec } = record;
  return { ...(yield* findCircle(context, { ra, dec, radiusArcsec })), record, snapshotEpochUs };
}
