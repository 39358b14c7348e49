/**
 * The wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, section 10.2.3).
 * @returns milliseconds, at least 0; undefined where the text is neither
 */
export function retryAfterMs(text: string): number | undefined {
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
