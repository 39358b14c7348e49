/**
 * The parameters of each operation: their kinds, limits, defaults and meanings. Requests are parsed with these tables.
 * The OpenAPI document lists the parameters in this order. They are checked in the order in which the operation reads
 * them.
 */
import { memoized } from '../base/memoized.ts';
import type { Config } from '../config/config.ts';
import { defaultConePageSize, requestLimits } from '../config/described_limits.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import {
  AREA_RESPONSES,
  DEFAULT_DETAIL,
  DEFAULT_LISTED_STATUS,
  DEFAULT_MAP_LAYER,
  DEFAULT_RESPONSE,
  DEFAULT_TIME_FIELD,
  LISTED_STATUSES,
  MAP_LAYERS,
  OBJECT_STATUSES,
} from '../contract/enums.ts';
import { FORMATS, MATCH_FORMATS } from '../contract/formats.ts';
import { flag, integer, type Kind, named, textual } from '../contract/kind.ts';
import {
  DEFAULT_CREDIBLE_LEVEL,
  DEFAULT_MAP_RESOLUTION,
  DEFAULT_SOURCES_LIMIT,
  DEFAULT_WINDOW_HOURS,
  MAP_RESOLUTION_RANGE,
  MAX_FOLLOWED_RADIUS_ARCSEC,
  MAX_JOB_WAIT_SECONDS,
  MAX_MAP_RADIUS_DEG,
  MAX_SOURCES_RADIUS_ARCSEC,
  SOURCES_LIMIT_RANGE,
} from '../contract/limits.ts';
import {
  againstNames,
  DEFAULT_MATCH_RADIUS_ARCSEC,
  FINDS,
  MAX_MATCH_RADIUS_ARCSEC,
  ROWS_KEPT,
} from '../contract/table_match.ts';
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

/** The default is the format that `Accept` prefers. */
export const FORMAT = {
  kind: named(FORMATS),
  description:
    'The format of the answer; by default the one that `Accept` prefers. Counts cannot be tables. Errors are JSON.',
  usual: 'json',
} satisfies Parameter;

const FORMAT_AND_FILTERS = { format: FORMAT, filters: FILTERS, response: RESPONSE } satisfies Parameters;

const NOT_EMPTY = textual('a text', text => text, { minLength: 1 });
const cursor = (description: string) => ({ kind: NOT_EMPTY, description });

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
function centre<Required extends 'always' | 'read'>(of: string, required: Required) {
  return {
    ra: { kind: kinds.RIGHT_ASCENSION, description: `ICRS right ascension of ${of}`, required },
    dec: { kind: kinds.DECLINATION, description: `ICRS declination of ${of}`, required },
  } satisfies Parameters;
}

export const LOOKUP_PARAMETERS = { format: FORMAT } satisfies Parameters;

export const OBJECT_PARAMETERS = {
  diaObjectId: {
    kind: kinds.OBJECT_ID,
    place: 'path',
    component: 'DiaObjectIdStr',
    description: 'The identifier in decimal digits, at most 2^63 - 1.',
  },
  detail: DETAIL,
  ...FORMAT_AND_FILTERS,
  at: AT,
} satisfies Parameters;

export const coneParameters = memoized((config: Config) => {
  const unlessCursor = 'Required without `cursor`.';
  return {
    ...centre(`the position. ${unlessCursor}`, 'read'),
    radius_arcsec: {
      kind: kinds.radiusKind(config),
      description: `Radius of the search, inclusive. ${unlessCursor}`,
      required: 'read',
    },
    detail: DETAIL,
    page_size: pageSize(defaultConePageSize(config), config.API_MAX_OBJECTS_PER_REQUEST),
    cursor: cursor(
      'The `next_cursor` of the previous page. It fixes `ra`, `dec`, `radius_arcsec`, `detail` and `as_of`, but not the filters, ' +
        'which must be given on every page. Not allowed with `response=count`.',
    ),
    ...FORMAT_AND_FILTERS,
    at: AT,
  } satisfies Parameters;
});

