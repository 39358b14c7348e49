/** Reads and checks the fields of an import line. */

import { bigintAsString } from '@nearsky/astrotables/json';
import { asObject, type JsonObject } from '../../core/base/json_reader.ts';
import { parseTime } from '../../core/base/parse_time.ts';
import { integer, type Kind, textual } from '../../core/contract/kind.ts';
import { STORED_IDS } from '../../core/contract/limits.ts';
import { integerId, isTextId, TEXT_ID } from '../../core/contract/source_ids.ts';
import { parseId } from '../ingest/normalise.ts';

/** An unusable line. The message gives the reason. */
export class LineError extends Error {
  override name = 'LineError';
}

/**
 * A field of a JSON object.
 * @throws LineError if the field is missing or is not of this kind
 */
export function take<T>(object: JsonObject, key: string, kind: Kind<T>): T {
  const value = object[key];
  const taken = value === undefined ? undefined : kind.parse(value);
  if (taken === undefined) throw new LineError(`${key} must be ${kind.must} (${shown(value)} was given)`);
  return taken;
}

const SHOWN_CHARACTERS = 100;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'bigint' ? `${value}` : JSON.stringify(value, bigintAsString);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** A kind that only JSON can express, so `parseText` accepts nothing. */
function json<T>(must: string, parse: (value: unknown) => T | undefined, schema: object = {}): Kind<T> {
  return { must, schema: { ...schema }, parse, parseText: () => undefined };
}

export function orNull<T>(kind: Kind<T>): Kind<T | null> {
  return json(`${kind.must}, or null`, value => (value === null ? null : kind.parse(value)));
}

/** The values of a list of at most `most` entries; undefined if the list is longer, or an entry is not of the kind. */
function listed<T>(value: unknown, most: number, parse: (entry: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value) || value.length > most) return undefined;
  const entries = value.map(parse);
  return entries.every(entry => entry !== undefined) ? entries : undefined;
}

/** A list of strings, sorted and without duplicates. */
export function sortedSet(kind: Kind<string>, most: number): Kind<string[]> {
  return json(`a list of at most ${most}, each ${kind.must}`, value => {
    const texts = listed(value, most, kind.parse);
    return texts && [...new Set(texts)].sort();
  });
}

export function listOf<T>(most: number, read: (entry: JsonObject) => T): Kind<T[]> {
  return json(`a list of at most ${most} JSON objects`, value => listed(value, most, asObject)?.map(read));
}

export const object: Kind<JsonObject> = json('a JSON object', asObject);

export const wholeNumber = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const CONTROL = /[\0-\x1f\x7f]/;

/** A string of 1 to `most` UTF-16 units without control characters or unpaired surrogates. */
export function text(most: number): Kind<string> {
  return textual(`a string of 1 to ${most} characters`, text =>
    text.length > 0 && text.length <= most && !CONTROL.test(text) && text.isWellFormed() ? text : undefined,
  );
}

export const objectId: Kind<bigint> = textual(`a string with ${STORED_IDS}`, parseId);

export const int64Text: Kind<string> = textual('a string with a 64-bit integer', text =>
  integerId(text) === undefined ? undefined : text,
);

export const sourceIdText: Kind<string> = textual(`a string with a 64-bit integer, or ${TEXT_ID}`, text =>
  isTextId(text) ? text : undefined,
);

/** Microseconds since 1970, exact. */
export const time: Kind<number> = textual('an ISO-8601 time from the year 1685 to 2255', text => {
  const timeUs = parseTime(text);
  return Number.isSafeInteger(timeUs) ? timeUs : undefined;
});
