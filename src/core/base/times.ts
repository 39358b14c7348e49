import { type ByteSink, fragment } from '@nearsky/astrotables/bytes';
import { writeMoment } from '@nearsky/astrotables/timestamp';

/** The current time, integer microseconds since 1970, UTC (accurate to the millisecond). */
export function nowUs(): number {
  return Date.now() * 1000;
}

/**
 * Formats a time for the API: ISO-8601 with a numeric offset. The fraction has six digits, and is left out if it is
 * zero.
 *
 * @param timeUs integer microseconds since 1970, UTC
 * @param offsetMinutes the offset of the text; UTC, `+00:00`, by default
 */
export function formatTime(timeUs: number, offsetMinutes = 0): string {
  const seconds = Math.floor(timeUs / 1e6);
  return formatParts(seconds, timeUs - seconds * 1e6, offsetMinutes);
}

/** Like `formatTime`, for seconds since 1970 and a fraction in microseconds; exact in every year. */
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
const QUOTE = 0x22;

/**
 * Writes the result of `formatTime` in UTC, in quotes. It takes a tenth of the time of `formatTime`; nearly every
 * answer contains many times.
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
