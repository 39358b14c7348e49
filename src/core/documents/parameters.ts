/**
 * What a parameter has, and the parameters that several operations share. Requests are parsed with tables of parameters.
 * The OpenAPI document lists the parameters in the order of a table. They are checked in the order in which the
 * operation reads them.
 */
import type { Config } from '../config/config.ts';
import { requestLimits } from '../config/described_limits.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import {
  DEFAULT_DETAIL,
  DEFAULT_LISTED_STATUS,
  DEFAULT_RESPONSE,
  DEFAULT_TIME_FIELD,
  LISTED_STATUSES,
} from '../contract/enums.ts';
import { FORMATS } from '../contract/formats.ts';
import { type Kind, named, textual } from '../contract/kind.ts';
import { DEFAULT_CREDIBLE_LEVEL, MAX_FOLLOWED_RADIUS_ARCSEC } from '../contract/limits.ts';
import { RA_UNITS } from '../contract/table_match.ts';
import * as kinds from './kinds.ts';

/** A parameter. Its name is its key in the operation's table. */
export interface Parameter<T = unknown> {
  readonly kind: Kind<T>;
  readonly description: string;
  /** The part of the request that contains the parameter; the query string by default. */
  readonly place?: 'path' | 'header';
  readonly default?: T;
  /** The default that the document states, if the actual default does not depend on this parameter alone. */
  readonly usual?: T;
  /** Whether the parameter is required; with `read`, it is required only if the operation reads it. */
  readonly required?: 'always' | 'read';
  /** The usage that an error message suggests if the parameter is missing; by default `NAME=NUMBER`. */
  readonly give?: string;
  /** The title of its values. Client generators make a class with this name. */
  readonly title?: string;
  /** The component of the document that describes its values. */
  readonly component?: 'DiaObjectIdStr';
}

/** Stands for all filters, which depend on the catalogs. */
export const FILTERS = { areFilters: true } as const;

export type Parameters = Readonly<Record<string, Parameter | typeof FILTERS>>;

export const DIA_OBJECT_ID = {
  kind: kinds.OBJECT_ID,
  place: 'path',
  component: 'DiaObjectIdStr',
  description: 'The identifier in decimal digits, at most 2^63 - 1.',
} satisfies Parameter;

export const DETAIL = {
  kind: kinds.DETAIL,
  title: 'DetailLevel',
  description: 'Detail level; levels are cumulative.',
  default: DEFAULT_DETAIL,
} satisfies Parameter;

export const RESPONSE = {
  kind: kinds.RESPONSE,
  title: 'ResponseMode',
  description: 'What to answer.',
  default: DEFAULT_RESPONSE,
} satisfies Parameter;

export const TIME_FIELD = {
  kind: kinds.TIME_FIELD,
  description: 'Which time of an object the window applies to.',
  default: DEFAULT_TIME_FIELD,
} satisfies Parameter;

export const STATUS = {
  kind: named(LISTED_STATUSES),
  description: 'Which objects are listed.',
  default: DEFAULT_LISTED_STATUS,
} satisfies Parameter;

export const AT = {
  kind: kinds.JOURNAL_ENTRY,
  description:
    'A journal entry from the `X-Journal-Entry` of an earlier answer: objects are answered as they were after that ' +
    'entry. The default is the newest entry. A cursor has its entry.',
} satisfies Parameter;

export const RA_UNIT = {
  kind: named(RA_UNITS),
  description: 'The unit of decimal right ascensions that state none. By default degrees.',
} satisfies Parameter;

/** The default is the format that `Accept` prefers. */
export const FORMAT = {
  kind: named(FORMATS),
  description:
    'The format of the answer; by default the one that `Accept` prefers. Counts cannot be tables. Errors are JSON.',
  usual: 'json',
} satisfies Parameter;

export const FORMAT_AND_FILTERS = { format: FORMAT, filters: FILTERS, response: RESPONSE } satisfies Parameters;

const NOT_EMPTY = textual('a text', text => text, { minLength: 1 });
export const cursor = (description: string) => ({ kind: NOT_EMPTY, description });

/** The number of objects per page. Values above `max` are accepted and count as `max`. */
export function pageSize(usual: number, max: number) {
  const kind = kinds.pageSizeUpTo(max);
  const description = `Maximum number of objects on a page. Values above ${max} count as ${max}.`;
  return { kind, description, default: Math.min(usual, max) } satisfies Parameter;
}

function listingPageSize(config: Config) {
  const { default_page_size, max_page_size } = requestLimits(config).recent_crossmatches;
  return pageSize(default_page_size, max_page_size);
}

/** The centre of a circle. `of` completes "ICRS right ascension of". */
export function centre<Required extends 'always' | 'read'>(of: string, required: Required) {
  return {
    ra: { kind: kinds.RIGHT_ASCENSION, description: `ICRS right ascension of ${of}`, required },
    dec: { kind: kinds.DECLINATION, description: `ICRS declination of ${of}`, required },
  } satisfies Parameters;
}

export const TNS_NAME = {
  kind: kinds.TNS_NAME,
  place: 'path',
  description: 'Name in the registry, bare or with the prefix SN or AT.',
} satisfies Parameter;

/** The time window, and the page, which a cursor selects. */
export function walkParameters(config: Config, start: string, end: string, cursorPins: string) {
  return {
    start: { kind: kinds.TIME, description: `Start of the window, inclusive. ${start}` },
    end: { kind: kinds.TIME, description: `End of the window, exclusive${end}` },
    time_field: TIME_FIELD,
    detail: DETAIL,
    page_size: listingPageSize(config),
    cursor: cursor(`The \`next_cursor\` of the previous page. It fixes ${cursorPins}`),
  } satisfies Parameters;
}

export const ISO = 'An ISO 8601 time; without an offset it is UTC.';

/** @param pinned the parameters that a cursor fixes in addition to `as_of` */
export function selectionParameters(config: Config, pinned: string) {
  const open = `${ISO} Open by default.`;
  const pins = `${pinned} and \`as_of\`; every other parameter must be given on every page.`;
  return { ...walkParameters(config, open, `. ${open}`, pins), status: STATUS };
}

/** The parameters that are common to all operations that list the objects that meet filters. */
export type SelectionParameters = ReturnType<typeof selectionParameters> & { readonly filters: typeof FILTERS };

export const AREA = {
  area: { kind: NOT_EMPTY, description: 'The area as text, instead of a body.' },
  level: {
    kind: kinds.upTo(1, 'probability'),
    description: 'For a probability map: the maximum probability that the area contains.',
    default: DEFAULT_CREDIBLE_LEVEL,
  },
} satisfies Parameters;

export const STREAM_PARAMETERS = {
  from: {
    kind: kinds.ANY_TEXT,
    description:
      'Where to start, unless `Last-Event-ID` is given: `now`, `beginning`, or after the event with this id.',
    default: 'now',
  },
  'Last-Event-ID': {
    kind: kinds.ANY_TEXT,
    place: 'header',
    description: 'The id of the last event that the client received.',
  },
  ...AREA,
  radius_arcsec: {
    kind: kinds.upTo(MAX_FOLLOWED_RADIUS_ARCSEC, 'arcsec'),
    description:
      'The body is a table of positions, and the area consists of all positions within this distance of any of them.',
  },
  filters: FILTERS,
} satisfies Parameters;

export function catalogNames({ all }: Catalogs): { name: string; meaning: string }[] {
  return all.map(({ name, release }) => ({ name, meaning: release }));
}
