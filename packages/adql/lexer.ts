/** The words, literals and symbols of a query. */
import { AdqlError } from './adql_error.ts';

export interface Token {
  /** `name` is in double quotes; a `word` is not. */
  readonly kind: 'word' | 'name' | 'number' | 'string' | 'symbol' | 'end';
  /** A word in upper case, a name or string without its quotes, or a number or symbol unchanged. */
  readonly value: string;
  /** The range of the token in the query. */
  readonly text: string;
  readonly at: number;
}

/** Comments and white space, then one group for each of `KINDS`. */
const TOKEN =
  /(?:[ \t\r\n]|--[^\r\n]*)*(?:([A-Za-z][A-Za-z0-9_]*)|((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|('(?:[^']|'')*')|("(?:[^"]|"")*")|(<>|!=|<=|>=|\|\||[-+*/%=<>(),.;])|($))/y;

const KINDS: readonly Token['kind'][] = ['word', 'number', 'string', 'name', 'symbol', 'end'];

/** The maximum number of tokens in a query: a list of a thousand values takes two thousand. */
const MAX_TOKENS = 20_000;

/** @throws AdqlError */
export function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(query);
    if (!match) throw unknownCharacter(query, from);
    const group = match.findIndex((each, i) => i > 0 && each !== undefined);
    const [kind, text] = [KINDS[group - 1]!, match[group]!];
    const at = TOKEN.lastIndex - text.length;
    if (kind === 'number' && /[A-Za-z_]/.test(query[TOKEN.lastIndex] ?? ''))
      throw new AdqlError(at, `a number ends before its next letter: put a space after ${text}, or correct the number`);
    if (kind === 'name' && text === '""') throw new AdqlError(at, 'a name in double quotes must not be empty');
    tokens.push({ kind, value: tokenValue(kind, text), text, at });
    if (kind === 'end') return tokens;
    if (tokens.length > MAX_TOKENS)
      throw new AdqlError(at, `a query has at most ${MAX_TOKENS} words, numbers and signs: split the query`);
  }
}

function tokenValue(kind: Token['kind'], text: string): string {
  if (kind === 'word') return text.toUpperCase();
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  return kind === 'name' ? text.slice(1, -1).replaceAll('""', '"') : text;
}

const SKIPPED = /(?:[ \t\r\n]|--[^\r\n]*)*/y;

function unknownCharacter(query: string, from: number): AdqlError {
  SKIPPED.lastIndex = from;
  SKIPPED.exec(query);
  const at = SKIPPED.lastIndex;
  const character = String.fromCodePoint(query.codePointAt(at)!);
  if (character === "'") return new AdqlError(at, 'this string has no end: close it with a single quote');
  if (character === '"') return new AdqlError(at, 'this name has no end: close it with a double quote');
  if (character === '_') return new AdqlError(at, 'a name that does not begin with a letter must be in double quotes');
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return new AdqlError(at, `the character ${JSON.stringify(character)} (U+${code}) has no meaning here`);
}
