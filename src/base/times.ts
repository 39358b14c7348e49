import { type ByteSink, fragment } from './bytes.ts';

/** The present time, integer microseconds since 1970, UTC (to the millisecond). */
export function nowUs(): number {
  return Date.now() * 1000;
}

/**
 * Formats a time for the API: ISO-8601 with a numeric offset. The fraction has six digits, and is left out if it is
 * zero.
 *
 * @param timeUs integer microseconds since 1970, UTC
 * @param offsetMinutes the offset to write it in; UTC, `+00:00`, by default
 */
export function formatTime(timeUs: number, offsetMinutes = 0): string {
  const seconds = Math.floor(timeUs / 1e6);
  return formatParts(seconds, timeUs - seconds * 1e6, offsetMinutes);
}

/** Like `formatTime`, for seconds since 1970 and the microseconds beyond them: exact in every year. */
export function formatParts(seconds: number, micros: number, offsetMinutes: number): string {
  const whole = new Date((seconds + offsetMinutes * 60) * 1000).toISOString().slice(0, -5);
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  return `${whole}${fraction}${formatOffset(offsetMinutes)}`;
}

/** Like `formatTime` in UTC, for a time that may be missing. */
export function formatTimeOrNull(timeUs: number | null | undefined): string | null {
  return timeUs === null || timeUs === undefined ? null : formatTime(timeUs);
}

/** `+HH:MM` or `-HH:MM`. */
function formatOffset(minutes: number): string {
  if (minutes === 0) return '+00:00';
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

const DAY_US = 86_400_000_000;
/** 0000-01-01 and 9999-12-31: years of four digits. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;
const TEXT_END = fragment('+00:00"');
const [QUOTE, DASH, T, COLON, DOT] = [...'"-T:.'].map(character => character.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
];

/**
 * Writes the text of `formatTime` in UTC, between quotes. Nearly every answer contains many times, and this takes a
 * tenth of the time of `formatTime`.
 */
export function writeTime(out: ByteSink, timeUs: number): void {
  const day = Math.floor(timeUs / DAY_US);
  if (!(day >= FIRST_DAY && day <= LAST_DAY)) {
    out.text(`"${formatTime(timeUs)}"`);
    return;
  }
  out.byte(QUOTE);
  writeMoment(out, timeUs);
  out.fragment(TEXT_END);
}

/** Writes the text of `formatTime` in UTC without its offset, for years of four digits. */
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
