/**
 * Reads JSON without passing any 64-bit integer through a double. `parseSent` reads the body of a request,
 * `parseMessage` a broker's message. For plain data, see `parseJson` of `@nearsky/astrotables/json`.
 */
import { Rendered } from '@nearsky/astrotables/json';

/** The characters that show where values begin and end. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is a JSON object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The literal text of a number. */
export class SentNumber extends Rendered {
  /** The double nearest to the number; infinite if the number is too large. */
  get value(): number {
    return Number(this.text);
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text);
  }
}

/** The members of an object, in their order. If a name is repeated, its last value counts. */
export type SentObject = ReadonlyMap<string, SentValue>;
/** JSON exactly as it was sent: `1` and `1.0` differ. `toJson` writes it back unchanged. */
export type SentValue = null | boolean | string | SentNumber | readonly SentValue[] | SentObject;

interface JsonBounds {
  readonly maxDepth: number;
  /** The number of names and values. */
  readonly maxValues: number;
}

/** The message states the limit. */
export class JsonBoundsError extends Error {}

/**
 * Parses JSON in UTF-8, exactly as it was sent.
 * @throws JsonBoundsError; TypeError for bad UTF-8; SyntaxError
 */
export function parseSent(json: Uint8Array, { maxDepth, maxValues }: JsonBounds): SentValue {
  if (json.length > maxValues && countsMore(json, maxValues))
    throw new JsonBoundsError(`it must have at most ${maxValues} names and values: send it in parts`);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(json);
  // The runtime's parser is fast and decides whether the text is JSON, but it rounds numbers and reorders names.
  JSON.parse(text);
  return new Reader(text, maxDepth).value(0);
}

/**
 * Whether JSON has more names and values than this. The count of commas may be wrong for a text that is not JSON, but
 * the parser rejects such a text.
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

/** Reads text that is known to be JSON. */
class Reader {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  /** @param depth the number of arrays and objects around it */
  value(depth: number): SentValue {
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
        return new SentNumber(this.#token(/[-+.\deE]+/y));
    }
  }

  #object(depth: number): SentObject {
    this.#checkDepth(depth);
    const members = new Map<string, SentValue>();
    this.#skip('{');
    while (!this.#skip('}')) {
      const name = this.#string();
      this.#skip(':');
      members.set(name, this.value(depth + 1));
      this.#skip(',');
    }
    return members;
  }

  #array(depth: number): SentValue[] {
    this.#checkDepth(depth);
    const values: SentValue[] = [];
    this.#skip('[');
    while (!this.#skip(']')) {
      values.push(this.value(depth + 1));
      this.#skip(',');
    }
    return values;
  }

  #checkDepth(depth: number): void {
    if (depth >= this.#maxDepth)
      throw new JsonBoundsError(`it must not be nested deeper than ${this.#maxDepth} levels`);
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

  /** Whether an odd number of backslashes precedes this character. */
  #isEscaped(at: number): boolean {
    let first = at;
    while (this.#text[first - 1] === '\\') first--;
    return (at - first) % 2 === 1;
  }

  /** The index of the next character that is not white space. */
  #peek(): string | undefined {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at++;
    return this.#text[this.#at];
  }

  /** Skips this character if it comes next. */
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

/*
 * Reads messages of brokers. `parseJson` is not enough: it rejects the bare `NaN` that Python's encoder writes. It is
 * also slow if every message has a 64-bit id, because its reviver takes five times as long as parsing and look-up
 * together. Therefore the message is parsed with rounded ids, and their digits are looked up in the text afterwards.
 * For a Pitt-Google alert of 10 kB, the look-up takes 2 µs in addition to 21 µs of parsing; quoting the ids before
 * parsing would take 7 µs.
 */

/** A bare token that is not JSON, at a place where a value may be. It might still be inside a string. */
const BARE_TOKEN = /[\s:,[](?:NaN|-?Infinity)/;
/**
 * Matches the marks of strings, and bare tokens. The pattern matches single tokens, because a pattern for whole strings
 * would take quadratic time or overflow the stack.
 */
const QUOTE_OR_BARE_TOKEN = /\\.|"|-?Infinity|NaN/gs;
/**
 * A numeric value of a key that ends in `diaObjectId`. The pattern cannot match inside a string: a quote inside a
 * string follows a backslash, but the pattern needs a letter before the quote.
 */
const NUMERIC_ID = /(diaObjectId"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}])/g;

/** A parsed message. */
export interface Message {
  /** Ids in this value may be rounded. */
  readonly value: unknown;
  readonly exactId: ExactId;
}

/**
 * Returns the literal, with every digit, of a number whose key ends in `diaObjectId`; returns any other value
 * unchanged.
 */
export type ExactId = (value: unknown) => unknown;

/**
 * Parses a message: strict JSON, except that bare `NaN`, `Infinity` and `-Infinity` become null.
 * @throws SyntaxError
 */
export function parseMessage(text: string): Message {
  const strict = mayHaveBareTokens(text) ? withoutBareTokens(text) : text;
  const literals = idLiterals(strict);
  if (!literals) return { value: JSON.parse(strict.replace(NUMERIC_ID, '$1"$2"')), exactId: value => value };
  return { value: JSON.parse(strict), exactId: value => literals.get(value) ?? value };
}

/**
 * The literals of the numeric ids, by their rounded values. Undefined if two ids have the same rounded value, or if the
 * key of another id may contain an escaped character.
 */
function idLiterals(text: string): ReadonlyMap<unknown, string> | undefined {
  const literals = new Map<unknown, string>();
  let last = '';
  for (const member of text.match(NUMERIC_ID) ?? []) {
    if (member === last) continue;
    last = member;
    const literal = member.slice(member.indexOf(':') + 1).trimStart();
    const rounded = Number(literal);
    if ((literals.get(rounded) ?? literal) !== literal) return undefined;
    literals.set(rounded, literal);
  }
  return literals.size > 0 && text.includes('\\u') ? undefined : literals;
}

/**
 * Whether the text may have bare tokens. For nearly all messages two plain searches answer this, in a twentieth of the
 * pattern's time.
 */
function mayHaveBareTokens(text: string): boolean {
  return (text.includes('NaN') || text.includes('Infinity')) && BARE_TOKEN.test(text);
}

function withoutBareTokens(text: string): string {
  let inString = false;
  return text.replace(QUOTE_OR_BARE_TOKEN, token => {
    if (token === '"') inString = !inString;
    return inString || token === '"' || token.startsWith('\\') ? token : 'null';
  });
}