export const TNS_NAME = {
  kind: kinds.TNS_NAME,
  place: 'path',
  description: 'Name in the registry, bare or with the prefix SN or AT.',
} satisfies Parameter;

export const tnsParameters = memoized((config: Config) => {
  return {
    name: TNS_NAME,
    radius_arcsec: {
      kind: kinds.radiusKind(config),
      description: "Radius of the search around the name's position, inclusive.",
      default: config.TNS_MATCH_RADIUS_ARCSEC,
    },
    detail: DETAIL,
    ...FORMAT_AND_FILTERS,
  } satisfies Parameters;
});

/** The time window, and the page, which a cursor selects. */
function walkParameters(config: Config, start: string, end: string, cursorPins: string) {
  return {
    start: { kind: kinds.TIME, description: `Start of the window, inclusive. ${start}` },
    end: { kind: kinds.TIME, description: `End of the window, exclusive${end}` },
    time_field: TIME_FIELD,
    detail: DETAIL,
    page_size: listingPageSize(config),
    cursor: cursor(`The \`next_cursor\` of the previous page. It fixes ${cursorPins}`),
  } satisfies Parameters;
}

const ISO = 'An ISO 8601 time; without an offset it is UTC.';

export const recentParameters = memoized((config: Config) => {
  const { max_window_hours } = requestLimits(config).recent_crossmatches;
  return {
    ...walkParameters(
      config,
      `${ISO} Default: ${DEFAULT_WINDOW_HOURS} hours before \`end\`.`,
      `, at most ${max_window_hours} hours after \`start\`. ${ISO} Default: now.`,
      '`start`, `end`, `time_field`, `detail` and `as_of`; a conflicting value is refused.',
    ),
    format: FORMAT,
  } satisfies Parameters;
});

/** @param pinned the parameters that a cursor fixes in addition to `as_of` */
function selectionParameters(config: Config, pinned: string) {
  const open = `${ISO} Open by default.`;
  const pins = `${pinned} and \`as_of\`; every other parameter must be given on every page.`;
  return { ...walkParameters(config, open, `. ${open}`, pins), status: STATUS };
}

/** The parameters that are common to all operations that list the objects that meet filters. */
export type SelectionParameters = ReturnType<typeof selectionParameters> & { readonly filters: typeof FILTERS };

const AREA = {
  area: { kind: NOT_EMPTY, description: 'The area as text, instead of a body.' },
  level: {
    kind: kinds.upTo(1, 'probability'),
    description: 'For a probability map: the maximum probability that the area contains.',
    default: DEFAULT_CREDIBLE_LEVEL,
  },
} satisfies Parameters;

export const areaParameters = memoized((config: Config) => {
  return {
    ...AREA,
    ...selectionParameters(config, 'the area, `level`, `time_field`, `status`'),
    format: FORMAT,
    filters: FILTERS,
    response: { kind: named(AREA_RESPONSES), description: 'What to answer.', default: DEFAULT_RESPONSE },
    at: AT,
  } satisfies Parameters;
});

export const objectsParameters = memoized((config: Config) => {
  return {
    ...selectionParameters(config, '`time_field`, `status`'),
    ...FORMAT_AND_FILTERS,
    at: AT,
  } satisfies Parameters;
});

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

type Status = (typeof OBJECT_STATUSES)[number];

function isStored(status: Status): status is Exclude<Status, { readonly name: 'not_in_service' }> {
  return status.name !== 'not_in_service';
}

export const OBJECT_STREAM_PARAMETERS = {
  ...STREAM_PARAMETERS,
  status: {
    kind: named(OBJECT_STATUSES.filter(isStored)),
    description: 'Only changes that leave the object in this status.',
  },
} satisfies Parameters;

export function catalogNames({ all }: Catalogs): { name: string; meaning: string }[] {
  return all.map(({ name, release }) => ({ name, meaning: release }));
}

