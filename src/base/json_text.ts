/**
 * JSON text as the contract (docs/contract.md) requires it: `": "` and `", "`, ASCII only, 64-bit integers bare, NaN
 * and the infinities null.
 */

/** A value whose JSON text is known already. */
export class Rendered {
  readonly text: string;

  /** @param text JSON, ASCII only */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The JSON text of plain data: null, booleans, numbers, bigints, strings, arrays, objects, `Rendered`. A member whose
 * value is undefined is left out. Numbers are shortest round-trip; NaN and the infinities are null. The text is ASCII:
 * its length is its bytes.
 */
export function toJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null';
    case 'bigint':
    case 'boolean':
      return `${value}`;
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Rendered) return value.text;
      return Array.isArray(value) ? jsonArray(value) : jsonObject(value as Readonly<Record<string, unknown>>);
    default:
      throw new TypeError(`Cannot write a ${typeof value} as JSON`);
  }
}

/**
 * Joined at once, because a large answer then makes a third less work for the garbage collector than one text that
 * grows.
 */
function jsonArray(values: readonly unknown[]): string {
  const texts: string[] = [];
  for (const value of values) texts.push(toJson(value));
  return `[${texts.join(', ')}]`;
}

function jsonObject(members: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const key in members) {
    const value = members[key];
    if (value === undefined) continue;
    text += `${text.length === 1 ? '' : ', '}${jsonString(key)}: ${toJson(value)}`;
  }
  return `${text}}`;
}

const PLAIN = /^[ !#-[\]-~]*$/;

function jsonString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
