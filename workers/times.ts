/** Now, integer microseconds since 1970, UTC (to the millisecond). */
export function nowUs(): number {
  return Date.now() * 1000;
}

/**
 * A time as the API writes it: ISO-8601 with a numeric offset; microseconds as six digits, left out when they are zero.
 *
 * @param timeUs integer microseconds since 1970, UTC
 * @param offsetMinutes the offset to write it in; UTC, `+00:00`, by default
 */
export function formatTime(timeUs: number, offsetMinutes = 0): string {
  const seconds = Math.floor(timeUs / 1e6);
  const micros = timeUs - seconds * 1e6;
  const whole = new Date((seconds + offsetMinutes * 60) * 1000).toISOString().slice(0, -5);
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`;
  return `${whole}${fraction}${formatOffset(offsetMinutes)}`;
}

/** `formatTime` in UTC of a time that may be missing. */
export function formatTimeOrNull(timeUs: number | null | undefined): string | null {
  return timeUs === null || timeUs === undefined ? null : formatTime(timeUs);
}

/** `+HH:MM` or `-HH:MM`. */
export function formatOffset(minutes: number): string {
  if (minutes === 0) return '+00:00';
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
