/** The parameters of the operations, as the document lists them. */
import type { Config } from '../../config/config.ts';
import { defaultConePageSize, limitsOf } from '../../config/limits.ts';
import type { Catalogs } from '../../contract/catalogs.ts';
import {
  AREA_RESPONSES,
  DEFAULT_DETAIL,
  DEFAULT_MAP_LAYER,
  DEFAULT_RESPONSE,
  DEFAULT_TIME_FIELD,
} from '../../contract/enums.ts';
import { FORMATS, MATCH_FORMATS } from '../../contract/formats.ts';
import {
  DEFAULT_CREDIBLE_LEVEL,
  DEFAULT_MAP_RESOLUTION,
  DEFAULT_SOURCES_LIMIT,
  DEFAULT_WINDOW_HOURS,
  MAX_MAP_RADIUS_DEG,
  MAX_SOURCES_RADIUS_ARCSEC,
  SOURCES_LIMIT_RANGE,
} from '../../contract/limits.ts';
import { MAX_SOURCE_ID_BYTES } from '../../contract/source_ids.ts';
import {
  againstNames,
  DEFAULT_MATCH_RADIUS_ARCSEC,
  FINDS,
  MAX_MATCH_RADIUS_ARCSEC,
  ROWS_KEPT,
} from '../../contract/table_match.ts';
import { declination, rightAscension } from './common.ts';
import {
  catalogNames,
  detailLevel,
  filterSchema,
  pageCursor,
  pageSize,
  responseMode,
  searchRadius,
  tnsName,
} from './lookup.ts';
import { timeField } from './recent.ts';
import { boolean, integer, number, oneOfNames, ref, type Schema, text } from './schema.ts';
import { mapLayer, mapResolution } from './sky_map.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/**
 * A parameter with its schema's description, unless one is given. An enumeration keeps its own, which explains the
 * values.
 */
function parameter(place: Parameter['in'], name: string, schema: Schema, says?: string): Parameter {
  const { description, ...bare } = schema;
  return {
    name,
    in: place,
    required: place === 'path',
    description: says ?? `${description}`,
    schema: schema.enum ? schema : bare,
  };
}

const query = (name: string, schema: Schema, says?: string) => parameter('query', name, schema, says);

const detail = query('detail', { ...detailLevel, default: DEFAULT_DETAIL });

const format = query('format', {
  ...oneOfNames(
    FORMATS,
    'What the answer comes in; without it, what `Accept` prefers. Counts have no tables, and errors are JSON.',
  ),
  default: 'json',
});

function filters(catalogs: Catalogs): Parameter[] {
  return [...catalogs.filters.values()].map(filter => query(filter.name, filterSchema(filter, catalogs)));
}

/** The format, the filters, then the response mode. */
function formatAndFilters(catalogs: Catalogs): Parameter[] {
  return [format, ...filters(catalogs), query('response', { ...responseMode, default: DEFAULT_RESPONSE })];
}

export function lookupParameters(): Parameter[] {
  return [format];
}

export function objectParameters(catalogs: Catalogs): Parameter[] {
  const id = parameter(
    'path',
    'diaObjectId',
    ref('DiaObjectIdStr'),
    'The identifier in decimal digits, at most 2^63 - 1.',
  );
  return [id, detail, ...formatAndFilters(catalogs)];
}

export function coneParameters(config: Config, catalogs: Catalogs): Parameter[] {
  const unlessCursor = 'Required without `cursor`.';
  const { max_objects_per_request } = limitsOf(config);
  return [
    query('ra', rightAscension, `ICRS right ascension of the position. ${unlessCursor}`),
    query('dec', declination, `ICRS declination of the position. ${unlessCursor}`),
    query('radius_arcsec', searchRadius(config, `Radius of the search, inclusive. ${unlessCursor}`)),
    detail,
    query(
      'page_size',
      { ...pageSize, default: defaultConePageSize(config) },
      `Objects on a page at most; more than ${max_objects_per_request} count as ${max_objects_per_request}.`,
    ),
    query(
      'cursor',
      pageCursor,
      'The `next_cursor` of the page before. It pins `ra`, `dec`, `radius_arcsec`, `detail` and `as_of`, but not the filters, ' +
        'which must be given on every page. Not allowed with `response=count`.',
    ),
    ...formatAndFilters(catalogs),
  ];
}

