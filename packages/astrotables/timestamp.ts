import type { ByteSink } from './bytes.ts';

/** The range of timestamps, microseconds since 1970: years of four digits. */
const FIRST_US = -62_167_219_200_000_000;
const END_US = 253_402_300_800_000_000;

function isTimestamp(timeUs: number): boolean {
  return Number.isInteger(timeUs) && timeUs >= FIRST_US && timeUs < END_US;
}

/** The cell of a time; null if there is no time, or it cannot be written as a timestamp. */
export function timeCell(timeUs: number | null | undefined): number | null {
  return typeof timeUs === 'number' && isTimestamp(timeUs) ? timeUs : null;
}

/**
 * Formats a time as a timestamp of DALI 1.1 (section 3.3.3): ISO-8601 in UTC, ending with Z. The fraction has six
 * digits, and is left out if it is zero.
 *
 * @param timeUs integer microseconds since 1970, within a year of four digits
 * @throws RangeError for any other time
 */
export function timestamp(timeUs: number): string {
  requireTimestamp(timeUs);
  const seconds = Math.floor(timeUs / 1e6);
  const micros = timeUs - seconds * 1e6;
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  return `${new Date(seconds * 1000).toISOString().slice(0, -5)}${fraction}Z`;
}

/** Writes the text of `timestamp`. */
export function writeTimestamp(out: ByteSink, timeUs: number): void {
  requireTimestamp(timeUs);
  writeMoment(out, timeUs);
  out.text('Z');
}

function requireTimestamp(timeUs: number): void {
  if (!isTimestamp(timeUs)) throw new RangeError(`Cannot write ${timeUs} µs as a timestamp`);
}

const DAY_US = 86_400_000_000;
const [DASH, T, COLON, DOT] = [0x2d, 0x54, 0x3a, 0x2e];

/** Writes the text of `timestamp` without its Z, for a time within a year of four digits. */
export function writeMoment(out: ByteSink, timeUs: number): void {
  const day = Math.floor(timeUs / DAY_US);
  const inDayUs = timeUs - day * DAY_US;
  const seconds = Math.floor(inDayUs / 1e6);
  const micros = inDayUs - seconds * 1e6;
  writeDate(out, day);
  out.byte(T);
  out.digits((seconds / 3600) | 0, 2);
  out.byte(COLON);
  out.digits(((seconds / 60) | 0) % 60, 2);
  out.byte(COLON);
  out.digits(seconds % 60, 2);
  if (micros !== 0) {
    out.byte(DOT);
    out.digits(micros, 6);
  }
}

/**
 * YYYY-MM-DD (Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days): years that begin in March, in
 * eras of 400.
 *
 * @param day days since 1970-01-01
 */
function writeDate(out: ByteSink, day: number): void {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const shiftedMonth = ((5 * dayOfYear + 2) / 153) | 0;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  out.digits(era * 400 + yearOfEra + (month <= 2 ? 1 : 0), 4);
  out.byte(DASH);
  out.digits(month, 2);
  out.byte(DASH);
  out.digits(dayOfYear - (((153 * shiftedMonth + 2) / 5) | 0) + 1, 2);
}
