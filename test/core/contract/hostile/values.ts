/** Random values, each with the required reaction of the service. */
import { seededRandom } from '../../../oracle/skies.ts';

/** Whether a value must be accepted, must be refused, or may be either. */
export type Verdict = 'good' | 'bad' | 'open';

export interface Value {
  /** The text of a query's value, not yet encoded, or the JSON of a body's. */
  readonly text: string;
  readonly verdict: Verdict;
}

export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** From 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.#next() * n);
  }

  chance(p: number): boolean {
    return this.#next() < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  between(min: number, max: number): number {
    return min + this.#next() * (max - min);
  }
}

/** Values that no parameter accepts. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...[
    ' ',
    '\t\n',
    '\0',
    'x',
    'null',
    'undefined',
    'true',
    'NaN',
    '-Infinity',
    '[object Object]',
    '__proto__',
    'constructor',
  ],
  ...[
    '0x10',
    '1_000',
    '1,5',
    '1e',
    '--1',
    '1e999',
    '-1e999',
    '²',
    '٣',
    '１２',
    '½',
    '1 2',
    '1;2',
    '+',
    '-',
    '.',
    '..',
    '%',
    '%zz',
  ],
  ...['1\ufeff1', '\u200b', '\u202e1', '\uffff', '🜁🜂', 'é', 'e\u0301', 'Ā'.repeat(300), '\u0661\u0662', 'İ', 'ß'],
  ...["' OR 1=1 --", '<script>alert(1)</script>', '../../etc/passwd', '{{7*7}}', '\r\nX-Evil: 1', '%00', '%2F..'],
  ...['9'.repeat(400), '-'.repeat(50), '1'.repeat(5000), `${'['.repeat(600)}`, 'a'.repeat(1025), '{"a":1}', '"'],
];

/** Very many digits, which a number reads as infinity and an integer may clamp. */
export const isDigits = (text: string) => /^\d+$/.test(text);

/** A number within the bounds, in one of its spellings. */
export function numberText(random: Random, min: number, max: number): string {
  const value = random.chance(0.2) ? random.pick([min, max]) : random.between(min, max);
  const spelling = random.pick([
    () => `${value}`,
    () => value.toExponential(),
    () => ` ${value}\t`,
    () => (value >= 0 ? `+${value}` : `${value}`),
    () => `${Math.trunc(value)}.`,
    () => `${Math.trunc(value)}`,
  ])();
  return Number(spelling) >= min && Number(spelling) <= max ? spelling : `${value}`;
}

type Schema = { readonly [keyword: string]: unknown };

const LIMIT = 1e6;

/** A value for a query parameter whose schema is an enumeration, a boolean, a number or an integer. */
export function valueFor(random: Random, schema: Schema): Value {
  if (random.chance(0.15)) return badText(random, schema);
  const choices = choicesOf(schema);
  if (choices) return { text: random.pick(choices), verdict: 'good' };
  if (schema.type === 'integer') {
    const max = (schema.maximum as number | undefined) ?? 3000;
    return { text: `${1 + random.below(max)}`, verdict: 'good' };
  }
  const above = schema.exclusiveMinimum as number | undefined;
  const min = above === undefined ? ((schema.minimum as number | undefined) ?? -LIMIT) : above + 1e-9;
  return { text: numberText(random, min, (schema.maximum as number | undefined) ?? LIMIT), verdict: 'good' };
}

/** The strings that a parameter accepts, if they can be enumerated. */
function choicesOf(schema: Schema): readonly string[] | undefined {
  return schema.type === 'boolean' ? ['true', 'false'] : (schema.enum as string[] | undefined);
}

function badText(random: Random, schema: Schema): Value {
  const { minimum, exclusiveMinimum, maximum } = schema as Record<string, number | undefined>;
  const outside: string[] = [''];
  if (minimum !== undefined) outside.push(`${minimum - 0.001}`, `${minimum - 1}`, '-1e300');
  if (exclusiveMinimum !== undefined) outside.push(`${exclusiveMinimum}`, '-0', '-1');
  if (maximum !== undefined) outside.push(`${maximum + 0.001}`, '1e300');
  const choices = choicesOf(schema);
  if (choices) outside.push(`${choices[0]} `, `${choices[0]}`.toUpperCase(), `${choices}`);
  const text = random.chance(0.5) ? random.pick(outside) : random.pick(HOSTILE_TEXTS);
  if (choices?.includes(text)) return { text, verdict: 'good' };
  // An integer of endless digits is clamped, and a number without a bound may hold the shorter ones.
  return { text, verdict: isDigits(text) ? 'open' : 'bad' };
}

/** JSON of the wrong type for nearly everything. */
export const HOSTILE_JSON: readonly string[] = [
  ...[
    'true',
    'false',
    '""',
    '"5"',
    '"\\u0000"',
    '"\\ud800"',
    '[]',
    '[1]',
    '{}',
    '{"a": 1}',
    '"NaN"',
    '1e999',
    '-1e999',
    '[[[[[]]]]]',
  ],
  ...['-1', '{"__proto__": {"kind": "id"}}', '"\\u202e"', `"${'x'.repeat(3000)}"`, '{"": ""}'],
];

/** Bodies that are not JSON objects. */
export const BROKEN_BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[]',
    'null',
    '7',
    '"x"',
    '{"inputs": [NaN]}',
    '{"inputs": [Infinity]}',
    "{'inputs': 1}",
    '{"inputs": [],}',
  ],
  ...[
    '{"inputs": [01]}',
    '{"inputs": [+1]}',
    '{"inputs": [.5]}',
    '{"inputs": "\n"}',
    '{"a": 1} x',
    '\ufeff\ufeff{}',
    '{"a" 1}',
    'a=b&c=d',
  ],
  ...[`${'['.repeat(5000)}${']'.repeat(5000)}`, `{"inputs": ${'{"a": '.repeat(2000)}1${'}'.repeat(2000)}}`],
  ...[
    [0xff, 0xfe],
    [0x7b, 0xc0, 0x80, 0x7d],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0, 0, 0],
  ].map(bytes => new Uint8Array(bytes)),
];
