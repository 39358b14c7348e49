import type { ByteSink } from '../base/bytes.ts';
import { formatTime, writeMoment } from '../base/times.ts';

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
  return `${formatTime(timeUs).slice(0, -'+00:00'.length)}Z`;
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
