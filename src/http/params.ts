/**
 * The query string and its values (docs/contract.md, Query strings). Parsed by hand: the last of a repeated name wins,
 * and empty is not absent.
 */
import { SentNumber, type SentValue } from '../base/json_reader.ts';
import { toJson } from '../base/json_text.ts';
import { parseInstant } from '../base/parse_time.ts';
import type { Config } from '../config/config.ts';
import {
  DEFAULT_DETAIL,
  DEFAULT_RESPONSE,
  DEFAULT_TIME_FIELD,
  DETAIL_LEVELS,
  type DetailLevel,
  RESPONSE_MODES,
  type ResponseMode,
  TIME_FIELDS,
  type TimeField,
} from '../contract/enums.ts';
import { type Bounds, clamped, integer, type Kind, named, number, textual } from '../contract/kind.ts';
import { DEC_RANGE, LARGE_CONE_PATH, MAX_OBJECT_ID, MAX_TNS_NAME_CHARACTERS, RA_RANGE } from '../contract/limits.ts';
import { parseTnsName } from '../tns/names.ts';
import { invalidParameter, missingParameter } from './errors.ts';

/** By name, in the order in which names first occur. */
export type Search = ReadonlyMap<string, string>;

/** @param text what follows `?`, without it */
export function parseSearch(text: string): Search {
  const search = new Map<string, string>();
  if (text === '') return search;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name !== '') search.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return search;
}

/** The parameters of DALI services, whose names have no case. */
export function inUpperCase(search: Iterable<readonly [name: string, value: string]>): Search {
  return new Map(Array.from(search, ([name, value]) => [name.toUpperCase(), value]));
}

function decode(text: string): string {
  return text.includes('%') || text.includes('+') ? decodeForm(text) : text;
}

/** Decodes a form's text. A `%` that begins no escape stands for itself, and bad UTF-8 becomes U+FFFD. */
function decodeForm(text: string): string {
  return new URLSearchParams(`x=${text}`).get('x')!;
}

/** A path segment, decoded, in which slashes may be escaped. */
export function decodeWhole(segment: string): string {
  return segment.includes('%') ? decodeForm(segment.replace(/[+&]/g, encodeURIComponent)) : segment;
}

/** A path segment, decoded; undefined where it contains an encoded slash: no name has one. */
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

/** The value of a body's JSON; undefined where it is not of the kind. */
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

/** A number that the request must have. */
export function required(search: Search, name: string, kind: Kind<number>): number {
  const value = optional(search, name, kind);
  if (value === undefined) throw missingParameter(name, `${name}=NUMBER`);
  return value;
}

export const ANY_NUMBER = number();
export const RIGHT_ASCENSION = number(RA_RANGE);
export const DECLINATION = number(DEC_RANGE);
export const DETAIL = named(DETAIL_LEVELS);
export const RESPONSE = named(RESPONSE_MODES);
export const TIME_FIELD = named(TIME_FIELDS);
/** An integer of digits alone, for `limit` and `resolution`. */
export const digits = (bounds: Bounds) => integer(bounds, /^\d+$/);

export const TIME = textual('an ISO 8601 time (in a URL, + is written %2B)', parseInstant);

const radii = new WeakMap<Config, Kind<number>>();

/** The radius of a search, arcsec. */
export function radiusKind(config: Config): Kind<number> {
  const known = radii.get(config);
  if (known) return known;
  const max = config.API_MAX_CONE_RADIUS_ARCSEC;
  const larger = `for larger cones use ${LARGE_CONE_PATH}, whose radius SR is in degrees, at most ${config.VO_MAX_RADIUS_DEG}`;
  const bounded = number({ min: 0, max, aboveMin: true });
  const tooLarge = `at most ${max}`;
  const kind = { ...bounded, instead: (given: unknown) => (bounded.broken?.(given) === tooLarge ? larger : undefined) };
  radii.set(config, kind);
  return kind;
}

const INTEGER = /^[+-]?\d+$/;

/** A page size of which only the notation is checked. */
export const ANY_INTEGER = textual('an integer of at least 1', text => (INTEGER.test(text.trim()) ? text : undefined));

/** The objects on a page. */
export const pageSizeUpTo = (max: number) => clamped(1, max, INTEGER);

export function parsePageSize(search: Search, fallback: number, max: number): number {
  return optional(search, 'page_size', pageSizeUpTo(max)) ?? Math.min(fallback, max);
}

export function parseDetail(search: Search): DetailLevel {
  return optional(search, 'detail', DETAIL) ?? DEFAULT_DETAIL;
}

export function parseTimeField(search: Search): TimeField {
  return optional(search, 'time_field', TIME_FIELD) ?? DEFAULT_TIME_FIELD;
}

export function parseResponse(search: Search): ResponseMode {
  return optional(search, 'response', RESPONSE) ?? DEFAULT_RESPONSE;
}

const MAX_ID_DIGITS = 19;

/** A name of the registry. */
export const TNS_NAME = textual(
  `a TNS name such as SN 2026abc, of at most ${MAX_TNS_NAME_CHARACTERS} characters`,
  parseTnsName,
);

/** ASCII digits, leading zeros allowed, 0 to 2^63 - 1. */
export const OBJECT_ID = textual(`an integer in decimal digits, 0 to ${MAX_OBJECT_ID}`, text => {
  if (!/^\d+$/.test(text)) return undefined;
  const digits = text.length > 1 && text.startsWith('0') ? text.replace(/^0+(?=\d)/, '') : text;
  if (digits.length > MAX_ID_DIGITS) return undefined;
  const id = BigInt(digits);
  return id <= MAX_OBJECT_ID ? id : undefined;
});
