/** Describes each operation in the OpenAPI document. src/documents/operations.ts has the table of operations. */
import type { Config } from '../../config/config.ts';
import { limitsOf } from '../../config/described_limits.ts';
import type { Catalogs } from '../../contract/catalogs.ts';
import type { ErrorCode } from '../../contract/codes.ts';
import { MATCH_FORMATS } from '../../contract/formats.ts';
import { UNKNOWN_PARAMETERS_HEADER } from '../../contract/headers.ts';
import {
  MAX_AREA_BYTES,
  MAX_AREA_CELLS,
  MAX_LOOKED_AT,
  MAX_MAP_CELLS,
  MAX_POLYGON_VERTICES,
  MAX_UNPACKED_AREA_BYTES,
} from '../../contract/limits.ts';
import {
  areaParameters,
  coneParameters,
  LOOKUP_PARAMETERS,
  OBJECT_PARAMETERS,
  OBJECT_STREAM_PARAMETERS,
  objectsParameters,
  recentParameters,
  SKY_MAP_PARAMETERS,
  STREAM_PARAMETERS,
  sourceParameters,
  sourcesParameters,
  tableParameters,
  tnsParameters,
} from '../parameters.ts';
import { decimal } from '../prose.ts';
import { TASKS } from '../tasks.ts';
import { errors, header, ignoredHeader } from './general.ts';
import { documentedParameters, type Operation } from './parameters.ts';
import { type ComponentName, count, integer, list, open, ref, type Schema, type Schemas, text } from './schema.ts';
import { areaSchema, objectsSchema } from './selection.ts';
import { skyMapSchema } from './sky_map.ts';
import { objectsOfSourceSchema, sourcesSchema } from './sources.ts';
import { contentSchema, dispositionHeader, otherContent, tableHeaders } from './tables.ts';

/** Whether a response has the header that lists the ignored parameters. */
export function namesIgnored(response: Schema | undefined): boolean {
  return Object.keys(response?.headers ?? {}).includes(UNKNOWN_PARAMETERS_HEADER);
}

const json = (schema: Schema) => ({ 'application/json': { schema } });

/** The responses of an operation that runs queries, with every error code except some. */
function queryResponses(description: string, schema: Schema, ...except: readonly ErrorCode[]): Record<string, Schema> {
  const ok = { description, headers: ignoredHeader, content: json(schema) };
  return { 200: ok, ...errors([400, 405, 503], ...except) };
}

/** The responses of an operation that runs queries and can answer with tables. */
function tableResponses(description: string, schema: Schema, ...except: readonly ErrorCode[]): Record<string, Schema> {
  const { 200: ok, ...others } = queryResponses(description, schema, ...except);
  return {
    200: { ...ok, headers: { ...ignoredHeader, ...tableHeaders }, content: { ...json(schema), ...otherContent } },
    ...others,
    ...errors([406]),
  };
}

function filteredResponses(
  description: string,
  answer: ComponentName,
  ...except: readonly ErrorCode[]
): Record<string, Schema> {
  return tableResponses(description, { oneOf: [ref(answer), ref('CountResponse')] }, ...except);
}

/** The responses of an operation that needs no database. */
function staticResponses(description: string, schema: Schema): Record<string, Schema> {
  return { 200: { description, headers: ignoredHeader, content: json(schema) }, ...errors([405]) };
}

export const getOpenapi = (): Operation => ({
  summary: 'This document.',
  description: 'An OpenAPI 3.1 document from the live configuration. Numbers name their unit in `x-unit`.',
  responses: staticResponses('The document.', {
    ...open('An OpenAPI document.', {
      openapi: text('Version of the OpenAPI specification.'),
      info: { type: 'object', description: 'Title, version and conventions.', additionalProperties: true },
      paths: { type: 'object', description: 'The operations.', additionalProperties: true },
    }),
    additionalProperties: true,
  }),
});

export function getObject(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'One object by its diaObjectId.',
    description:
      'The lookup response with exactly one result, or counts. An id that the service does not have is a result with the status ' +
      '`not_in_service`, not an error.',
    parameters: documentedParameters(OBJECT_PARAMETERS, catalogs),
    responses: filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter'),
  };
}