const sourcesLimit = (description: string) => ({
  kind: kinds.digits({ ...SOURCES_LIMIT_RANGE, unit: 'count' }),
  description,
  default: DEFAULT_SOURCES_LIMIT,
});

export const sourcesParameters = memoized((catalogs: Catalogs) => {
  return {
    ...centre('the position.', 'always'),
    radius_arcsec: {
      kind: kinds.upTo(MAX_SOURCES_RADIUS_ARCSEC, 'arcsec'),
      description: 'Radius of the search, inclusive.',
      required: 'always',
    },
    error_arcsec: {
      kind: kinds.POSITION_ERROR_ARCSEC,
      description:
        'The 1σ error of the position along each axis, for the probabilities of the sources. Without it, the error is unknown.',
    },
    catalog: { kind: named(catalogNames(catalogs)), description: 'The catalog to search; every one by default.' },
    limit: sourcesLimit('Maximum number of listed sources; `count` includes all.'),
    format: FORMAT,
  } satisfies Parameters;
});

export const sourceParameters = memoized((catalogs: Catalogs) => {
  const someText = catalogs.all.some(({ idType }) => idType === 'text');
  return {
    catalog: { kind: named(catalogNames(catalogs)), place: 'path', description: 'The catalog.' },
    catalog_source_id: {
      kind: kinds.SOURCE_ID[someText ? 'text' : 'int64'],
      place: 'path',
      description: `The id of the source: a 64-bit integer${someText ? ' or, for a catalog with text ids, a text' : ''}.`,
    },
    limit: sourcesLimit('Maximum number of listed objects.'),
    format: FORMAT,
  } satisfies Parameters;
});

export const tableParameters = memoized((catalogs: Catalogs) => {
  const column = (of: string) => ({
    kind: kinds.ANY_TEXT,
    description: `The column of ${of}. By default it is found by its UCD or its name.`,
  });
  return {
    against: {
      kind: named(againstNames(catalogs)),
      description: 'The objects, or the catalog, to match with.',
      default: 'objects',
    },
    radius_arcsec: {
      kind: kinds.upTo(MAX_MATCH_RADIUS_ARCSEC, 'arcsec'),
      description: 'Radius of the search, inclusive.',
      default: DEFAULT_MATCH_RADIUS_ARCSEC,
    },
    find: { kind: named(FINDS), description: 'The matches that a row gets.', default: 'nearest' },
    rows: { kind: named(ROWS_KEPT), description: 'The rows of the answer.', default: 'all' },
    format: {
      kind: named(MATCH_FORMATS),
      description:
        'The format of the answer. By default the format that `Accept` names, or else that of the table (VOTable for FITS).',
    },
    ra: column('right ascensions: degrees, or sexagesimal hours; of whole positions where `dec` is not given'),
    dec: column('declinations'),
    columns: {
      kind: kinds.ANY_TEXT,
      description:
        'The columns of the table that are copied to the answer, separated by commas; put a name with a comma in quotes. By default all.',
    },
    frame: {
      kind: kinds.ANY_TEXT,
      description:
        'The frame of the positions: `ICRS`, `FK5 J1975` or `FK4 B1950` (of any equinox), `galactic`. By default the frame that the table or the names of its columns declare, or else ICRS.',
    },
    error_arcsec: {
      kind: kinds.POSITION_ERRORS,
      description:
        'The 1σ error of the positions along each axis, for the probabilities of matches with a catalog: a number of arcsec for all rows, the name of a column, or the names of two (right ascension, with the factor cos(dec); declination), separated by a comma. Columns may have another unit of angles. Without it, the errors are unknown.',
    },
    epoch: {
      kind: kinds.ANY_TEXT,
      description:
        'The time at which the positions were observed, to compare sources with a proper motion where they were then: a Julian year (`2026.3`), a date (`2026-04-20`) for all rows, or the name of a column (Julian years, Julian or modified Julian dates, or times in ISO 8601). Rows without an epoch, and all rows without this parameter, are compared with the positions in the catalog.',
    },
    Prefer: {
      kind: kinds.ANY_TEXT,
      place: 'header',
      description: 'With `respond-async` the request becomes a job, and the answer has its address.',
    },
  } satisfies Parameters;
});

