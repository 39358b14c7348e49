/**
 * JSON as the brokers write it. A plain `JSON.parse` will not do: it rounds 64-bit ids, and it refuses the bare `NaN` that a Python
 * encoder writes. Rewriting the text first and then parsing measured 5 times the speed of a reviver that looks at
 * `context.source`: 9 against 49 µs for an ANTARES message of 5 kB, 2.9 against 14 ms for an LSST alert of 1 MB with cutouts.
 */

/** A bare token that is not JSON, where a value may stand; it might still be inside a string. */
const BARE_TOKEN = /[\s:,[](?:NaN|-?Infinity)/;
/** What tells where strings begin and end, and bare tokens. One token a match: a pattern of whole strings would take quadratic time, or the stack. */
const QUOTE_OR_BARE_TOKEN = /\\.|"|-?Infinity|NaN/gs;
/**
 * A numeric value of a key that ends in `diaObjectId`. This cannot match inside a string: a quote in there has a backslash before it,
 * where this wants a letter.
 */
const NUMERIC_ID = /(diaObjectId"\s*:\s*)(-?\d[\d.eE+-]*)/g;

/**
 * Parses a message. Strict JSON but for two things: bare `NaN`, `Infinity` and `-Infinity` become null; a number under a key that ends
 * in `diaObjectId` becomes a string of the literal text, every digit of it (`1.0` stays `"1.0"`).
 * @throws SyntaxError
 */
export function parseMessage(text: string): unknown {
  const strict = mayHaveBareTokens(text) ? withoutBareTokens(text) : text;
  return JSON.parse(strict.replace(NUMERIC_ID, '$1"$2"'));
}

/** The plain searches, which nearly all messages end at, take a twentieth of the time of the pattern. */
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

/** A JSON object, its values not yet looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value where it is a JSON object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