export const lookupObjects = (_config: Config, catalogs: Catalogs): Operation => ({
  summary: 'Many objects by identifiers, positions and registry names.',
  description:
    'Read-only and idempotent. Every input yields exactly one result, in the order of the inputs, echoing the input as sent and as ' +
    'understood. A malformed input yields `invalid_input` in its own result. An unknown field is an error. A result lists its ' +
    'objects up to the limits and says so in `truncated` and `total`.',
  parameters: documentedParameters(LOOKUP_PARAMETERS, catalogs),
  requestBody: { required: true, content: json(ref('LookupRequest')) },
  responses: filteredResponses('One result per input, or counts.', 'LookupResponse'),
});

export function coneSearch(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Every object within a radius of a position, page by page.',
    description:
      `Objects within a radius of at most ${decimal(config.API_MAX_CONE_RADIUS_ARCSEC)} arcsec, crossmatched or not, across the ` +
      'whole archive, in ascending order of ingest time and identifier. Follow `next_cursor` until it is null. A position without ' +
      'an object has the status `no_rubin_object`.',
    parameters: documentedParameters(coneParameters(config), catalogs),
    responses: filteredResponses('One page, or counts.', 'ConeSearchResponse', 'unsupported_parameter'),
  };
}

export function resolveTns(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Every object at the position of a TNS name.',
    description:
      'The name is resolved through the registry snapshot, and the registry record and the snapshot epoch are echoed. Not paged: ' +
      `at most ${config.API_MAX_OBJECTS_PER_POSITION} objects, with \`truncated\` and \`total\`. A stale or absent snapshot gives ` +
      'the status `resolver_unavailable`, an unknown name `tns_name_not_found`, both with HTTP 200.',
    parameters: documentedParameters(tnsParameters(config), catalogs),
    responses: filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter'),
  };
}

export const serviceStatus = (): Operation => ({
  summary: 'Whether the service can answer now.',
  description: 'Always 200: a database that cannot be read is a value in the answer.',
  responses: staticResponses('The state of the service.', ref('ServiceStatus')),
});

export const describeService = (): Operation => ({
  summary: 'What the service holds and how it is configured.',
  description:
    'Catalogs with the meaning of their source ids, their filterable fields and coverage maps; radii; limits; detail levels; filters; ' +
    'reliability cuts; the connector. From the live configuration, without the database.',
  responses: staticResponses('The live configuration.', ref('ServiceDescription')),
});

export function recentCrossmatches(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Objects with coincident sources in a recent window, newest first, page by page.',
    description:
      `Objects whose alert lies in a window of at most ${config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS} hours. Objects without a match are ` +
      'not listed; none is repeated in a walk. Follow `next_cursor` until it is null. Filters and `response` are refused with ' +
      '`unsupported_parameter`. A large page at `full` can exceed the time budget: use a smaller `page_size`.',
    parameters: documentedParameters(recentParameters(config), catalogs),
    responses: tableResponses('One page.', ref('RecentCrossmatchesPage'), 'filters_span_catalogs'),
  };
}

const RESUMED =
  'a client that comes again with the last one as `Last-Event-ID` misses nothing and gets nothing twice. While there is nothing to send, a comment ' +
  'or an id alone comes every 15 s. A client that does not read is ended.';

