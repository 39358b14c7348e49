/** Converts the brokers' times to microseconds since 1970-01-01T00:00:00Z (UTC). */
import { parseTime } from '../../core/base/parse_time.ts';

const MICROSECONDS_PER_DAY = 86_400_000_000;
/** 1970-01-01 as a Modified Julian Date. */
const UNIX_EPOCH_MJD = 40_587;
/** The latest time at which a double resolves microseconds: 2255-06-05. */
const LATEST_US = Number.MAX_SAFE_INTEGER;

/**
 * TAI - UTC in seconds from that day on, newest first: the leap seconds of IERS Bulletin C. The list begins in 1972,
 * because there were no leap seconds in UTC before, and no alert is that old.
 */
const TAI_MINUS_UTC: readonly (readonly [utcStartUs: number, seconds: number])[] = (
  [
    ['2017-01-01', 37],
    ['2015-07-01', 36],
    ['2012-07-01', 35],
    ['2009-01-01', 34],
    ['2006-01-01', 33],
    ['1999-01-01', 32],
    ['1997-07-01', 31],
    ['1996-01-01', 30],
    ['1994-07-01', 29],
    ['1993-07-01', 28],
    ['1992-07-01', 27],
    ['1991-01-01', 26],
    ['1990-01-01', 25],
    ['1988-01-01', 24],
    ['1985-07-01', 23],
    ['1983-07-01', 22],
    ['1982-07-01', 21],
    ['1981-07-01', 20],
    ['1980-01-01', 19],
    ['1979-01-01', 18],
    ['1978-01-01', 17],
    ['1977-01-01', 16],
    ['1976-01-01', 15],
    ['1975-01-01', 14],
    ['1974-01-01', 13],
    ['1973-01-01', 12],
    ['1972-07-01', 11],
    ['1972-01-01', 10],
  ] as const
).map(([day, seconds]) => [Date.parse(`${day}T00:00:00Z`) * 1000, seconds]);

/**
 * Converts a Modified Julian Date in TAI to UTC, rounded to the microsecond (a double of today's MJD resolves 0.6 µs).
 * Undefined if the value is not a number, or is before 1972 or after 2255. A time within a leap second becomes the
 * second after it.
 */
export function mjdTaiToUtcUs(mjd: unknown): number | undefined {
  if (typeof mjd !== 'number') return undefined;
  const taiUs = wholeMicroseconds(mjd - UNIX_EPOCH_MJD, MICROSECONDS_PER_DAY);
  for (const [utcStartUs, seconds] of TAI_MINUS_UTC) {
    if (taiUs >= utcStartUs + seconds * 1e6) return validTime(taiUs - seconds * 1e6);
  }
  return undefined;
}

/**
 * Converts Unix seconds, with or without a fraction, and rounds to the microsecond. Undefined if the value is not a
 * number, or is before 1970 or after 2255.
 */
export function unixSecondsToUs(seconds: unknown): number | undefined {
  return typeof seconds === 'number' ? validTime(wholeMicroseconds(seconds, 1e6)) : undefined;
}

/**
 * Converts `value` units of `unitUs` microseconds, and rounds once. The product of the whole part is exact; the product
 * of the fraction is nearly exact.
 */
function wholeMicroseconds(value: number, unitUs: number): number {
  const whole = Math.floor(value);
  return whole * unitUs + Math.round((value - whole) * unitUs);
}

/**
 * Reads a text such as `2026-01-30 13:55:19` with `parseTime`. Undefined for other values, before 1970 and after 2255.
 */
export function utcTextToUs(text: unknown): number | undefined {
  return typeof text === 'string' ? validTime(parseTime(text)) : undefined;
}

function validTime(us: number | undefined): number | undefined {
  return us !== undefined && us >= 0 && us <= LATEST_US ? us : undefined;
}
