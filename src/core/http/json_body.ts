/** The bodies of requests, and JSON in them, exactly as it was sent (docs/contract.md, JSON bodies). */
import type { Budget } from '../base/budget.ts';
import { shorten } from '../base/error_text.ts';
import { JsonBoundsError, parseSent, type SentValue } from '../base/json_reader.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import { ApiError, expectedErrorOf, requestTimeout } from './errors.ts';
import type { IncomingRequest } from './incoming.ts';

/**
 * Up to this nesting depth, an invalid input of a lookup only fails itself. With deeper nesting, the whole body is
 * refused.
 */
const MAX_INPUT_DEPTH = 1000;
/** The levels around an input: the body, the list of inputs and the input itself. */
const MAX_DEPTH = 3 + MAX_INPUT_DEPTH;

/** Parsing this many names and values takes 30 ms; a body of the maximum size could have 1.3 million. */
const MAX_VALUES = 100_000;

/**
 * The JSON value of a request's body.
 * @param leastMaxValues a lower bound for the limit on names and values
 * @param maxBytes the maximum body size
 * @throws ApiError naming `Content-Type` or `body`, or `request_timeout` if the body arrives later than the budget
 * allows; Unavailable if there is no memory for it
 */
export async function readJsonBody(
  request: IncomingRequest,
  budget: Budget,
  leastMaxValues = 0,
  maxBytes = MAX_BODY_BYTES,
): Promise<SentValue> {
  const type = request.headers.get('Content-Type') ?? '';
  if (type.split(';', 1)[0]!.trim().toLowerCase() !== 'application/json') {
    const message = `The Content-Type must be application/json (${shorten(type) || 'nothing'} was given)`;
    throw new ApiError('invalid_parameter', message, { param: 'Content-Type' });
  }
  const bytes = await readBytes(request, budget, maxBytes);
  try {
    return parseSent(bytes, { maxDepth: MAX_DEPTH, maxValues: Math.max(MAX_VALUES, leastMaxValues) });
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof JsonBoundsError) throw invalidBody(message);
    throw invalidBody(`it must be JSON in UTF-8: ${bytes.length === 0 ? 'it is empty' : message}`);
  }
}

export function invalidBody(why: string): ApiError {
  return new ApiError('invalid_parameter', `Cannot read the body because ${why}`, { param: 'body' });
}

/** The bytes of the body, with the errors of `readParts`. */
export async function readBytes(request: IncomingRequest, budget: Budget, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readParts(request, budget, maxBytes, part => chunks.push(part));
  return Buffer.concat(chunks);
}

/** After this time, a body must have arrived at this average rate, measured from its beginning. */
const RATE_GRACE_MS = 5000;
const MIN_BYTES_PER_SECOND = 4096;
const RATE_LOOK_MS = 250;

/**
 * Passes on the parts of the body as they arrive. Stops reading a body that is too large.
 * @throws ApiError naming `body`, or for a body that is late or arrives too slowly; Unavailable if there is no memory
 * for it
 */
export async function readParts(
  { body, headers }: IncomingRequest,
  budget: Budget,
  maxBytes: number,
  take: (part: Uint8Array) => void,
): Promise<void> {
  const tooLarge = () => invalidBody(`it must be at most ${maxBytes} bytes: send it in parts`);
  if (Number(headers.get('Content-Length')) > maxBytes) throw tooLarge();
  if (!body) return;
  const reader = body.getReader();
  let isLate = false;
  let length = 0;
  const begunMs = performance.now();
  const timer = setInterval(
    () => {
      const leastMs = RATE_GRACE_MS + (1000 * length) / MIN_BYTES_PER_SECOND;
      if (!budget.spent && performance.now() < begunMs + leastMs) return;
      isLate = true;
      void reader.cancel().catch(() => {});
    },
    Math.min(RATE_LOOK_MS, budget.remainingMs),
  );
  try {
    const next = () =>
      reader.read().catch(error => {
        throw expectedErrorOf(error) ?? invalidBody('it did not arrive completely');
      });
    for (let part = await next(); !part.done; part = await next()) {
      length += part.value.length;
      if (length > maxBytes) throw tooLarge();
      take(part.value);
    }
  } finally {
    clearInterval(timer);
    void reader.cancel().catch(() => {});
  }
  if (isLate) throw requestTimeout();
}