export function streamMatches(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Matches as they are recorded: server-sent events, without an end.',
    description:
      'An event a match, in the order of recording, of each crossmatch of each object. Its data is a `PublishedMatch` without spaces, its id the ' +
      `place in the journal: ${RESUMED} Filters leave out ` +
      'events: those stay whose match meets every match filter, and whose object every reliability filter. With `area`, as a text, only objects in it.',
    parameters: documentedParameters(STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

export function streamObjects(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary:
      'Objects as they are stored and crossmatched, with a match or without: server-sent events, without an end.',
    description:
      'An event a change: `stored`, when a broker delivers an object for the first time, and `crossmatched`, for each crossmatch of it. A further delivery is no event. ' +
      `Its data is the object as the change left it, with the matches of that crossmatch alone. Its id is the place in the journal: ${RESUMED} ` +
      'Filters leave out events: those stay whose object meets every reliability filter and, where there are match filters, has one match that meets them all. With `area`, as a text, only objects in it.',
    parameters: documentedParameters(OBJECT_STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

export function streamMatchesInArea(config: Config, catalogs: Catalogs): Operation {
  return {
    ...streamMatches(config, catalogs),
    summary: 'Matches of the objects in an area as they are recorded: server-sent events, without an end.',
    ...inArea(config),
  };
}

export function streamObjectsInArea(config: Config, catalogs: Catalogs): Operation {
  return {
    ...streamObjects(config, catalogs),
    summary: 'Objects in an area as they are stored and crossmatched: server-sent events, without an end.',
    ...inArea(config),
  };
}

function inArea(config: Config) {
  const { max_areas, max_positions } = limitsOf(config).streams;
  return {
    description:
      'The events of the GET whose objects are in an area. The area is the body, whatever its Content-Type, or the parameter `area`, in any form that `/api/area` takes. ' +
      `With \`radius_arcsec\` the body is a table of at most ${max_positions} positions, in any format that \`/api/crossmatch\` takes. ` +
      `At most ${max_areas} streams follow an area, half of them of one client. A client that comes again sends the area again, with the last id as \`Last-Event-ID\`.`,
    requestBody: areaBody('An area of any of these forms, or a table of positions.'),
  };
}

const eventResponses = {
  200: {
    description: 'The events.',
    headers: {
      ...ignoredHeader,
      'Cache-Control': header(text('`no-store`.'), true),
      'X-Accel-Buffering': header(text('`no`: nginx passes each event on at once.'), true),
    },
    content: { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } },
  },
  ...errors([400, 405, 503]),
};

export function findSources(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Every source of the catalogs near a position.',
    description:
      'Reads the registered catalogs where they lie, whether or not the service holds an object there: all sources within the radius, not ' +
      'only the nearest one that a crossmatch records. Positions are as the catalogs have them, with no proper motion applied. The outcome ' +
      'of a catalog says whether it was searched: no source of one that was not searched is no evidence.',
    parameters: documentedParameters(sourcesParameters(catalogs), catalogs),
    responses: queryResponses('The sources.', sourcesSchema(catalogs), 'filters_span_catalogs'),
  };
}

export function findObjectsOfSource(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects that are recorded with a source of a catalog.',
    description:
      'The objects whose matches have this source, by id. A crossmatch records the nearest source of a catalog, so that ' +
      'objects near the source may be recorded with another one. A source that no object is recorded with gives an empty list, whether or not ' +
      'its catalog has it.',
    parameters: documentedParameters(sourceParameters(catalogs), catalogs),
    responses: queryResponses('The objects.', objectsOfSourceSchema(catalogs), 'filters_span_catalogs'),
  };
}

const LEFT_OUT =
  'Unlike elsewhere, filters and the window leave objects out. A page can then have fewer objects than it may, or none, although another one ' +
  `follows: no more than about ${MAX_LOOKED_AT} objects are looked at for one. Follow \`next_cursor\` until it is null.`;

/** @param description the description of a body that may have any type */
const areaBody = (description: string) => ({
  required: false,
  content: {
    ...contentIn([ANY_BYTES], description),
    ...contentIn([{ mediaType: 'application/fits' }], 'A MOC, or a map of probability.'),
    'application/json': {
      schema: { type: 'object', description: 'A MOC: lists of cells by order.', additionalProperties: true },
    },
    'text/plain': { schema: text('CIRCLE, POLYGON, BOX, RANGE, or a MOC such as `3/1-5 7`.') },
  },
});

export function searchArea(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects in an area of the sky, page by page or as one table, or how many there are.',
    description:
      'The area is the body, whatever its Content-Type, or the parameter `area`: a MOC (FITS, JSON or ASCII), `CIRCLE ra dec radius`, `POLYGON ra dec ra dec ...`, `BOX ra dec width height` ' +
      'or `RANGE ra1 ra2 dec1 dec2` in degrees (DALI, ADQL; of the two sides of a polygon the smaller one is meant; a frame may stand first: ICRS, FK5, GALACTIC), or a HEALPix map of probability (FITS: multi-order ' +
      'with UNIQ and PROBDENSITY, as LIGO, Virgo and KAGRA publish it, or of one NSIDE, RING or NESTED), whose densest pixels up to `level` are the area. ' +
      `With gzip or without; at most ${MAX_AREA_BYTES} bytes, ${MAX_UNPACKED_AREA_BYTES} without gzip (a map of one NSIDE may have more), ${MAX_AREA_CELLS} cells or pixels, ${MAX_POLYGON_VERTICES} vertices. ` +
      'Objects come by credible level where there is one, then by HEALPix pixel of order 16 (NESTED), then by identifier. For the next page the same ' +
      `request is sent with \`cursor\`. With \`response=table\` the answer is one table of all, in a format of tables, written while it is sent: a connection that ends ` +
      `early is a table that is not whole. ${LEFT_OUT}`,
    parameters: documentedParameters(areaParameters(config), catalogs),
    requestBody: areaBody('An area of any of these forms.'),
    responses: tableResponses('One page, all objects as a table, or a count.', areaSchema, 'unsupported_parameter'),
  };
}

