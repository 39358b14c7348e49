/**
 * JSON as the brokers write it. A plain `JSON.parse` will not do: it rounds 64-bit ids, and it refuses the bare `NaN` that a Python
 * encoder writes. What it rounded is looked up in the text afterwards: of a Pitt-Google alert of 10 kB that takes 2 µs beside the 21 of
 * parsing, putting the ids in quotes first takes 7, a reviver that looks at `context.source` five times as long as all of it.
 */

/** A bare token that is not JSON, where a value may stand; it might still be inside a string. */
const BARE_TOKEN = /[\s:,[](?:NaN|-?Infinity)/;
/** What tells where strings begin and end, and bare tokens. One token a match: a pattern of whole strings would take quadratic time, or the stack. */
const QUOTE_OR_BARE_TOKEN = /\\.|"|-?Infinity|NaN/gs;
/**
 * A numeric value of a key that ends in `diaObjectId`. This cannot match inside a string: a quote in there has a backslash before it,
 * where this wants a letter.
 */
const NUMERIC_ID = /(diaObjectId"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}])/g;

/** A message as it was parsed. */
export interface Message {
  /** Ids in here may be rounded. */
  readonly value: unknown;
  readonly exactId: ExactId;
}

/** Of a number that stands under a key that ends in `diaObjectId`, the literal text, every digit of it; anything else is given back. */
export type ExactId = (value: unknown) => unknown;

/**
 * Parses a message: strict JSON, but that bare `NaN`, `Infinity` and `-Infinity` become null.
 * @throws SyntaxError
 */
export function parseMessage(text: string): Message {
  const strict = mayHaveBareTokens(text) ? withoutBareTokens(text) : text;
  const literals = idLiterals(strict);
  if (!literals) return { value: JSON.parse(strict.replace(NUMERIC_ID, '$1"$2"')), exactId: value => value };
  return { value: JSON.parse(strict), exactId: value => literals.get(value) ?? value };
}

/**
 * The literals of the numeric ids by their rounded values; undefined where two ids have the same one, or where an escaped character may
 * stand in the key of a further one.
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
