/**
 * The first line of a registry file: a time in a whole file, a time span in a file of changes. Also defines the errors
 * of such files.
 */
import { parseTime } from '../../core/base/parse_time.ts';

/** Microseconds since 1970. */
export interface TimeSpan {
  readonly startUs: number;
  /** The end of the span, exclusive. Undefined if the line has only one time. */
  readonly endUs: number | undefined;
}

const TIME_LINE =
  /^(?<day>\d{4}-\d\d-\d\d)[ T](?<start>\d\d:\d\d(?::\d\d)?)(?:\s*-\s*(?:(?<endDay>\d{4}-\d\d-\d\d)[ T])?(?<end>\d\d:\d\d(?::\d\d)?))?$/;

/**
 * Reads a time, `2026-02-10 00:00:00`, or a span, `2026-02-10 05:00 - 05:59` or `… 05:00:00 - 05:59:59`, in UTC. The
 * second time of a span is its last minute or second, or the full hour at which it ends.
 * @returns undefined for any other text
 */
export function parseTimeLine(text: string): TimeSpan | undefined {
  const parts = TIME_LINE.exec(text.trim())?.groups;
  if (!parts) return undefined;
  const startUs = parseTime(`${parts.day}T${parts.start}`);
  if (startUs === undefined || parts.end === undefined)
    return startUs === undefined ? undefined : { startUs, endUs: undefined };
  const lastUs = parseTime(`${parts.endDay ?? parts.day}T${parts.end}`);
  if (lastUs === undefined) return undefined;
  const endUs = lastUs % 3_600_000_000 === 0 ? lastUs : lastUs + (parts.end.length > 5 ? 1_000_000 : 60_000_000);
  return endUs > startUs ? { startUs, endUs } : undefined;
}

/**
 * A registry file cannot be used or downloaded. The message gives the reason and the remedy. The stored registry is
 * unchanged.
 */
export class RegistryError extends Error {
  override name = 'RegistryError';
}
