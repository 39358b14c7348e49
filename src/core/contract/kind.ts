/**
 * Defines valid values, once for settings, parameters, bodies, tool arguments and export lines: how a value is read
 * from text or JSON, the condition in words, and its JSON Schema.
 */
import type { Named, NameOf } from './enums.ts';

export interface Kind<T> {
  /** The condition in words, as a clause after "must be". */
  readonly must: string;
  /** The keywords of its JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The unit of a number. */
  readonly unit?: string | undefined;
  /** The values and their meanings, if there are few. */
  readonly values?: readonly Named[];
  /** Reads the value from JSON; undefined if it is invalid. */
  parse(value: unknown): T | undefined;
  /** Reads the value from the text of an option or a parameter. */
  parseText(text: string): T | undefined;
  /** The part of the condition that a string or a JSON value violates, if the condition has several parts. */
  broken?(given: unknown): string;
  /** The remedy for the client, if there is one. */
  instead?(given: unknown): string | undefined;
}

/** A kind whose values are strings in JSON, too. */
export function textual<T>(must: string, read: (text: string) => T | undefined, schema: object = {}): Kind<T> {
  const parse = (value: unknown) => (typeof value === 'string' ? read(value) : undefined);
  return { must, schema: { type: 'string', ...schema }, parse, parseText: read };
}

/** A string that matches a pattern; `trimmed` ignores the white space around it. */
export function matching(pattern: RegExp, must: string, trimmed = false): Kind<string> {
  return textual(must, given => {
    const text = trimmed ? given.trim() : given;
    return pattern.test(text) ? text : undefined;
  });
}

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return textual(`one of ${values.join(', ')}`, text => values.find(value => value === text), { enum: values });
}

/** One of the names in a list. */
export function named<const T extends readonly Named[]>(values: T): Kind<NameOf<T>> {
  return { ...oneOf<NameOf<T>>(values.map(({ name }) => name)), values };
}

/** Both ends are inclusive; either may be missing. */
export interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** Whether the minimum itself is excluded. */
  readonly aboveMin?: boolean;
  readonly unit?: string;
}

/** A decimal number, optionally with an exponent. */
export const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A finite number; text in decimal notation, with or without white space around it. A bigint is rounded. */
export function number(bounds: Bounds = {}): Kind<number> {
  return numeric('number', 'a finite decimal number', 'a finite JSON number', Number.isFinite, DECIMAL, bounds);
}

/** An integer that a double represents exactly. */
export function integer(bounds: Bounds = {}, notation = DECIMAL): Kind<number> {
  return numeric('integer', 'an integer', 'an integer', Number.isInteger, notation, bounds);
}

/** An integer of at least `min`. A value larger than `most` becomes `most`, however many digits it has. */
export function clamped(min: number, most: number, notation: RegExp): Kind<number> {
  const atMost = (value: number) => (value >= min ? Math.min(value, most) : undefined);
  const parse = (value: unknown) => (Number.isInteger(value) ? atMost(value as number) : undefined);
  const parseText = (text: string) => {
    const value = notation.test(text.trim()) ? Number(text) : Number.NaN;
    return Number.isInteger(value) || value === Number.POSITIVE_INFINITY ? atMost(value) : undefined;
  };
  return { must: `an integer of at least ${min}`, schema: { type: 'integer', minimum: min }, parse, parseText };
}

function numeric(
  type: 'number' | 'integer',
  inText: string,
  inJson: string,
  isOne: (value: unknown) => boolean,
  notation: RegExp,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, aboveMin = false, unit }: Bounds,
): Kind<number> {
  const [hasMin, hasMax] = [min > Number.NEGATIVE_INFINITY, max < Number.POSITIVE_INFINITY];
  const least = aboveMin ? `above ${min}` : `at least ${min}`;
  const range = aboveMin ? `${least} and at most ${max}` : hasMax ? `from ${min} to ${max}` : `of ${least}`;
  const reaches = (value: number) => (aboveMin ? value > min : value >= min);
  const parse = (value: unknown) => {
    const found = typeof value === 'bigint' ? Number(value) : (value as number);
    return isOne(found) && reaches(found) && found <= max ? found : undefined;
  };
  return {
    unit,
    must: `${type === 'integer' ? 'an' : 'a'} ${type}${hasMin ? ` ${range}` : ''}`,
    schema: {
      type,
      ...(hasMin && { [aboveMin ? 'exclusiveMinimum' : 'minimum']: min }),
      ...(hasMax && { maximum: max }),
    },
    parse,
    parseText: text => (notation.test(text.trim()) ? parse(Number(text)) : undefined),
    broken(given) {
      const isText = typeof given === 'string';
      const value = isText && !notation.test(given.trim()) ? Number.NaN : isText ? Number(given) : given;
      // An integer with more digits than a double can hold is read as infinite.
      const isInteger = type === 'integer' && hasMax && value === Number.POSITIVE_INFINITY;
      if (!isOne(value) && !isInteger) return isText ? inText : inJson;
      return reaches(value as number) ? `at most ${max}` : least;
    },
  };
}

/** True or false, with the words for them in text. */
export function flag(yes = 'true', no = 'false'): Kind<boolean> {
  return {
    must: `${yes} or ${no}`,
    schema: { type: 'boolean' },
    parse: value => (typeof value === 'boolean' ? value : undefined),
    parseText: text => (text === yes ? true : text === no ? false : undefined),
  };
}
