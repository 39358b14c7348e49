/**
 * Parses the query string and its values (docs/contract.md, Query strings). Parsed by hand: the last of a repeated name
 * wins, and empty is not absent.
 */

import { toJson } from '@nearsky/astrotables/json';
import { SentNumber, type SentValue } from '../base/json_reader.ts';
import type { Kind } from '../contract/kind.ts';
import { invalidParameter } from './errors.ts';

/** Parameters by name, in the order in which names first occur. */
export interface Search extends ReadonlyMap<string, string> {
  /** The names and values that another value of the same name replaced. */
  readonly replaced?: readonly (readonly [name: string, value: string])[];
}

/** @param text the part after `?` */
export function parseSearch(text: string): Search {
  if (text === '') return NOTHING;
  const search: Map<string, string> & { replaced?: (readonly [string, string])[] } = new Map();
  for (const [name, value] of pairsOf(text)) {
    const earlier = search.get(name);
    if (earlier !== undefined && earlier !== value) (search.replaced ??= []).push([name, earlier]);
    search.set(name, value);
  }
  return search;
}

const NOTHING: Search = new Map();

/** The names and values of a query string or a form, in their order; without values that have no name. */
export function* pairsOf(text: string): Iterable<[name: string, value: string]> {
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name !== '') yield [name, equals < 0 ? '' : decode(pair.slice(equals + 1))];
  }
}

/** Parameters of DALI services: their names are not case-sensitive. */
export function inUpperCase(search: Iterable<readonly [name: string, value: string]>): Search {
  return new Map(Array.from(search, ([name, value]) => [name.toUpperCase(), value]));
}

function decode(text: string): string {
  return text.includes('%') || text.includes('+') ? decodeForm(text) : text;
}

const [PLUS, SPACE, PERCENT] = [0x2b, 0x20, 0x25];
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Decodes the text of a form. A `%` that does not begin an escape stays, and invalid UTF-8 becomes U+FFFD, as with
 * `URLSearchParams`, which takes up to 57 ms for a megabyte.
 */
function decodeForm(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    const escaped = byte === PERCENT ? 16 * hexOf(bytes[i + 1]) + hexOf(bytes[i + 2]) : Number.NaN;
    bytes[length++] = byte === PLUS ? SPACE : Number.isNaN(escaped) ? byte : escaped;
    if (!Number.isNaN(escaped)) i += 2;
  }
  return UTF8.decode(bytes.subarray(0, length));
}

/** The value of a hexadecimal digit; NaN for any other character. */
function hexOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** A decoded path segment, which may contain escaped slashes. */
export function decodeWhole(segment: string): string {
  return segment.includes('%') ? decodeForm(segment.replace(/[+&]/g, encodeURIComponent)) : segment;
}

/** A decoded path segment; undefined if it contains an encoded slash, which no name does. */
export function decodeSegment(segment: string): string | undefined {
  const decoded = decodeWhole(segment);
  return decoded.includes('/') ? undefined : decoded;
}

/** The value of a parameter. @throws ApiError naming it */
export function parameterOf<T>(kind: Kind<T>, name: string, text: string): T {
  const value = kind.parseText(text);
  if (value !== undefined) return value;
  throw invalidParameter(name, kind.broken?.(text) ?? kind.must, text, kind.instead?.(text));
}

/** A value in a JSON body; undefined if it is not of the kind. */
export function accepted<T>(kind: Kind<T>, given: SentValue | undefined): T | undefined {
  return kind.parse(given instanceof SentNumber ? given.value : given);
}

/** The value of a body's field. @throws ApiError naming it */
export function fieldOf<T>(kind: Kind<T>, name: string, given: SentValue | undefined): T {
  const value = accepted(kind, given);
  if (value !== undefined) return value;
  const shown = given === undefined ? 'nothing' : toJson(given);
  const number = given instanceof SentNumber ? given.value : undefined;
  throw invalidParameter(name, kind.broken?.(number) ?? kind.must, shown, kind.instead?.(number));
}

/** A parameter that the request may have. */
export function optional<T>(search: Search, name: string, kind: Kind<T>): T | undefined {
  const text = search.get(name);
  return text === undefined ? undefined : parameterOf(kind, name, text);
}
