/**
 * Converts the engine's errors into messages for the authors of queries. The engine's own messages show its internal
 * SQL, names and values.
 */
import { FAILURE_MARK } from '@nearsky/adql';
import { messageOf } from '../../core/base/error_text.ts';

/** A query found no memory; other queries may hold it. */
export class Starved extends Error {
  override name = 'Starved';
}

/** The message tells the author of the query why it has no answer. */
export class JobFailure extends Error {}

export const TOO_MUCH_MEMORY = 'the query takes more memory than is allowed for a query: ask for less at once';
/** For a query whose first rows were sent, so that it cannot run again. */
export const NO_MEMORY =
  'there is no more memory for the query, because of it or of others: ask for less at once, or again';

export function isOutOfMemory(error: unknown): boolean {
  return /out of memory|bad.?alloc|allocation failed|failed to allocate|cannot create a data chunk/i.test(
    messageOf(error),
  );
}

/** Whether the engine is unusable after an error. */
export function isFatal(error: unknown): boolean {
  return /database has been invalidated|^(?:FATAL|INTERNAL) Error/i.test(messageOf(error));
}

const reported = new WeakSet<object>();

/**
 * Reports that the tables cannot be brought up to date, once for all queries that wait for the same tables. If the
 * engine is unusable after the error, ends the process: the next query starts another.
 */
export function reportFailure(error: unknown): void {
  const failure = Object(error);
  if (reported.has(failure)) return;
  reported.add(failure);
  process.stderr.write(`${JSON.stringify({ event: 'tap_refresh_failed', error: messageOf(error) })}\n`);
  if (isFatal(error)) process.exit(1);
}

const MEANINGS: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  // Sums of integers have 128 bits in the engine.
  [
    /^Out of Range Error|^Conversion Error: Type INT128/,
    'a number is too large for its type: CAST it to DOUBLE PRECISION first',
  ],
  [
    /^Conversion Error/,
    'a value cannot be converted to the type of its CAST, or of the value that it is compared with: exclude such rows with WHERE',
  ],
  [/expression depth/i, 'the query is nested too deeply: write it with fewer operators'],
];

/** The reason why a query has no answer; undefined if its author could do nothing about it. */
export function meaningOf(error: unknown): string | undefined {
  const message = messageOf(error);
  const [, own] = new RegExp(`${FAILURE_MARK}([^\\n]*)`).exec(message) ?? [];
  if (own) return own;
  return MEANINGS.find(([pattern]) => pattern.test(message))?.[1];
}
