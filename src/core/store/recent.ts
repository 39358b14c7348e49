/** The listings by time: of every object, and of the objects with at least one match. */
import type { TimeField } from '../contract/enums.ts';
import { MAX_OBJECT_ID } from '../contract/limits.ts';
import type { DatabaseName, Databases } from './databases.ts';
import { ObjectView } from './object_record.ts';
import { readRecord } from './object_tables.ts';
import {
  decodeRisingKey,
  decodeTimeKey,
  decodeTimeValue,
  encodeRisingKey,
  encodeTimeKey,
  encodeTimeValue,
} from './records.ts';
import { DamagedValue } from './store_error.ts';
import type { StoredObject } from './types.ts';

/** A position in the listing, just after this object. */
export interface RecentPosition {
  readonly timeUs: number;
  readonly diaObjectId: bigint;
}

/** Times are integer microseconds since 1970. */
export interface RecentQuery {
  readonly of: ListedObjects;
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  /**
   * Objects ingested after this time are omitted. The listing of all objects by event time does not store ingest times,
   * so it omits none.
   */
  readonly asOfUs: number;
  /** At least 1. */
  readonly limit: number;
  /** The entries of the first read, at least 1; by default as many as the limit. */
  readonly first?: number;
  readonly after?: RecentPosition | undefined;
}

/**
 * `matched` are the objects with at least one match of any version, in any state, because answers from earlier states
 * also read the listing. Whoever lists objects leaves out those without a current match.
 */
type ListedObjects = 'all' | 'matched';

/** The table of a listing, and its keys. */
interface Listing {
  readonly names: Readonly<Record<TimeField, DatabaseName>>;
  readonly encode: (timeUs: number, id: bigint) => Uint8Array;
  readonly decode: (key: Uint8Array) => RecentPosition;
  /** Whether descending keys give the order of the listing. */
  readonly reverse: boolean;
}

const LISTINGS: Readonly<Record<ListedObjects, Listing>> = {
  all: {
    names: { ingest_time: 'objects_by_ingest', event_time: 'objects_by_event' },
    encode: encodeRisingKey,
    decode: decodeRisingKey,
    reverse: true,
  },
  matched: {
    names: { ingest_time: 'recent_ingest', event_time: 'recent_event' },
    encode: encodeTimeKey,
    decode: decodeTimeKey,
    reverse: false,
  },
};

/** The number of entries per read. */
const PIECE_ENTRIES = 256;

/**
 * Lists an object that has matches, in any state. The times of an object never change, so listing it again has no
 * effect. Call this in the transaction that stores its first match.
 */
export function listRecent(databases: Databases, { diaObjectId, ingestTimeUs, eventTimeUs }: Timed): void {
  const value = encodeTimeValue(ingestTimeUs);
  databases.recent_ingest.put(encodeTimeKey(ingestTimeUs, diaObjectId), value);
  databases.recent_event.put(encodeTimeKey(eventTimeUs, diaObjectId), value);
}

type Timed = Pick<StoredObject, 'diaObjectId' | 'ingestTimeUs' | 'eventTimeUs'>;

const NOTHING = new Uint8Array(0);

/**
 * Lists new objects. Call this in the transaction that stores them. Keys are written in their order, most of them at
 * the end of the table. So its pages are full, and writing takes half of the time.
 */
export function listObjects(databases: Databases, objects: readonly Timed[]): void {
  const byId = objects.toSorted((a, b) => (a.diaObjectId < b.diaObjectId ? 1 : -1));
  const byIngest = byId.toSorted((a, b) => a.ingestTimeUs - b.ingestTimeUs);
  const byEvent = byId.toSorted((a, b) => a.eventTimeUs - b.eventTimeUs);
  for (const { ingestTimeUs, diaObjectId } of byIngest)
    databases.objects_by_ingest.put(encodeRisingKey(ingestTimeUs, diaObjectId), NOTHING);
  for (const { eventTimeUs, diaObjectId } of byEvent)
    databases.objects_by_event.put(encodeRisingKey(eventTimeUs, diaObjectId), NOTHING);
}

/** A part of the objects by ingest time. */
export interface Oldest {
  /** Inclusive, µs since 1970; by default the first. Imported times may be before 1970. */
  readonly startUs?: number;
  /** Exclusive. */
  readonly endUs: number;
  /** The maximum number of entries; all by default. */
  readonly limit?: number;
}

/** Ids by ascending ingest time. */
export function oldestIds(
  { objects_by_ingest }: Databases,
  { startUs = Number.MIN_SAFE_INTEGER, endUs, ...limit }: Oldest,
): bigint[] {
  // Of equal times, the highest id comes first.
  const firstAt = (timeUs: number) => encodeRisingKey(timeUs, MAX_OBJECT_ID);
  const range = { start: firstAt(startUs), end: firstAt(endUs), ...limit };
  return [...objects_by_ingest.getKeys(range)].map(key => decodeRisingKey(key).diaObjectId);
}

