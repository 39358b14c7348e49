const YEAR_LENGTH = 4;

/**
 * DALI 1.1's timestamp (section 3.3.3): ISO-8601, UTC with its Z, microseconds as six digits, left out when they are zero.
 *
 * @param timeUs integer microseconds since 1970, of a year of four digits
 * @throws RangeError for any other
 */
export function timestamp(timeUs: number): string {
  const seconds = Math.floor(timeUs / 1e6);
  const micros = timeUs - seconds * 1e6;
  const whole = Number.isInteger(timeUs) ? new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length) : '';
  if (whole.indexOf('-') !== YEAR_LENGTH) throw new RangeError(`Cannot write ${timeUs} µs as a timestamp`);
  return `${whole}${micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`}Z`;
}
