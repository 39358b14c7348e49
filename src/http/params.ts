/**
 * The query string and its values (docs/contract.md, Query strings). Parsed by hand: the last of a repeated name wins,
 * and empty is not absent.
 */
import { type Instant, parseInstant } from '../base/parse_time.ts';
import type { Config } from '../config/config.ts';
import {
  DEFAULT_DETAIL,
  DEFAULT_RESPONSE,
  DEFAULT_TIME_FIELD,
  DETAIL_LEVELS,
  type DetailLevel,
  namesOf,
  RESPONSE_MODES,
  type ResponseMode,
  TIME_FIELDS,
  type TimeField,
} from '../contract/enums.ts';
import { DEC_RANGE, LARGE_CONE_PATH, MAX_OBJECT_ID, MAX_TNS_NAME_CHARACTERS, RA_RANGE } from '../contract/limits.ts';
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

export interface Bounds {
  /** Inclusive. */
  readonly min: number;
  /** Inclusive. */
  readonly max: number;
  /** Whether the minimum itself is excluded. */
  readonly aboveMin?: boolean;
  /** Advice for a value above the maximum, which completes the message of the error. */
  readonly above?: () => string;
}

export const RA_BOUNDS: Bounds = RA_RANGE;
export const DEC_BOUNDS: Bounds = DEC_RANGE;

const DIGITS = /^\d+$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A finite number in decimal notation. */
export function parseNumber(name: string, text: string): number {
  const trimmed = text.trim();
  const value = DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(value)) throw invalidParameter(name, 'a finite decimal number', text);
  return value;
}

export function isWithin(value: number, { min, max, aboveMin = false }: Bounds): boolean {
  return (aboveMin ? value > min : value >= min) && value <= max;
}

export function checkBounds(name: string, value: number, { min, max, aboveMin = false, above }: Bounds): number {
  if (aboveMin ? !(value > min) : !(value >= min))
    throw invalidParameter(name, aboveMin ? `above ${min}` : `at least ${min}`, value);
  if (!(value <= max)) throw invalidParameter(name, `at most ${max}`, value, above?.());
  return value;
}

/** The radius of a search, arcsec. */
export function radiusBounds(config: Config): Bounds {
  return { min: 0, max: config.API_MAX_CONE_RADIUS_ARCSEC, aboveMin: true, above: () => largerCones(config) };
}

function largerCones({ VO_MAX_RADIUS_DEG }: Config): string {
  return `for larger cones use ${LARGE_CONE_PATH}, whose radius SR is in degrees, at most ${VO_MAX_RADIUS_DEG}`;
}

/** A number that the request may have. */
export function optionalNumber(search: Search, name: string, bounds: Bounds): number | undefined {
  const text = search.get(name);
  return text === undefined ? undefined : checkBounds(name, parseNumber(name, text), bounds);
}

/** A number that the request must have. */
export function requiredNumber(search: Search, name: string, bounds: Bounds): number {
  const value = optionalNumber(search, name, bounds);
  if (value === undefined) throw missingParameter(name, `${name}=NUMBER`);
  return value;
}

/** An integer without a sign that the request may have. */
export function optionalInteger(search: Search, name: string, bounds: Bounds): number | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  if (!DIGITS.test(text.trim())) throw invalidParameter(name, 'an integer', text);
  return checkBounds(name, Number(text), bounds);
}

/** A time that the request may have. */
export function optionalTime(search: Search, name: string): Instant | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (!instant) throw invalidParameter(name, 'an ISO 8601 time (in a URL, + is written %2B)', text);
  return instant;
}

const INTEGER = /^[+-]?\d+$/;
const PAGE_SIZE = 'an integer >= 1';

/** At least 1; a larger value than `max` counts as `max`. */
export function parsePageSize(search: Search, fallback: number, max: number): number {
  return clampPageSize(parsePageSizeInteger(search) ?? fallback, max);
}

/** Any integer; undefined where there is none. */
export function parsePageSizeInteger(search: Search): number | undefined {
  const text = search.get('page_size');
  if (text === undefined) return undefined;
  if (!INTEGER.test(text.trim())) throw invalidParameter('page_size', PAGE_SIZE, text);
  return Number(text);
}

export function clampPageSize(size: number, max: number): number {
  if (!(size >= 1)) throw invalidParameter('page_size', PAGE_SIZE, size);
  return Math.min(size, max);
}

export function parseDetail(search: Search): DetailLevel {
  return checkDetail(search.get('detail') ?? DEFAULT_DETAIL);
}

export function checkDetail(text: string): DetailLevel {
  return checkName('detail', DETAIL_LEVELS, text);
}

export function parseTimeField(search: Search): TimeField {
  return checkName('time_field', TIME_FIELDS, search.get('time_field') ?? DEFAULT_TIME_FIELD);
}

export function parseResponse(search: Search): ResponseMode {
  return checkName('response', RESPONSE_MODES, search.get('response') ?? DEFAULT_RESPONSE);
}

/** One of the names of a list, exactly. */
export function checkName<T extends string>(param: string, list: readonly { readonly name: T }[], text: string): T {
  for (const { name } of list) if (name === text) return name;
  throw invalidParameter(param, `one of ${namesOf(list).join(', ')}`, text);
}

const MAX_ID_DIGITS = 19;

/** The form of a valid name of the registry, for messages. */
export const TNS_NAME = `a TNS name such as SN 2026abc, of at most ${MAX_TNS_NAME_CHARACTERS} characters`;

/** ASCII digits, leading zeros allowed, 0 to 2^63 - 1. */
export function parseObjectId(text: string): bigint {
  const id = objectIdOf(text);
  if (id === undefined) throw invalidParameter('diaObjectId', OBJECT_ID, text);
  return id;
}

export const OBJECT_ID = `an integer in decimal digits, 0 to ${MAX_OBJECT_ID}`;

/** Like `parseObjectId`, but undefined where the text is no id. */
export function objectIdOf(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const digits = text.length > 1 && text.startsWith('0') ? text.replace(/^0+(?=\d)/, '') : text;
  if (digits.length > MAX_ID_DIGITS) return undefined;
  const id = BigInt(digits);
  return id <= MAX_OBJECT_ID ? id : undefined;
}