export function tnsParameters(config: Config, catalogs: Catalogs): Parameter[] {
  const radius = searchRadius(config, "Radius of the search around the name's position, inclusive.");
  return [
    parameter('path', 'name', tnsName),
    query('radius_arcsec', { ...radius, default: config.TNS_MATCH_RADIUS_ARCSEC }),
    detail,
    ...formatAndFilters(catalogs),
  ];
}

export function recentParameters(config: Config): Parameter[] {
  const { max_window_hours } = limitsOf(config).recent_crossmatches;
  const iso = 'An ISO 8601 time; without an offset it is UTC.';
  return [
    query(
      'start',
      text(`Start of the window, inclusive. ${iso} Default: ${DEFAULT_WINDOW_HOURS} hours before \`end\`.`),
    ),
    query(
      'end',
      text(`End of the window, exclusive, at most ${max_window_hours} hours after \`start\`. ${iso} Default: now.`),
    ),
    query('time_field', { ...timeField, default: DEFAULT_TIME_FIELD }),
    detail,
    listingPageSize(config),
    query(
      'cursor',
      pageCursor,
      'The `next_cursor` of the page before. It pins `start`, `end`, `time_field`, `detail` and `as_of`; a value in conflict with ' +
        'it is refused.',
    ),
    format,
  ];
}

function listingPageSize(config: Config): Parameter {
  const { default_page_size, max_page_size } = limitsOf(config).recent_crossmatches;
  return query(
    'page_size',
    { ...pageSize, default: Math.min(default_page_size, max_page_size) },
    `Objects on a page at most; more than ${max_page_size} count as ${max_page_size}.`,
  );
}

/** The window, and the page with a cursor that `pins` something. */
function selectionParameters(config: Config, pins: string): Parameter[] {
  const iso = 'An ISO 8601 time; without an offset it is UTC. Open by default.';
  return [
    query('start', text(`Start of the window, inclusive. ${iso}`)),
    query('end', text(`End of the window, exclusive. ${iso}`)),
    query('time_field', { ...timeField, default: DEFAULT_TIME_FIELD }),
    detail,
    listingPageSize(config),
    query(
      'cursor',
      pageCursor,
      `The \`next_cursor\` of the page before. It pins ${pins} and \`as_of\`; every other parameter must be given on every page.`,
    ),
  ];
}

export function areaParameters(config: Config, catalogs: Catalogs): Parameter[] {
  return [
    query('area', text('The area as a text, in the place of a body.', { minLength: 1 })),
    query(
      'level',
      number('probability', 'For a map of probability: the share that the area holds at most.', {
        exclusiveMinimum: 0,
        maximum: 1,
        default: DEFAULT_CREDIBLE_LEVEL,
      }),
    ),
    ...selectionParameters(config, 'the area, `level`, `time_field`'),
    format,
    ...filters(catalogs),
    query('response', { ...oneOfNames(AREA_RESPONSES, 'What to answer.'), default: DEFAULT_RESPONSE }),
  ];
}

export function objectsParameters(config: Config, catalogs: Catalogs): Parameter[] {
  return [...selectionParameters(config, '`time_field`'), ...formatAndFilters(catalogs)];
}

export function streamParameters(catalogs: Catalogs): Parameter[] {
  return [
    query(
      'from',
      text('Where to begin, unless `Last-Event-ID` says it: `now`, `beginning`, or after the event with this id.', {
        default: 'now',
      }),
    ),
    parameter('header', 'Last-Event-ID', text('The id of the last event that the client has.')),
    ...filters(catalogs),
  ];
}

const sourcesLimit = (says: string) =>
  query(
    'limit',
    integer('count', says, {
      minimum: SOURCES_LIMIT_RANGE.min,
      maximum: SOURCES_LIMIT_RANGE.max,
      default: DEFAULT_SOURCES_LIMIT,
    }),
  );

