/** Reading the cursors of paged operations (docs/contract.md, Cursors); `src/answers/cursor.ts` writes them. */
import { MAX_AREA_ORDER } from '../../index/mod.ts';
import {
  AREA_CURSOR_KIND,
  type AreaCursor,
  CONE_CURSOR_KIND,
  type ConeCursor,
  OBJECTS_CURSOR_KIND,
  type ObjectsCursor,
  RECENT_CURSOR_KIND,
  type RecentCursor,
} from '../answers/cursor.ts';
import { integersAsBigint } from '../base/exact_integers.ts';
import { parseTime } from '../base/parse_time.ts';
import { MAX_CURSOR_CHARACTERS, MAX_OBJECT_ID } from '../contract/limits.ts';
import { ApiError } from './errors.ts';

/** A cone's cursor whose values are of the right types, but may be out of range: nobody but us should make one, yet anybody can. */
export type PinnedCone = Omit<ConeCursor, 'detail'> & { readonly detail: string };

/** Likewise; `asOfUs` is undefined in a cursor that an older release wrote. */
export type PinnedWindow = Omit<RecentCursor, 'timeField' | 'detail' | 'asOfUs'> & {
  readonly timeField: string;
  readonly detail: string;
  readonly asOfUs: number | undefined;
};

/** @throws ApiError naming `cursor` */
export function decodeConeCursor(token: string): PinnedCone {
  const fields = decodeFields(token);
  if (fields.k !== CONE_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    timeUs: time(fields.t),
    diaObjectId: id(fields.i),
    asOfUs: time(fields.a),
    ra: number(fields.ra),
    dec: number(fields.dec),
    radiusArcsec: number(fields.r),
    detail: text(fields.d),
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
    timeField: text(fields.f),
    detail: text(fields.d),
    asOfUs: fields.a === undefined ? undefined : time(fields.a),
    archive: archive(fields.o),
  };
}

/** The pixels of the sky in the order of an area. */
const AREA_PIXELS = 12 * 4 ** MAX_AREA_ORDER;

/** @throws ApiError naming `cursor` */
export function decodeAreaCursor(token: string): AreaCursor {
  const fields = decodeFields(token);
  if (fields.k !== AREA_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    level: number(fields.l, 1),
    pixel: wholeNumber(fields.p, AREA_PIXELS - 1),
    id: id(fields.i),
    asOfUs: time(fields.a),
    digest: text(fields.n),
    archive: archive(fields.o),
  };
}

/** `timeField` may be of no field that there is. @throws ApiError naming `cursor` */
export function decodeObjectsCursor(token: string): Omit<ObjectsCursor, 'timeField'> & { readonly timeField: string } {
  const fields = decodeFields(token);
  if (fields.k !== OBJECTS_CURSOR_KIND) throw invalidCursor('it is of another operation');
  return {
    timeUs: time(fields.t),
    diaObjectId: id(fields.i),
    timeField: text(fields.f),
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
  let fields: unknown;
  try {
    const bytes = Buffer.from(token, 'base64url');
    // Decoding skips whatever is not base64url.
    fields =
      bytes.toString('base64url') === token
        ? JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), integersAsBigint)
        : null;
  } catch {
    fields = null;
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw invalidCursor('it is damaged');
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

/** A number of 0 or more, where there is a maximum. */
function number(value: unknown, max?: number): number {
  const found = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  if (found === undefined || (max !== undefined && !(found >= 0 && found <= max)))
    throw invalidCursor('a number in it is missing or damaged');
  return found;
}

function wholeNumber(value: unknown, max: number): number {
  if (typeof value !== 'bigint') throw invalidCursor('a number in it is missing or damaged');
  return number(value, max);
}

function archive(value: unknown): string | undefined {
  return value === undefined ? undefined : text(value);
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw invalidCursor('a name in it is missing or damaged');
  return value;
}
