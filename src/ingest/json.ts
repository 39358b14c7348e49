/**
 * JSON as the brokers write it. A plain `JSON.parse` is not enough: it rounds 64-bit ids, and rejects the bare `NaN`
 * that Python's encoder writes. Rounded ids are looked up in the text afterwards: for a Pitt-Google alert of 10 kB this
 * takes 2 µs beside 21 µs of parsing. Quoting the ids before parsing takes 7 µs; a reviver that looks at
 * `context.source` takes five times as long as parsing and look-up together.
 */

/** A bare token that is not JSON, where a value may stand; the token might still be inside a string. */
const BARE_TOKEN = /[\s:,[](?:NaN|-?Infinity)/;
/**
 * Matches the marks of strings, and bare tokens. Each match is one token: a pattern of whole strings would take
 * quadratic time, or the stack.
 */
const QUOTE_OR_BARE_TOKEN = /\\.|"|-?Infinity|NaN/gs;
/**
 * A numeric value of a key that ends in `diaObjectId`. The pattern cannot match inside a string: quotes there follow a
 * backslash, but the pattern needs a letter before the quote.
 */
const NUMERIC_ID = /(diaObjectId"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}])/g;

/** A parsed message. */
export interface Message {
  /** Ids in here may be rounded. */
  readonly value: unknown;
  readonly exactId: ExactId;
}

/**
 * Returns the literal, with every digit, of a number under a key that ends in `diaObjectId`; returns any other value
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
 * The literals of the numeric ids by their rounded values; undefined where two ids have the same rounded value, or
 * where an escaped character may stand in the key of a further id.
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
 * Whether the text may have bare tokens. The plain searches, which are enough for nearly all messages, take a twentieth
 * of the pattern's time.
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

/** A JSON object with unchecked values. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is a JSON object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