/** Removes objects from all listings. Call this in the transaction that removes them. */
export function unlistObjects(databases: Databases, objects: readonly Timed[]): void {
  for (const { ingestTimeUs, eventTimeUs, diaObjectId } of objects) {
    databases.objects_by_ingest.remove(encodeRisingKey(ingestTimeUs, diaObjectId));
    databases.objects_by_event.remove(encodeRisingKey(eventTimeUs, diaObjectId));
    databases.recent_ingest.remove(encodeTimeKey(ingestTimeUs, diaObjectId));
    databases.recent_event.remove(encodeTimeKey(eventTimeUs, diaObjectId));
  }
  const latestUs = latestListedIngest(databases);
  if (latestUs !== undefined) databases.meta.put(LATEST_INGEST_KEY, encodeTimeValue(latestUs));
  else databases.meta.remove(LATEST_INGEST_KEY);
}

const LATEST_INGEST_KEY = new TextEncoder().encode('latest_ingest');

/** The latest ingest time of any object; null when there is none. */
export function readLatestIngest({ meta }: Databases): number | null {
  const bytes = meta.getFast(LATEST_INGEST_KEY);
  return bytes ? decodeTimeValue(bytes) : null;
}

/** Call this in the transaction that stores new objects, with the latest of their ingest times. */
export function raiseLatestIngest(databases: Databases, ingestTimeUs: number): void {
  if (ingestTimeUs <= (readLatestIngest(databases) ?? Number.NEGATIVE_INFINITY)) return;
  databases.meta.put(LATEST_INGEST_KEY, encodeTimeValue(ingestTimeUs));
}

const LATEST = { of: 'all', timeField: 'ingest_time', startUs: 0, endUs: Number.MAX_SAFE_INTEGER, limit: 1 } as const;

/** The latest ingest time, up to `asOfUs`, in the listing; undefined when there is none. */
export function latestListedIngest(databases: Databases, asOfUs = Number.MAX_SAFE_INTEGER): number | undefined {
  return findRecent(databases, { ...LATEST, asOfUs })[0]?.timeUs;
}

/** At most `limit` objects of the window, the newest first; objects with equal times by ascending id. */
export function findRecent(databases: Databases, query: RecentQuery): RecentPosition[] {
  return [...recentInPieces(databases, query)].flat();
}

/**
 * The same in pieces, one read per piece: other work may run between two pieces. A piece is empty if all entries of its
 * read were ingested too late.
 */
export function* recentInPieces(databases: Databases, query: RecentQuery): Iterable<RecentPosition[]> {
  const { of, timeField, startUs, endUs, asOfUs, limit, first = limit, after } = query;
  const { names, encode, decode, reverse } = LISTINGS[of];
  const newestUs = timeField === 'ingest_time' ? Math.min(endUs - 1, asOfUs) : endUs - 1;
  if (newestUs < startUs) return;
  const table = databases[names[timeField]];
  const keyAfter = ({ timeUs, diaObjectId }: RecentPosition) => encode(timeUs, diaObjectId + 1n);
  const end = encode(startUs - 1, 0n);
  let start = after && after.timeUs <= newestUs ? keyAfter(after) : encode(newestUs, 0n);
  // The value has no checksum, so no object is left out because of it alone.
  const isLate = (value: Uint8Array, id: bigint) =>
    of === 'matched' && decodeTimeValue(value) > asOfUs && ingestTimeOf(databases, id) > asOfUs;
  let left = limit;
  // One read is enough for a short page, unless entries are left out.
  for (let entries = Math.min(first, limit, PIECE_ENTRIES); ; entries = PIECE_ENTRIES) {
    const piece: RecentPosition[] = [];
    let read = 0;
    let last: RecentPosition | undefined;
    for (const { key, value } of table.getRange({ start, end, limit: entries, reverse })) {
      read++;
      last = decode(key);
      if (isLate(value, last.diaObjectId)) continue;
      if (piece.push(last) === left) break;
    }
    yield piece;
    left -= piece.length;
    if (!last || left === 0 || read < entries) return;
    start = keyAfter(last);
  }
}

const view = new ObjectView();

/** @throws DamagedValue */
function ingestTimeOf(databases: Databases, diaObjectId: bigint): number {
  const bytes = readRecord(databases, diaObjectId);
  if (!bytes) throw new DamagedValue(`object ${diaObjectId}, which is listed`);
  view.load(diaObjectId, bytes);
  return view.ingestTimeUs;
}
