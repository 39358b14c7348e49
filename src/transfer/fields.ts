/** Takes the fields of an import line and checks each. */
import { parseTime } from '../base/parse_time.ts';
import { integerId, isTextId, TEXT_ID } from '../contract/source_ids.ts';
import { asObject, type JsonObject } from '../ingest/json.ts';
import { parseId } from '../ingest/normalise.ts';

/** The line is bad; the message says why. */
export class LineError extends Error {
  override name = 'LineError';
}

/** A kind of field: `must` completes "must be ..."; `read` gives undefined for a value that is not of the kind. */
export interface Kind<T> {
  readonly must: string;
  read(value: unknown): T | undefined;
}

/**
 * The field of an object.
 * @throws LineError where the field is missing or not of the kind
 */
export function take<T>(object: JsonObject, key: string, kind: Kind<T>): T {
  const value = object[key];
  const taken = value === undefined ? undefined : kind.read(value);
  if (taken === undefined) throw new LineError(`${key} must be ${kind.must} (${shown(value)} was given)`);
  return taken;
}

const SHOWN_CHARACTERS = 100;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text =
    typeof value === 'bigint' ? `${value}` : JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

export function orNull<T>(kind: Kind<T>): Kind<T | null> {
  return { must: `${kind.must}, or null`, read: value => (value === null ? null : kind.read(value)) };
}

/** A list of texts without repetitions, sorted ascending. */
export function sortedSet(kind: Kind<string>, most: number): Kind<string[]> {
  return {
    must: `a list of at most ${most}, each ${kind.must}`,
    read(value) {
      if (!Array.isArray(value) || value.length > most) return undefined;
      const texts = value.map(entry => kind.read(entry));
      return texts.every(text => text !== undefined) ? [...new Set(texts)].sort() : undefined;
    },
  };
}

export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return { must: `one of ${values.join(', ')}`, read: value => values.find(allowed => allowed === value) };
}

/** A finite JSON number; an integer literal that was parsed to a bigint is rounded. */
export function number(min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): Kind<number> {
  const atMost = max < Number.POSITIVE_INFINITY ? ` from ${min} to ${max}` : '';
  const atLeast = min > Number.NEGATIVE_INFINITY ? ` of at least ${min}` : '';
  return {
    must: `a number${atMost || atLeast}`,
    read(value) {
      const read = typeof value === 'bigint' ? Number(value) : value;
      return typeof read === 'number' && Number.isFinite(read) && read >= min && read <= max ? read : undefined;
    },
  };
}

export const integer: Kind<number> = {
  must: 'an integer from 0 to 9007199254740991',
  read: value => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined),
};

export const flag: Kind<boolean> = {
  must: 'true or false',
  read: value => (typeof value === 'boolean' ? value : undefined),
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const CONTROL = /[\0-\x1f\x7f]/;

/** Text of 1 to `most` UTF-16 units without control characters or unpaired surrogates. */
export function text(most: number): Kind<string> {
  return {
    must: `a text of 1 to ${most} characters`,
    read: value =>
      typeof value === 'string' &&
      value.length > 0 &&
      value.length <= most &&
      !CONTROL.test(value) &&
      value.isWellFormed()
        ? value
        : undefined,
  };
}

export function matching(pattern: RegExp, must: string): Kind<string> {
  return { must, read: value => (typeof value === 'string' && pattern.test(value) ? value : undefined) };
}

export const objectId: Kind<bigint> = {
  must: 'the decimal text of an integer from 0 to 9223372036854775807',
  read: parseId,
};

export const int64Text: Kind<string> = {
  must: 'the decimal text of a 64-bit integer',
  read: value => (typeof value === 'string' && integerId(value) !== undefined ? value : undefined),
};

export const sourceIdText: Kind<string> = {
  must: `the decimal text of a 64-bit integer, or ${TEXT_ID}`,
  read: value => (typeof value === 'string' && isTextId(value) ? value : undefined),
};

/** Microseconds since 1970, exact. */
export const time: Kind<number> = {
  must: 'an ISO-8601 time from the year 1685 to 2255',
  read(value) {
    const timeUs = typeof value === 'string' ? parseTime(value) : undefined;
    return Number.isSafeInteger(timeUs) ? timeUs : undefined;
  },
};

export const object: Kind<JsonObject> = { must: 'a JSON object', read: asObject };

export function listOf<T>(most: number, read: (entry: JsonObject) => T): Kind<T[]> {
  return {
    must: `a list of at most ${most} JSON objects`,
    read(value) {
      if (!Array.isArray(value) || value.length > most) return undefined;
      const entries = value.map(asObject);
      return entries.every(entry => entry !== undefined) ? entries.map(read) : undefined;
    },
  };
}
