/** Writing the cursors of paged operations (docs/contract.md, Cursors); `src/http/cursor.ts` reads them. */
import { hash } from 'node:crypto';
import type { AreaPlace } from '@nearsky/sky-index';
import { formatTime } from '../base/times.ts';
import type { DetailLevel, TimeField } from '../contract/enums.ts';
import type { RecentPosition } from '../store/recent.ts';

/** All cursors have this. */
export interface OfArchive {
  /** The archive that the cursor belongs to, named as by `Store.archive`; undefined where an older release wrote the cursor. */
  readonly archive: string | undefined;
}

/** The last object of the page before, and the query whose pages are walked. Times are microseconds since 1970. */
export interface ConeCursor extends RecentPosition, OfArchive {
  readonly asOfUs: number;
  readonly ra: number;
  readonly dec: number;
  readonly radiusArcsec: number;
  readonly detail: DetailLevel;
}

export interface RecentCursor extends RecentPosition, OfArchive {
  readonly startUs: number;
  readonly endUs: number;
  readonly timeField: TimeField;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
}

/** The area itself travels in the request: the cursor has its digest. */
export interface AreaCursor extends AreaPlace, OfArchive {
  /** Undefined where an older release wrote the cursor. */
  readonly timeField: TimeField | undefined;
  readonly asOfUs: number;
  readonly digest: string;
}

export interface ObjectsCursor extends RecentPosition, OfArchive {
  readonly timeField: TimeField;
  readonly asOfUs: number;
}

/** The values of `k`: which operation a cursor is for. */
export const CONE_CURSOR_KIND = 'cone_search';
export const RECENT_CURSOR_KIND = 'recent_crossmatches';
export const AREA_CURSOR_KIND = 'area';
export const OBJECTS_CURSOR_KIND = 'objects';

export function encodeConeCursor(cursor: ConeCursor): string {
  const { timeUs, diaObjectId, asOfUs, ra, dec, radiusArcsec, detail, archive } = cursor;
  return token(
    `{"k":"${CONE_CURSOR_KIND}","t":"${formatTime(timeUs)}","i":${diaObjectId},"a":"${formatTime(asOfUs)}",` +
      `"ra":${ra},"dec":${dec},"r":${radiusArcsec},"d":"${detail}","o":"${archive}"}`,
  );
}

export function encodeRecentCursor(cursor: RecentCursor): string {
  const { timeUs, diaObjectId, startUs, endUs, timeField, detail, asOfUs, archive } = cursor;
  return token(
    `{"k":"${RECENT_CURSOR_KIND}","t":"${formatTime(timeUs)}","i":${diaObjectId},"s":"${formatTime(startUs)}",` +
      `"e":"${formatTime(endUs)}","f":"${timeField}","d":"${detail}","a":"${formatTime(asOfUs)}","o":"${archive}"}`,
  );
}

export function encodeAreaCursor({ level, pixel, id, timeField, asOfUs, digest, archive }: AreaCursor): string {
  return token(
    `{"k":"${AREA_CURSOR_KIND}","l":${level},"p":${pixel},"i":${id},"f":"${timeField}","a":"${formatTime(asOfUs)}",` +
      `"n":"${digest}","o":"${archive}"}`,
  );
}

export function encodeObjectsCursor({ timeUs, diaObjectId, timeField, asOfUs, archive }: ObjectsCursor): string {
  return token(
    `{"k":"${OBJECTS_CURSOR_KIND}","t":"${formatTime(timeUs)}","i":${diaObjectId},"f":"${timeField}",` +
      `"a":"${formatTime(asOfUs)}","o":"${archive}"}`,
  );
}

/** base64url, without padding, of compact JSON; ids with all their digits. Its last member tells whether it was altered. */
function token(json: string): string {
  return Buffer.from(`${json.slice(0, -1)},"c":"${cursorCheck(json)}"}`, 'latin1').toString('base64url');
}

/** The member `c` of a cursor whose JSON is this without it. */
export function cursorCheck(json: string): string {
  return hash('sha256', json).slice(0, 8);
}
