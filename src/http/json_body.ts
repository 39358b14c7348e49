/**
 * JSON bodies, exactly as they were sent (docs/contract.md, JSON bodies): a number is its literal text, so that `1` and
 * `1.0` differ and no digit is lost, and the members of an object keep their order.
 */
import type { Budget } from '../base/budget.ts';
import { BACKSLASH, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../base/json_punctuation.ts';
import { toJson } from '../base/json_text.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import { ApiError, expectedErrorOf, requestTimeout, shorten } from './errors.ts';
import type { IncomingRequest } from './incoming.ts';

/** A number by its literal text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The double nearest to it; infinite where there is none. */
  get value(): number {
    return Number(this.text);
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text);
  }
}

/** The last value of a repeated name counts. */
export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/**
 * The nesting up to which an input of a lookup is at most invalid itself. An input with deeper nesting has the whole
 * body refused.
 */
const MAX_INPUT_DEPTH = 1000;
/** Around it are the body, the list of inputs and the input itself. */
const MAX_DEPTH = 3 + MAX_INPUT_DEPTH;

/** Parsing so many names and values takes 30 ms; a body of the largest size could have 1.3 million. */
const MAX_VALUES = 100_000;

/**
 * Whether JSON has more names and values than that. It may count the commas of a text that is no JSON wrongly; the parser
 * refuses such a text.
 */
function countsMore(json: Uint8Array, most: number): boolean {
  let count = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at++;
    else if (!isText && (byte === COMMA || byte === COLON || byte === OPEN_LIST || byte === OPEN_OBJECT)) count++;
    if (count > most) return true;
  }
  return false;
}

/**
 * The JSON value of a request's body.
 * @param leastMaxValues so many names and values are taken, even if they are more than usual
 * @param maxBytes the longest body
 * @throws ApiError naming `Content-Type` or `body`, or `request_timeout` when the body takes longer than the budget to
 * arrive; Unavailable when there is no room for it
 */
export async function readJsonBody(
  request: IncomingRequest,
  budget: Budget,
  leastMaxValues = 0,
  maxBytes = MAX_BODY_BYTES,
): Promise<JsonValue> {
  const type = request.headers.get('Content-Type') ?? '';
  if (type.split(';', 1)[0]!.trim().toLowerCase() !== 'application/json') {
    const message = `The Content-Type must be application/json (${shorten(type) || 'nothing'} was given)`;
    throw new ApiError('invalid_parameter', message, { param: 'Content-Type' });
  }
  const bytes = await readBytes(request, budget, maxBytes);
  const maxValues = Math.max(MAX_VALUES, leastMaxValues);
  if (bytes.length > maxValues && countsMore(bytes, maxValues))
    throw invalidBody(`it must have at most ${maxValues} names and values: send it in parts`);
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalidBody(`it must be JSON in UTF-8: ${bytes.length === 0 ? 'it is empty' : (error as Error).message}`);
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

/** From then on a body must have arrived at this rate, on the average from its begin. */
const RATE_GRACE_MS = 5000;
const MIN_BYTES_PER_SECOND = 4096;
const RATE_LOOK_MS = 250;

/**
 * Gives the parts of the body away as they arrive. One that is too large is not read to its end.
 * @throws ApiError naming `body`, or for one that is late or arrives too slowly; Unavailable when there is no room for it
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
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > maxBytes) throw tooLarge();
      take(part.value);
    }
  } catch (error) {
    throw expectedErrorOf(error) ?? invalidBody('it did not arrive whole');
  } finally {
    clearInterval(timer);
    void reader.cancel().catch(() => {});
  }
  if (isLate) throw requestTimeout();
}

/**
 * @throws SyntaxError for what is no JSON; ApiError for nesting without end
 */
export function parseJson(text: string): JsonValue {
  // The runtime's parser is fast and decides whether the text is JSON, but it rounds numbers and reorders names.
  JSON.parse(text);
  return new Reader(text).value(0);
}

/** @param depth how many arrays and objects are around it */
function checkDepth(depth: number): void {
  if (depth >= MAX_DEPTH) throw invalidBody(`it must not be nested deeper than ${MAX_DEPTH} levels`);
}

/** Reads text that is known to be JSON. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonValue {
    switch (this.#peek()) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
      case 'f':
      case 'n':
        return JSON.parse(this.#token(/[a-z]+/y));
      default:
        return new JsonNumber(this.#token(/[-+.\deE]+/y));
    }
  }

  #object(depth: number): JsonObject {
    checkDepth(depth);
    const members = new Map<string, JsonValue>();
    this.#skip('{');
    while (!this.#skip('}')) {
      const name = this.#string();
      this.#skip(':');
      members.set(name, this.value(depth + 1));
      this.#skip(',');
    }
    return members;
  }

  #array(depth: number): JsonValue[] {
    checkDepth(depth);
    const values: JsonValue[] = [];
    this.#skip('[');
    while (!this.#skip(']')) {
      values.push(this.value(depth + 1));
      this.#skip(',');
    }
    return values;
  }

  #string(): string {
    this.#peek();
    const start = this.#at;
    let end = start;
    do end = this.#text.indexOf('"', end + 1);
    while (this.#isEscaped(end));
    this.#at = end + 1;
    const literal = this.#text.slice(start, end + 1);
    return literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
  }

  /** Whether an odd number of backslashes stands before. */
  #isEscaped(at: number): boolean {
    let first = at;
    while (this.#text[first - 1] === '\\') first--;
    return (at - first) % 2 === 1;
  }

  /** The first character after white space. */
  #peek(): string | undefined {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at++;
    return this.#text[this.#at];
  }

  /** Steps over a character where it is the next one. */
  #skip(character: string): boolean {
    const isNext = this.#peek() === character;
    if (isNext) this.#at++;
    return isNext;
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [token] = pattern.exec(this.#text)!;
    this.#at += token.length;
    return token;
  }
}

/** The JSON text of the value: numbers as they were, strings in ASCII. */
export function jsonText(value: JsonValue): string {
  if (typeof value === 'string') return toJson(value);
  if (value instanceof JsonNumber) return value.text;
  let text = '';
  if (value instanceof Map) {
    for (const [name, member] of value as JsonObject)
      text += `${text === '' ? '{' : ', '}${toJson(name)}: ${jsonText(member)}`;
    return text === '' ? '{}' : `${text}}`;
  }
  if (!Array.isArray(value)) return toJson(value);
  for (const member of value) text += `${text === '' ? '[' : ', '}${jsonText(member)}`;
  return text === '' ? '[]' : `${text}]`;
}