export function sourcesParameters(catalogs: Catalogs): Parameter[] {
  const required = (name: string, schema: Schema, says?: string) => ({ ...query(name, schema, says), required: true });
  return [
    required('ra', rightAscension, 'ICRS right ascension of the position.'),
    required('dec', declination, 'ICRS declination of the position.'),
    required(
      'radius_arcsec',
      number('arcsec', 'Radius of the search, inclusive.', { exclusiveMinimum: 0, maximum: MAX_SOURCES_RADIUS_ARCSEC }),
    ),
    query('catalog', oneOfNames(catalogNames(catalogs), 'The catalog to search; every one by default.')),
    sourcesLimit('The most sources that are listed; `count` counts all.'),
  ];
}

export function sourceParameters(catalogs: Catalogs): Parameter[] {
  return [
    parameter('path', 'catalog', oneOfNames(catalogNames(catalogs), 'The catalog.')),
    parameter(
      'path',
      'catalog_source_id',
      catalogs.all.some(({ idType }) => idType === 'text')
        ? text('The id of the source: a 64-bit integer or, in a catalog with text ids, the text.', {
            minLength: 1,
            maxLength: MAX_SOURCE_ID_BYTES,
          })
        : text('The id of the source: a 64-bit integer.', { pattern: '^-?\\d{1,19}$' }),
    ),
    sourcesLimit('The most objects that are listed.'),
  ];
}

export function tableParameters(catalogs: Catalogs): Parameter[] {
  const radius = {
    exclusiveMinimum: 0,
    maximum: MAX_MATCH_RADIUS_ARCSEC,
    default: DEFAULT_MATCH_RADIUS_ARCSEC,
  };
  const column = (of: string) => text(`The column of ${of}. Without it, the one that its UCD or its name tells.`);
  return [
    query('against', { ...oneOfNames(againstNames(catalogs), 'The other side.'), default: 'objects' }),
    query('radius_arcsec', number('arcsec', 'Radius of the search, inclusive.', radius)),
    query('find', { ...oneOfNames(FINDS, 'What a row gets.'), default: 'nearest' }),
    query('rows', { ...oneOfNames(ROWS_KEPT, 'The rows of the answer.'), default: 'all' }),
    query(
      'format',
      oneOfNames(
        MATCH_FORMATS,
        'The format of the answer. Without it `Accept` counts, then that of the table; VOTable for FITS.',
      ),
    ),
    query('ra', column('right ascensions: degrees, or sexagesimal hours; of whole positions where `dec` is not given')),
    query('dec', column('declinations')),
    query(
      'columns',
      text(
        'The columns of the table that the answer has, with commas between; a name with a comma in quotes. Without it, all.',
      ),
    ),
    query(
      'frame',
      text(
        'The frame of the positions: `ICRS`, `FK5 J1975` or `FK4 B1950` (of any equinox), `galactic`. Without it, the one that the table declares or the names of its columns state, else ICRS.',
      ),
    ),
  ];
}

export function skyMapParameters(): Parameter[] {
  const together = 'Give `ra`, `dec` and `radius_deg` together, or none of them for the whole sky.';
  return [
    query('layer', { ...mapLayer, default: DEFAULT_MAP_LAYER }),
    query('resolution', { ...mapResolution, default: DEFAULT_MAP_RESOLUTION }),
    query('ra', rightAscension, `ICRS right ascension of the middle of a disc. ${together}`),
    query('dec', declination, `ICRS declination of the middle of a disc. ${together}`),
    query(
      'radius_deg',
      number('deg', `Radius of a disc: every cell that it touches is listed. ${together}`, {
        exclusiveMinimum: 0,
        maximum: MAX_MAP_RADIUS_DEG,
      }),
    ),
    query(
      'partial',
      boolean(
        'Whether to answer while the objects are still counted, which is once for each database: then `uncounted` is above 0. ' +
          'Without it such an answer is 503.',
        { default: false },
      ),
    ),
  ];
}
