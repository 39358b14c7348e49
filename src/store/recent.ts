/** The objects with at least one match, by time: what the recent-crossmatches listing walks. */
import type { TimeField } from '../contract/enums.ts';
import type { Databases } from './environment.ts';
import { decodeTimeKey, decodeTimeValue, encodeTimeKey, encodeTimeValue } from './records.ts';
import type { StoredObject } from './types.ts';

/** A place in the listing: that object and all before it have been seen. */
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
  /** Objects ingested after this are left out. */
  readonly asOfUs: number;
  /** At least 1. */
  readonly limit: number;
  readonly after?: RecentPosition | undefined;
  /** Called for each object that is passed over, of which there may be many; what it throws ends the search. */
  readonly onPassedOver?: () => void;
}

/**
 * Lists an object that has matches, whatever its state. Its times never change, so that listing it again changes nothing. To be called
 * in the transaction that stores its first match.
 */
export function listRecent(databases: Databases, object: StoredObject): void {
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

/** At most `limit` objects of the window, the newest first, of equal times the lowest id first. */
export function findRecent(databases: Databases, query: RecentQuery): RecentPosition[] {
  const { timeField, startUs, endUs, asOfUs, limit, after, onPassedOver } = query;
  const byIngest = timeField === 'ingest_time';
  const newestUs = byIngest ? Math.min(endUs - 1, asOfUs) : endUs - 1;
  if (newestUs < startUs) return [];
  const range = {
    start:
      after && after.timeUs <= newestUs
        ? encodeTimeKey(after.timeUs, after.diaObjectId + 1n)
        : encodeTimeKey(newestUs, 0n),
    end: encodeTimeKey(startUs - 1, 0n),
  };
  const found: RecentPosition[] = [];
  for (const { key, value } of databases[byIngest ? 'recent_ingest' : 'recent_event'].getRange(range)) {
    if (decodeTimeValue(value) > asOfUs) {
      onPassedOver?.();
      continue;
    }
    found.push(decodeTimeKey(key));
    if (found.length === limit) break;
  }
  return found;
}