export function listObjects(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects by time, newest first, page by page, or how many there are.',
    description:
      'Every object, with a position or not, crossmatched or not, or those of one `status`. Objects as lookups show them, ' +
      `by ingest or event time, descending, then by identifier. ${LEFT_OUT}`,
    parameters: documentedParameters(objectsParameters(config), catalogs),
    responses: tableResponses('One page, or a count.', objectsSchema, 'unsupported_parameter'),
  };
}

export function crossmatchTable({ API_MAX_TABLE_ROWS, API_MAX_TABLE_MIB }: Config, catalogs: Catalogs): Operation {
  const { 200: _, ...others } = queryResponses('', {}, 'filters_span_catalogs');
  return {
    summary: 'A table against the objects, or against a catalog.',
    description:
      `The table is the body: CSV, ECSV, an IPAC table, words with blanks between, NDJSON, VOTable, FITS, Parquet or Arrow, which its bytes tell, with gzip or without; at most ${API_MAX_TABLE_ROWS} rows and ` +
      `${API_MAX_TABLE_MIB} MiB. The answer has its rows in their order and all its columns, then \`nearsky_status\`, the id, position and separation ` +
      'of what was found and, of a catalog, the columns that the service keeps. It is sent when it is whole: a connection that ends early is an ' +
      'answer that is not whole. Positions in FK5, FK4 and galactic coordinates are converted to ICRS; no proper motion is applied. With the header `Prefer: respond-async` the answer is a job, which the ' +
      'protocol of the Virtual Observatory asks for (UWS 1.1).',
    parameters: documentedParameters(tableParameters(catalogs), catalogs),
    requestBody: { required: true, content: contentIn([ANY_BYTES, ...MATCH_FORMATS], 'A table.') },
    responses: {
      200: {
        description: 'The table.',
        headers: { ...ignoredHeader, ...resultHeaders },
        // Generators expect every answer to have the first type, so it must be a type that they return as bytes.
        content: contentIn(MATCH_FORMATS.toReversed(), 'A table.'),
      },
      202: { description: 'The table will be crossmatched.', headers: { ...ignoredHeader, ...jobHeaders } },
      ...others,
    },
  };
}

/** A body in any format, which is recognised from its bytes. Every client generator can send this type. */
const ANY_BYTES = { mediaType: 'application/octet-stream' };

export const contentIn = (formats: readonly { readonly mediaType: string }[], description: string) =>
  Object.fromEntries(formats.map(({ mediaType }) => [mediaType, { schema: contentSchema(mediaType, description) }]));

/** The headers of the answer to a request that was turned into a job. */
const jobHeaders: Schemas = {
  Location: header(text('The address of the job, which nobody can guess.', { format: 'uri' }), true),
  'Preference-Applied': header(text('The preference that was followed: `respond-async`.'), true),
};

