/** The kinds of values in requests: in query strings, paths, bodies, and arguments of tools. */
import { memoized } from '../base/memoized.ts';
import { parseInstant } from '../base/parse_time.ts';
import type { Config } from '../config/config.ts';
import { DETAIL_LEVELS, RESPONSE_MODES, TIME_FIELDS } from '../contract/enums.ts';
import { type Bounds, clamped, integer, type Kind, named, number, textual } from '../contract/kind.ts';
import { DEC_RANGE, LARGE_CONE_PATH, MAX_OBJECT_ID, MAX_TNS_NAME_CHARACTERS, RA_RANGE } from '../contract/limits.ts';
import { POSITION_ERROR_MAS } from '../contract/position_errors.ts';
import { type IdType, isTextId, MAX_SOURCE_ID_BYTES, TEXT_ID } from '../contract/source_ids.ts';
import { parseTnsName } from '../contract/tns_names.ts';

export const ANY_NUMBER = number();
export const RIGHT_ASCENSION = number({ ...RA_RANGE, unit: 'deg' });
/** A right ascension in decimal hours. */
export const HOURS = number({ min: 0, max: 24, unit: 'h' });
export const DECLINATION = number({ ...DEC_RANGE, unit: 'deg' });
export const DETAIL = named(DETAIL_LEVELS);
export const RESPONSE = named(RESPONSE_MODES);
export const TIME_FIELD = named(TIME_FIELDS);
export const TIME = textual('an ISO 8601 time (in a URL, + is written %2B)', parseInstant);
/** A string whose contents are checked elsewhere. */
export const ANY_TEXT = textual('a text', text => text);

export const upTo = (max: number, unit: string) => number({ min: 0, max, aboveMin: true, unit });

/** The 1σ error of a position. */
const POSITION_ERROR = { min: POSITION_ERROR_MAS.min * 1e-3, max: POSITION_ERROR_MAS.max * 1e-3, unit: 'arcsec' };
export const POSITION_ERROR_ARCSEC = number(POSITION_ERROR);

/** The 1σ errors of a table's positions. */
export const POSITION_ERRORS = textual(
  `the names of one or two columns, or a number from ${POSITION_ERROR.min} to ${POSITION_ERROR.max}`,
  text => (Number.isNaN(Number(text)) || POSITION_ERROR_ARCSEC.parseText(text) !== undefined ? text : undefined),
);

/** An integer that is written with digits only, for `limit` and `resolution`. A negative one breaks the bounds. */
export const digits = (bounds: Bounds) => integer(bounds, /^(?:\d+|-[1-9]\d*)$/);

/** The number of an entry of the journal. */
export const JOURNAL_ENTRY = { ...digits({ min: 0, max: Number.MAX_SAFE_INTEGER }), unit: 'entry' };

/** The radius of a search, arcsec. */
export const radiusKind = memoized((config: Config): Kind<number> => {
  const max = config.API_MAX_CONE_RADIUS_ARCSEC;
  const larger = `for larger cones use ${LARGE_CONE_PATH}, whose radius SR is in degrees, at most ${config.VO_MAX_RADIUS_DEG}`;
  const bounded = upTo(max, 'arcsec');
  const tooLarge = `at most ${max}`;
  return { ...bounded, instead: given => (bounded.broken?.(given) === tooLarge ? larger : undefined) };
});

const INTEGER = /^[+-]?\d+$/;

/** A page size. Only its notation is checked. */
export const ANY_INTEGER = textual('an integer of at least 1', text => (INTEGER.test(text.trim()) ? text : undefined));

export const pageSizeUpTo = (max: number) => ({ ...clamped(1, max, INTEGER), unit: 'count' });

export const TNS_NAME = textual(
  `a TNS name such as SN 2026abc, of at most ${MAX_TNS_NAME_CHARACTERS} characters`,
  parseTnsName,
  { minLength: 1, maxLength: MAX_TNS_NAME_CHARACTERS },
);

const MAX_ID_DIGITS = 19;

/** ASCII digits with a value from 0 to 2^63 - 1; leading zeros are allowed. */
export const OBJECT_ID = textual(`an integer in decimal digits, 0 to ${MAX_OBJECT_ID}`, text => {
  if (!/^\d+$/.test(text)) return undefined;
  const digits = text.length > 1 && text.startsWith('0') ? text.replace(/^0+(?=\d)/, '') : text;
  if (digits.length > MAX_ID_DIGITS) return undefined;
  const id = BigInt(digits);
  return id <= MAX_OBJECT_ID ? id : undefined;
});

const INT64 = /^-?\d{1,19}$/;

/** The id of a catalog's source, in the form in which ids are stored. */
export const SOURCE_ID: Readonly<Record<IdType, Kind<string>>> = {
  text: textual(TEXT_ID, text => (isTextId(text) ? text : undefined), {
    minLength: 1,
    maxLength: MAX_SOURCE_ID_BYTES,
  }),
  int64: textual(
    'a 64-bit integer in decimal digits',
    text => {
      const id = INT64.test(text) ? BigInt(text) : undefined;
      return id !== undefined && BigInt.asIntN(64, id) === id ? `${id}` : undefined;
    },
    { pattern: INT64.source },
  ),
};