const ALL_OF_DISC = 'Give `ra`, `dec` and `radius_deg` together, or none of them for the whole sky.';

export const SKY_MAP_PARAMETERS = {
  layer: { kind: named(MAP_LAYERS), description: 'What the cells show.', default: DEFAULT_MAP_LAYER },
  resolution: {
    kind: kinds.digits({ ...MAP_RESOLUTION_RANGE, unit: 'H3 resolution' }),
    description: 'Resolution of the H3 cells: 0 has 122 cells; each next one has about seven times as many.',
    default: DEFAULT_MAP_RESOLUTION,
  },
  ...centre(`the middle of a disc. ${ALL_OF_DISC}`, 'read'),
  radius_deg: {
    kind: kinds.upTo(MAX_MAP_RADIUS_DEG, 'deg'),
    description: `Radius of a disc. Every cell that it touches is listed. ${ALL_OF_DISC}`,
    required: 'read',
  },
  partial: {
    kind: { ...flag(), must: 'one of true, false' },
    description:
      'Whether to answer even during the count of the objects, which happens once per database; `uncounted` is then above 0. ' +
      'By default such a request gets 503.',
    default: false,
  },
} satisfies Parameters;

const RUN = { name: 'RUN', meaning: 'starts the job' } as const;
const ABORT = { name: 'ABORT', meaning: 'stops the job' } as const;

export const NEW_JOB_PARAMETERS = {
  PHASE: { kind: { ...named([RUN]), must: 'RUN, or left out' }, description: 'Whether the job starts at once.' },
  RUNID: { kind: kinds.ANY_TEXT, description: 'A name that the client gives the job, for its own use.' },
  EXECUTIONDURATION: { kind: kinds.JOB_SECONDS, description: 'The time limit of the job; 0 for the maximum.' },
} satisfies Parameters;

/** The filters of a list of jobs (UWS 1.1, section 2.2.2.1). Their names are not case-sensitive. */
export const JOB_LIST_PARAMETERS = {
  PHASE: { kind: kinds.JOB_PHASE, description: 'Only jobs in this phase, or in one of several if it is repeated.' },
  AFTER: { kind: kinds.JOB_TIME, description: 'Only jobs made after this time.' },
  LAST: { kind: integer({ min: 1, unit: 'count' }), description: 'Only so many of the newest jobs.' },
} satisfies Parameters;

/** The parameters of a whole job (UWS 1.1, sections 2.2.1 and 2.2.3). Their names are not case-sensitive. */
export const JOB_PARAMETERS = {
  WAIT: {
    kind: kinds.JOB_WAIT,
    description: `How long to wait for another phase, at most ${MAX_JOB_WAIT_SECONDS} s; a negative value means the maximum.`,
    default: 0,
  },
  PHASE: { kind: kinds.ANY_TEXT, description: 'The phase whose end to wait for; by default the current one.' },
} satisfies Parameters;

export const JOB_ACTION = {
  ACTION: {
    kind: named([{ name: 'DELETE', meaning: 'removes the job' }]),
    description: 'What to do with the job.',
    required: 'always',
  },
} satisfies Parameters;

/** The parameters of a POST that changes one resource of a job, by the name of the resource in upper case. */
export const JOB_CHANGES = {
  PHASE: { kind: { ...named([ABORT, RUN]), must: 'ABORT or RUN' }, description: 'What to do with the job.' },
  DESTRUCTION: {
    kind: kinds.JOB_TIME,
    description: 'When the job and its result are removed; cannot be postponed.',
  },
  EXECUTIONDURATION: {
    kind: kinds.JOB_SECONDS,
    description: 'The time limit of a job that has not started; 0 for the maximum.',
  },
} satisfies Parameters;
