/** A walk through the JSON of an answer: large values are entered, the others are parsed. */
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json_punctuation.ts';

/** Walks JSON as `toJson` writes it: ASCII, ", " and ": " between members and nowhere else. */
export class JsonWalk {
  readonly #json: Buffer;
  #at = 0;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Enters the next value, an object or a list. */
  enter(): void {
    this.#at++;
  }

  /**
   * The key of the object's next member, whose value comes next. Undefined at the end of the object, which the walk has
   * then left.
   */
  key(): string | undefined {
    if (!this.#hasMore(CLOSE_OBJECT)) return undefined;
    const key = this.value() as string;
    this.#at += 2;
    return key;
  }

  /** Whether the list has another element, which comes next. If not, the walk has left the list. */
  element(): boolean {
    return this.#hasMore(CLOSE_LIST);
  }

  /** The next value. */
  value(reviver?: Parameters<typeof JSON.parse>[1]): unknown {
    const start = this.#at;
    this.#at = endOfValue(this.#json, start);
    return JSON.parse(this.#json.toString('latin1', start, this.#at), reviver);
  }

  #hasMore(end: number): boolean {
    const json = this.#json;
    if (json[this.#at] === COMMA) this.#at += 2;
    if (json[this.#at] !== end) return true;
    this.#at++;
    return false;
  }
}

/** The position at which a value that is a member or an element ends. */
function endOfValue(json: Uint8Array, start: number): number {
  if (json[start] === QUOTE) return closingQuote(json, start) + 1;
  const isContainer = json[start] === OPEN_OBJECT || json[start] === OPEN_LIST;
  return isContainer ? endOfContainer(json, start) : endOfScalar(json, start);
}

function endOfContainer(json: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = closingQuote(json, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  return json.length;
}

function endOfScalar(json: Uint8Array, start: number): number {
  let at = start;
  while (at < json.length && json[at] !== COMMA && json[at] !== CLOSE_OBJECT && json[at] !== CLOSE_LIST) at++;
  return at;
}

function closingQuote(json: Uint8Array, openingQuote: number): number {
  let at = openingQuote + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
