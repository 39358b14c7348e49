/** Reading the cursors of paged operations (docs/contract.md, Cursors); `src/answers/cursor.ts` writes them. */
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import {
  AREA_CURSOR_KIND,
  type AreaCursor,
  CONE_CURSOR_KIND,
  type ConeCursor,
  cursorCheck,
  OBJECTS_CURSOR_KIND,
  type ObjectsCursor,
  RECENT_CURSOR_KIND,
  type RecentCursor,
} from '../answers/cursor.ts';
import { integersAsBigint } from '../base/exact_integers.ts';
import { parseTime } from '../base/parse_time.ts';
import { integer, type Kind, number } from '../contract/kind.ts';
import { MAX_CURSOR_CHARACTERS, MAX_OBJECT_ID } from '../contract/limits.ts';
import { ApiError } from './errors.ts';
import { DECLINATION, DETAIL, RIGHT_ASCENSION, TIME_FIELD } from './params.ts';

/** `asOfUs` is undefined in a cursor that an older release wrote. */
export type PinnedWindow = Omit<RecentCursor, 'asOfUs'> & { readonly asOfUs: number | undefined };

/**
 * @param radiusArcsec the kind of its radius
 * @throws ApiError naming `cursor`
 */
export function decodeConeCursor(token: string, radiusArcsec: Kind<number>): ConeCursor {
  const fields = decodeFields(token);
  if (fields.k !== CONE_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    timeUs: time(fields.t),
    diaObjectId: id(fields.i),
    asOfUs: time(fields.a),
    ra: as(RIGHT_ASCENSION, fields.ra),
    dec: as(DECLINATION, fields.dec),
    radiusArcsec: as(radiusArcsec, fields.r),
    detail: as(DETAIL, fields.d, 'name'),
    archive: archive(fields.o),
  };
}

/** A cursor that names no operation is of this one. @throws ApiError naming `cursor` */
export function decodeRecentCursor(token: string): PinnedWindow {
  const { k = RECENT_CURSOR_KIND, ...fields } = decodeFields(token);
  if (k !== RECENT_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    timeUs: time(fields.t),
    diaObjectId: id(fields.i),
    startUs: time(fields.s),
    endUs: time(fields.e),
    timeField: as(TIME_FIELD, fields.f, 'name'),
    detail: as(DETAIL, fields.d, 'name'),
    asOfUs: fields.a === undefined ? undefined : time(fields.a),
    archive: archive(fields.o),
  };
}

/** The pixels of the sky in the order of an area. */
const PIXEL = integer({ min: 0, max: 12 * 4 ** MAX_AREA_ORDER - 1 });
const SHARE = number({ min: 0, max: 1 });

/** @throws ApiError naming `cursor` */
export function decodeAreaCursor(token: string): AreaCursor {
  const fields = decodeFields(token);
  if (fields.k !== AREA_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    level: as(SHARE, fields.l),
    pixel: pixel(fields.p),
    id: id(fields.i),
    timeField: fields.f === undefined ? undefined : as(TIME_FIELD, fields.f, 'name'),
    asOfUs: time(fields.a),
    digest: text(fields.n),
    archive: archive(fields.o),
  };
}

/** @throws ApiError naming `cursor` */
export function decodeObjectsCursor(token: string): ObjectsCursor {
  const fields = decodeFields(token);
  if (fields.k !== OBJECTS_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    timeUs: time(fields.t),
    diaObjectId: id(fields.i),
    timeField: as(TIME_FIELD, fields.f, 'name'),
    asOfUs: time(fields.a),
    archive: archive(fields.o),
  };
}

/** The error of a cursor with an answer that is of all pages. */
export function withoutCursor(response: 'count' | 'table'): ApiError {
  const message = `Cannot answer with a ${response} after a cursor because it is of all pages: leave out cursor, or response`;
  return new ApiError('invalid_parameter', message, { param: 'cursor' });
}

export function invalidCursor(why: string): ApiError {
  return new ApiError(
    'invalid_parameter',
    `Cannot use the cursor because ${why}: give the next_cursor of a page, unchanged`,
    {
      param: 'cursor',
    },
  );
}

function decodeFields(token: string): Readonly<Record<string, unknown>> {
  if (token === '') throw invalidCursor('it is empty');
  if (token.length > MAX_CURSOR_CHARACTERS)
    throw invalidCursor(`it is longer than ${MAX_CURSOR_CHARACTERS} characters`);
  let json = '';
  let fields: unknown;
  try {
    const bytes = Buffer.from(token, 'base64url');
    // Decoding skips whatever is not base64url.
    if (bytes.toString('base64url') === token) json = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    fields = JSON.parse(json, integersAsBigint);
  } catch {
    fields = null;
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw invalidCursor('it is damaged');
  if ('c' in fields && fields.c !== cursorCheck(json.replace(/,"c":"[^"]*"\}$/, '}')))
    throw invalidCursor('it was altered');
  return fields as Readonly<Record<string, unknown>>;
}

/** The last microseconds of the year 9999 round up to this, which cannot be written. */
const YEAR_10000_US = 253_402_300_800e6;

function time(value: unknown): number {
  const timeUs = typeof value === 'string' ? parseTime(value) : undefined;
  if (timeUs === undefined || timeUs >= YEAR_10000_US) throw invalidCursor('a time in it is missing or damaged');
  return timeUs;
}

function id(value: unknown): bigint {
  if (typeof value !== 'bigint' || value < 0n || value > MAX_OBJECT_ID)
    throw invalidCursor('the id in it is missing or damaged');
  return value;
}

function as<T>(kind: Kind<T>, value: unknown, what = 'number'): T {
  const found = kind.parse(value);
  if (found === undefined) throw invalidCursor(`a ${what} in it is missing or damaged`);
  return found;
}

function pixel(value: unknown): number {
  return as(PIXEL, typeof value === 'bigint' ? value : undefined);
}

function archive(value: unknown): string | undefined {
  return value === undefined ? undefined : text(value);
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw invalidCursor('a name in it is missing or damaged');
  return value;
}
