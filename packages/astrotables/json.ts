/** Reads and writes JSON. A 64-bit integer is a bigint, and keeps every digit. */

/** A value whose JSON text is known already. */
export class Rendered {
  readonly text: string;

  /** @param text JSON, ASCII only */
  constructor(text: string) {
    this.text = text;
  }
}

/** A form of JSON text. */
export interface JsonForm {
  readonly comma: string;
  readonly colon: string;
  /** Whether characters beyond ASCII are escaped. */
  readonly isAscii: boolean;
  /** Whether a number that is an integer beyond 2^53 gets an exponent, so that every integer literal is exact. */
  readonly hasExponents: boolean;
  /** Whether the keys of objects are sorted by their UTF-16 code units. */
  readonly isSorted: boolean;
}

/** The usual form: `": "` and `", "`; its length is its bytes, because it is ASCII. */
const USUAL: JsonForm = { comma: ', ', colon: ': ', isAscii: true, hasExponents: false, isSorted: false };
/** Without spaces, and with characters beyond ASCII unescaped. */
export const COMPACT: JsonForm = { comma: ',', colon: ':', isAscii: false, hasExponents: true, isSorted: false };
/** The compact form of values that JSON.stringify cannot write. */
const COMPACT_BY_HAND: JsonForm = { ...COMPACT };
/** The form for hashing and comparing: equal data give equal strings. */
export const CANONICAL: JsonForm = { ...COMPACT, isSorted: true };

/**
 * The JSON text of plain data: null, booleans, numbers, bigints, strings, arrays, objects, maps, `Rendered`. A member
 * whose value is undefined is left out. Numbers are shortest round-trip; NaN and the infinities are null.
 * @throws TypeError for a function, a symbol, and undefined elsewhere
 */
export function toJson(value: unknown, form: JsonForm = USUAL): string {
  switch (typeof value) {
    case 'string':
      return stringText(value, form);
    case 'number':
      if (!Number.isFinite(value)) return 'null';
      return form.hasExponents && isUnsafeInteger(value) ? value.toExponential() : `${value}`;
    case 'bigint':
    case 'boolean':
      return `${value}`;
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Rendered) return value.text;
      if (form === COMPACT) return isCompactNatively(value) ? JSON.stringify(value) : toJson(value, COMPACT_BY_HAND);
      if (Array.isArray(value)) return arrayText(value, form);
      if (value instanceof Map) return mapText(value, form);
      return objectText(value as Readonly<Record<string, unknown>>, form);
    default:
      throw new TypeError(`Cannot write a ${typeof value} as JSON`);
  }
}

/** Joins all parts at once: for a large text this is a third less work for the garbage collector than appending. */
function arrayText(values: readonly unknown[], form: JsonForm): string {
  const texts: string[] = [];
  for (const value of values) texts.push(toJson(value, form));
  return `[${texts.join(form.comma)}]`;
}

function objectText(members: Readonly<Record<string, unknown>>, form: JsonForm): string {
  if (form.isSorted) {
    const names = Object.keys(members).sort();
    return mapText(
      names.map(name => [name, members[name]]),
      form,
    );
  }
  let text = '{';
  for (const key in members) {
    const value = members[key];
    if (value === undefined) continue;
    text += `${text.length === 1 ? '' : form.comma}${stringText(key, form)}${form.colon}${toJson(value, form)}`;
  }
  return `${text}}`;
}

function mapText(members: Iterable<readonly [string, unknown]>, form: JsonForm): string {
  let text = '{';
  for (const [key, value] of members) {
    if (value === undefined) continue;
    text += `${text.length === 1 ? '' : form.comma}${stringText(key, form)}${form.colon}${toJson(value, form)}`;
  }
  return `${text}}`;
}

/**
 * Whether JSON.stringify writes the value in the compact form. It does so for nearly every value, and is ten times as
 * fast.
 */
function isCompactNatively(value: unknown): boolean {
  switch (typeof value) {
    case 'number':
      return !isUnsafeInteger(value);
    case 'object':
      if (value === null) return true;
      if (value instanceof Rendered || value instanceof Map) return false;
      return Object.values(value).every(isCompactNatively);
    default:
      return typeof value === 'string' || typeof value === 'boolean';
  }
}

function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const PLAIN = /^[ !#-[\]-~]*$/;

function stringText(text: string, form: JsonForm): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const escaped = JSON.stringify(text);
  return form.isAscii ? escaped.replace(/[\u007f-\uffff]/g, escapeUnit) : escaped;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** For `JSON.stringify`, which takes whatever has a `toJSON`: makes a bigint a string of its digits. */
export function bigintAsString(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

/**
 * The integer literals that become bigints. `wide`: those that a double might not hold. `int64`: of these, those that 64
 * bits hold; larger ones are rounded. `all`: every one.
 */
export type Bigints = 'wide' | 'int64' | 'all';

/**
 * Parses strict JSON to plain data.
 * @throws SyntaxError
 */
export function parseJson(text: string, bigints: Bigints = 'wide'): unknown {
  // Most strings have no such literal, and are parsed several times as fast without a reviver.
  const isPlain = bigints !== 'all' && !WIDE_MEMBER.test(text) && !WIDE_ALONE.test(text);
  return isPlain ? JSON.parse(text) : JSON.parse(text, REVIVERS[bigints]);
}

/**
 * A number that starts with 16 digits: a double might not hold such an integer. A match may also be inside a string. One
 * expression for both, with `^`, would take two and a half times as long.
 */
const WIDE_MEMBER = /[[:,]\s*-?\d{16}/;
const WIDE_ALONE = /^\s*-?\d{16}/;

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const all: Reviver = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
};
const wide: Reviver = (key, value, context) => (Number.isSafeInteger(value) ? value : all(key, value, context));
const int64: Reviver = (key, value, context) => {
  const exact = wide(key, value, context);
  if (typeof exact !== 'bigint') return value;
  return BigInt.asIntN(64, exact) === exact || BigInt.asUintN(64, exact) === exact ? exact : value;
};
const REVIVERS: Readonly<Record<Bigints, Reviver>> = { all, wide, int64 };