/** The headers of the answer with a crossmatched table. */
export const resultHeaders: Schemas = {
  'Content-Disposition': dispositionHeader,
  'X-Row-Count': header(count('The rows of the answer.'), true),
  'X-Input-Row-Count': header(count('The rows of the table that was sent.'), true),
  'X-Match-Count': header(count('The objects or sources found.'), true),
  'X-Position-Columns': header(
    text('The columns that were taken for right ascension and declination, percent-encoded, with a blank between.'),
    true,
  ),
  'X-Dropped-Columns': header(
    text(
      'The columns that the answer cannot hold, such as lists, bytes and complex numbers: percent-encoded, with blanks between; 50 at most. `dropped_columns` in the metadata has all.',
    ),
  ),
  'X-Position-Frame': header(
    text(
      'The frame of these positions, which were converted to ICRS, and how it is known: `FK4 B1950; source=declaration`. The source is `request`, `declaration`, `column name` or `default`.',
    ),
    true,
  ),
};

/** The headers of an answer that browsers may cache. */
const caching: Schemas = {
  ETag: header(text('The version of the answer, for `If-None-Match`; missing while objects are still counted.')),
  'Cache-Control': header(text('How long the answer may be kept.'), true),
};

export function getSkyMap(_config: Config, catalogs: Catalogs): Operation {
  const { 400: badRequest, ...others } = queryResponses('The cells.', skyMapSchema(catalogs), 'filters_span_catalogs');
  const { 200: ok } = others;
  const notModified = { description: 'The answer is the one with the ETag in `If-None-Match`.', headers: caching };
  return {
    summary: 'How many objects each cell of the sky has, and which catalogs cover it.',
    description:
      'Counts per H3 cell (h3geo.org) of the whole sky or of a disc, brought up to date as objects arrive; or the coverage of the ' +
      `registered catalogs. An answer lists at most about ${MAX_MAP_CELLS} cells: at a finer resolution ask for a smaller disc. ` +
      'Only cells that have something are listed. The first request after a start can be answered 503 while objects are counted.',
    parameters: documentedParameters(SKY_MAP_PARAMETERS, catalogs),
    responses: {
      304: notModified,
      400: badRequest!,
      ...others,
      200: { ...ok, headers: { ...ignoredHeader, ...caching } },
    },
  };
}

const allowed: Schemas = { Allow: header(text('The methods of the path.'), true) };

export const listTasks = (): Operation => ({
  summary: 'The names of the processing tasks of a transient.',
  description: `A bare array in a fixed order: ${TASKS.join('; ')}.`,
  responses: {
    200: {
      description: 'The tasks.',
      headers: allowed,
      content: json(
        list(
          {
            type: 'object',
            properties: { name: text('Name of the task.') },
            required: ['name'],
            additionalProperties: false,
          },
          'The tasks, in order.',
        ),
      ),
    },
    ...errors([405]),
  },
});

export const headTasks = (): Operation => ({
  summary: 'The headers of the task listing.',
  description: 'As `list_tasks`, without a body.',
  responses: { 200: { description: 'No body.', headers: allowed } },
});

export const describeTasks = (): Operation => ({
  summary: 'What the task listing is.',
  description: 'Name and formats of the listing.',
  responses: {
    200: {
      description: 'The description.',
      headers: allowed,
      content: json({
        ...open('What the path is.', {
          name: text('Name of the listing.'),
          description: text('What it lists.'),
          renders: list({ type: 'string' }, 'Media types that it answers with.'),
          parses: list({ type: 'string' }, 'Media types that it reads.', { maxItems: 0 }),
        }),
        additionalProperties: false,
      }),
    },
    204: {
      description: 'The answer to a browser that asks whether it may send another request.',
      headers: {
        ...allowed,
        'Access-Control-Allow-Methods': header(text('The methods of the path.'), true),
        'Access-Control-Allow-Headers': header(text('The headers that the browser asked for.'), true),
        'Access-Control-Max-Age': header(integer('s', 'How long this may be kept.'), true),
      },
    },
  },
});
