/** The objects with at least one match, by time, for the listing of recent crossmatches. */
import type { TimeField } from '../contract/enums.ts';
import type { Databases } from './databases.ts';
import { decodeTimeKey, decodeTimeValue, encodeTimeKey, encodeTimeValue } from './records.ts';
import type { StoredObject } from './types.ts';

/** A position in the listing: after this object. */
export interface RecentPosition {
  readonly timeUs: number;
  readonly diaObjectId: bigint;
}

/** Times are integer microseconds since 1970. */
export interface RecentQuery {
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  /** Objects ingested after this time are omitted. */
  readonly asOfUs: number;
  /** At least 1. */
  readonly limit: number;
  readonly after?: RecentPosition | undefined;
}

/** The number of entries per read. */
const PIECE_ENTRIES = 256;

/**
 * Lists an object that has matches, in any state. The times of an object never change, so listing it again has no
 * effect. To be called in the transaction that stores its first match.
 */
export function listRecent(
  databases: Databases,
  object: Pick<StoredObject, 'diaObjectId' | 'ingestTimeUs' | 'eventTimeUs'>,
): void {
  const { diaObjectId, ingestTimeUs, eventTimeUs } = object;
  const value = encodeTimeValue(ingestTimeUs);
  databases.recent_ingest.put(encodeTimeKey(ingestTimeUs, diaObjectId), value);
  databases.recent_event.put(encodeTimeKey(eventTimeUs, diaObjectId), value);
}

const LATEST_INGEST_KEY = new TextEncoder().encode('latest_ingest');

/** The latest ingest time of any object; null when there is none. */
export function readLatestIngest({ meta }: Databases): number | null {
  const bytes = meta.get(LATEST_INGEST_KEY);
  return bytes ? decodeTimeValue(bytes) : null;
}

/** To be called in the transaction that stores new objects, with the latest of their ingest times. */
export function raiseLatestIngest(databases: Databases, ingestTimeUs: number): void {
  if (ingestTimeUs <= (readLatestIngest(databases) ?? Number.NEGATIVE_INFINITY)) return;
  databases.meta.put(LATEST_INGEST_KEY, encodeTimeValue(ingestTimeUs));
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
  const { timeField, startUs, endUs, asOfUs, limit, after } = query;
  const byIngest = timeField === 'ingest_time';
  const newestUs = byIngest ? Math.min(endUs - 1, asOfUs) : endUs - 1;
  if (newestUs < startUs) return;
  const table = databases[byIngest ? 'recent_ingest' : 'recent_event'];
  const end = encodeTimeKey(startUs - 1, 0n);
  let start = after && after.timeUs <= newestUs ? keyAfter(after) : encodeTimeKey(newestUs, 0n);
  let left = limit;
  // One read is enough for a short page, unless entries are left out.
  for (let entries = Math.min(limit, PIECE_ENTRIES); ; entries = PIECE_ENTRIES) {
    const piece: RecentPosition[] = [];
    let read = 0;
    let last: RecentPosition | undefined;
    for (const { key, value } of table.getRange({ start, end, limit: entries })) {
      read++;
      last = decodeTimeKey(key);
      if (decodeTimeValue(value) <= asOfUs && piece.push(last) === left) break;
    }
    yield piece;
    left -= piece.length;
    if (!last || left === 0 || read < entries) return;
    start = keyAfter(last);
  }
}

function keyAfter({ timeUs, diaObjectId }: RecentPosition): Uint8Array {
  return encodeTimeKey(timeUs, diaObjectId + 1n);
}
