/** Describes each operation in the OpenAPI document. src/documents/operations.ts has the table of operations. */
import type { Config } from '../../config/config.ts';
import { limitsOf } from '../../config/described_limits.ts';
import type { Catalogs } from '../../contract/catalogs.ts';
import type { ErrorCode } from '../../contract/codes.ts';
import { MATCH_FORMATS } from '../../contract/formats.ts';
import { JOURNAL_ENTRY_HEADER, UNKNOWN_PARAMETERS_HEADER } from '../../contract/headers.ts';
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

const JOURNAL_ENTRY = header(
  integer(
    'entry',
    'The journal entry that the answer is from, for `at`. Missing if an input is a name, or no history is kept.',
    {
      minimum: 0,
    },
  ),
);

/** The responses of an operation that can also answer from an earlier state. */
function stated({ 200: ok, ...others }: Record<string, Schema>): Record<string, Schema> {
  return { 200: { ...ok, headers: { ...(ok!.headers as Schemas), [JOURNAL_ENTRY_HEADER]: JOURNAL_ENTRY } }, ...others };
}

/** The responses of an operation that needs no database. */
function staticResponses(description: string, schema: Schema): Record<string, Schema> {
  return { 200: { description, headers: ignoredHeader, content: json(schema) }, ...errors([405]) };
}

export const getOpenapi = (): Operation => ({
  summary: 'This document.',
  description: 'An OpenAPI 3.1 document made from the live configuration. The unit of each number is in `x-unit`.',
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
      'The lookup response with exactly one result, or counts. An unknown id gives a result with the status ' +
      '`not_in_service`, not an error.',
    parameters: documentedParameters(OBJECT_PARAMETERS, catalogs),
    responses: stated(filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter')),
  };
}

export const lookupObjects = (_config: Config, catalogs: Catalogs): Operation => ({
  summary: 'Many objects by identifiers, positions and registry names.',
  description:
    'Read-only and idempotent. Every input yields exactly one result, in the order of the inputs, with the input as sent and as ' +
    'understood. A malformed input yields `invalid_input` in its own result. An unknown field is an error. A result lists ' +
    'objects up to the limits; `truncated` and `total` show whether there are more.',
  parameters: documentedParameters(LOOKUP_PARAMETERS, catalogs),
  requestBody: { required: true, content: json(ref('LookupRequest')) },
  responses: stated(filteredResponses('One result per input, or counts.', 'LookupResponse')),
});

export function coneSearch(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Every object within a radius of a position, page by page.',
    description:
      `Objects within a radius of at most ${decimal(config.API_MAX_CONE_RADIUS_ARCSEC)} arcsec, crossmatched or not, across the ` +
      'whole archive, in ascending order of ingest time and identifier. Follow `next_cursor` until it is null. A position near which there is no ' +
      'object has the status `no_rubin_object`.',
    parameters: documentedParameters(coneParameters(config), catalogs),
    responses: stated(filteredResponses('One page, or counts.', 'ConeSearchResponse', 'unsupported_parameter')),
  };
}

export function resolveTns(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Every object at the position of a TNS name.',
    description:
      'The name is resolved in the registry snapshot. The answer contains the registry record and the epoch of the snapshot. Not paged: ' +
      `at most ${config.API_MAX_OBJECTS_PER_POSITION} objects, with \`truncated\` and \`total\`. If the snapshot is stale or missing, the status is ` +
      '`resolver_unavailable`; for an unknown name it is `tns_name_not_found`. Both come with HTTP 200.',
    parameters: documentedParameters(tnsParameters(config), catalogs),
    responses: filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter'),
  };
}

export const serviceStatus = (): Operation => ({
  summary: 'Whether the service can answer now.',
  description: 'Always 200. If the database cannot be read, the answer says so.',
  responses: staticResponses('The state of the service.', ref('ServiceStatus')),
});

export const describeService = (): Operation => ({
  summary: 'The contents and the configuration of the service.',
  description:
    'Catalogs with the meaning of their source ids, their filterable fields and coverage maps; radii; limits; detail levels; filters; ' +
    'reliability cuts; the connector. Made from the live configuration; the database is not needed.',
  responses: staticResponses('The live configuration.', ref('ServiceDescription')),
});

export function recentCrossmatches(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Objects with coincident sources in a recent window, newest first, page by page.',
    description:
      `Objects whose alert is in a time window of at most ${config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS} hours. Objects without a match are ` +
      'not listed; no object is repeated in a walk. Follow `next_cursor` until it is null. Filters and `response` are refused with ' +
      '`unsupported_parameter`. A large page at `full` can exceed the time budget: use a smaller `page_size`.',
    parameters: documentedParameters(recentParameters(config), catalogs),
    responses: tableResponses('One page.', ref('RecentCrossmatchesPage'), 'filters_span_catalogs'),
  };
}

const RESUMED =
  'a client that reconnects with the last id as `Last-Event-ID` misses no event and gets none twice. If there are no events, a comment ' +
  'or an id is sent every 15 s. Clients that do not read are disconnected.';

export function streamMatches(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'Matches as they are recorded, as an endless stream of server-sent events.',
    description:
      'One event for each match of each crossmatch, in the order of recording. The data is a `PublishedMatch` without spaces. The id is the ' +
      `position in the journal: ${RESUMED} With filters, only ` +
      'matches are sent that meet every match filter, and whose object meets every reliability filter. With `area`, given as text, only objects in the area.',
    parameters: documentedParameters(STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

export function streamObjects(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary:
      'Objects as they are stored and crossmatched, with or without matches, as an endless stream of server-sent events.',
    description:
      'One event for each change: `stored`, when an object is delivered for the first time, `crossmatched`, for each of its crossmatches, and `removed`, when the operator removes it. Further deliveries are not events. ' +
      `The data is the object after the change, with the matches of that crossmatch only. The id is the position in the journal: ${RESUMED} ` +
      'Only objects are sent that meet every reliability filter and, if there are match filters, have a match that meets them all. With `area`, given as text, only objects in the area.',
    parameters: documentedParameters(OBJECT_STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

export function streamMatchesInArea(config: Config, catalogs: Catalogs): Operation {
  return {
    ...streamMatches(config, catalogs),
    summary: 'Matches of the objects in an area as they are recorded, as an endless stream of server-sent events.',
    ...inArea(config),
  };
}

export function streamObjectsInArea(config: Config, catalogs: Catalogs): Operation {
  return {
    ...streamObjects(config, catalogs),
    summary: 'Objects in an area as they are stored and crossmatched, as an endless stream of server-sent events.',
    ...inArea(config),
  };
}

function inArea(config: Config) {
  const { max_areas, max_positions } = limitsOf(config).streams;
  return {
    description:
      'The same events as for GET, for objects in an area only. The area is the body, whatever its Content-Type, or the parameter `area`, in any form that `/api/area` accepts. ' +
      `With \`radius_arcsec\` the body is a table of at most ${max_positions} positions, in any format that \`/api/crossmatch\` accepts. ` +
      `At most ${max_areas} streams may follow an area, half of them for one client. To reconnect, a client sends the area again, with the last id as \`Last-Event-ID\`.`,
    requestBody: areaBody('An area in any of these forms, or a table of positions.'),
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
      'Reads the registered catalogs themselves, whether or not the service has an object there. It finds all sources within the radius, not ' +
      'only the nearest one, which a crossmatch records. Positions are those in the catalogs; no proper motion is applied. The outcome ' +
      'of a catalog says whether it was searched. If it was not, the absence of its sources is not evidence.',
    parameters: documentedParameters(sourcesParameters(catalogs), catalogs),
    responses: queryResponses('The sources.', sourcesSchema(catalogs), 'filters_span_catalogs'),
  };
}

export function findObjectsOfSource(_config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects for which a source of a catalog is recorded.',
    description:
      'The objects whose matches have this source, by id. A crossmatch records only the nearest source of a catalog, so ' +
      'another source may be recorded for an object near this one. If the source is recorded for no object, the list is empty, whether or not ' +
      'its catalog has it.',
    parameters: documentedParameters(sourceParameters(catalogs), catalogs),
    responses: queryResponses('The objects.', objectsOfSourceSchema(catalogs), 'filters_span_catalogs'),
  };
}

const LEFT_OUT =
  'Unlike in other operations, filters and the window exclude objects. A page may then be short or even empty, although another page ' +
  `follows, because about ${MAX_LOOKED_AT} objects at most are examined per page. Follow \`next_cursor\` until it is null.`;

/** @param description the description of a body that may have any type */
const areaBody = (description: string) => ({
  required: false,
  content: {
    ...contentIn([ANY_BYTES], description),
    ...contentIn([{ mediaType: 'application/fits' }], 'A MOC, or a probability map.'),
    'application/json': {
      schema: { type: 'object', description: 'A MOC: lists of cells by order.', additionalProperties: true },
    },
    'text/plain': { schema: text('CIRCLE, POLYGON, BOX, RANGE, or a MOC such as `3/1-5 7`.') },
  },
});

export function searchArea(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects in an area of the sky, page by page or as one table, or their number.',
    description:
      'The area is the body, whatever its Content-Type, or the parameter `area`: a MOC (FITS, JSON or ASCII), `CIRCLE ra dec radius`, `POLYGON ra dec ra dec ...`, `BOX ra dec width height` ' +
      'or `RANGE ra1 ra2 dec1 dec2` in degrees (DALI, ADQL; a polygon means the smaller of its two sides; the text may begin with a frame: ICRS, FK5, GALACTIC), or a HEALPix probability map (FITS: multi-order ' +
      'with UNIQ and PROBDENSITY, as published by LIGO, Virgo and KAGRA, or with one NSIDE, RING or NESTED). The area of a map consists of its densest pixels, up to `level`. ' +
      `Gzip is allowed. At most ${MAX_AREA_BYTES} bytes, ${MAX_UNPACKED_AREA_BYTES} without gzip (more for a map with one NSIDE), ${MAX_AREA_CELLS} cells or pixels, ${MAX_POLYGON_VERTICES} vertices. ` +
      'Objects are in the order of credible level (for a map), HEALPix pixel of order 16 (NESTED), and identifier. For the next page, send the same ' +
      `request with \`cursor\`. With \`response=table\` the answer is a table of all objects, in a table format. It is sent while it is written: if the connection ends ` +
      `early, the table is incomplete. ${LEFT_OUT}`,
    parameters: documentedParameters(areaParameters(config), catalogs),
    requestBody: areaBody('An area in any of these forms.'),
    responses: stated(
      tableResponses('One page, all objects as a table, or a count.', areaSchema, 'unsupported_parameter'),
    ),
  };
}

export function listObjects(config: Config, catalogs: Catalogs): Operation {
  return {
    summary: 'The objects by time, newest first, page by page, or their number.',
    description:
      'Every object, with a position or not, crossmatched or not, or those of one `status`. Objects as lookups show them, ' +
      `by ingest or event time, descending, then by identifier. ${LEFT_OUT}`,
    parameters: documentedParameters(objectsParameters(config), catalogs),
    responses: stated(tableResponses('One page, or a count.', objectsSchema, 'unsupported_parameter')),
  };
}

export function crossmatchTable({ API_MAX_TABLE_ROWS, API_MAX_TABLE_MIB }: Config, catalogs: Catalogs): Operation {
  const { 200: _, ...others } = queryResponses('', {}, 'filters_span_catalogs');
  return {
    summary: 'Crossmatches a table with the objects, or with a catalog.',
    description:
      `The table is the body: CSV, ECSV, an IPAC table, words separated by blanks, NDJSON, VOTable, FITS, Parquet or Arrow. The format is recognised from the bytes; gzip is allowed. At most ${API_MAX_TABLE_ROWS} rows and ` +
      `${API_MAX_TABLE_MIB} MiB. The answer has the rows of the table in their order, with all their columns. Then come \`nearsky_status\`, and the id, position and separation ` +
      'of the object or source found; for a catalog, also the columns that the service stores. It is sent when it is complete: if the connection ends early, the ' +
      'answer is incomplete. Positions in FK5, FK4 and galactic coordinates are converted to ICRS; no proper motion is applied. With the header `Prefer: respond-async` the request becomes a job of the ' +
      "Virtual Observatory's protocol (UWS 1.1).",
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

/** The header that begins the session of a client without one. */
export const sessionHeader: Schemas = {
  'Set-Cookie': header(text('The session whose lists of jobs include the job.')),
};

/** The headers of the answer to a request that was turned into a job. */
const jobHeaders: Schemas = {
  Location: header(text('The address of the job. It cannot be guessed.', { format: 'uri' }), true),
  'Preference-Applied': header(text('The preference that was followed: `respond-async`.'), true),
  ...sessionHeader,
};

/** The headers of the answer with a crossmatched table. */
export const resultHeaders: Schemas = {
  'Content-Disposition': dispositionHeader,
  'X-Row-Count': header(count('The rows of the answer.'), true),
  'X-Input-Row-Count': header(count('The rows of the uploaded table.'), true),
  'X-Match-Count': header(count('The objects or sources found.'), true),
  'X-Position-Columns': header(
    text('The columns used for right ascension and declination, percent-encoded, separated by a blank.'),
    true,
  ),
  'X-Dropped-Columns': header(
    text(
      'The columns that the answer cannot hold, such as lists, bytes and complex numbers: percent-encoded, separated by blanks, 50 at most. `dropped_columns` in the metadata lists all.',
    ),
  ),
  'X-Position-Frame': header(
    text(
      'The frame of these positions, which were converted to ICRS, and how it was determined: `FK4 B1950; source=declaration`. The source is `request`, `declaration`, `column name` or `default`.',
    ),
    true,
  ),
};

/** The headers of an answer that browsers may cache. */
const caching: Schemas = {
  ETag: header(text('The version of the answer, for `If-None-Match`; missing while objects are still counted.')),
  'Cache-Control': header(text('How long the answer may be cached.'), true),
};

export function getSkyMap(_config: Config, catalogs: Catalogs): Operation {
  const { 400: badRequest, ...others } = queryResponses('The cells.', skyMapSchema(catalogs), 'filters_span_catalogs');
  const { 200: ok } = others;
  const notModified = { description: 'The answer is the one with the ETag in `If-None-Match`.', headers: caching };
  return {
    summary: 'The number of objects in each cell of the sky, or the coverage by catalogs.',
    description:
      'Counts per H3 cell (h3geo.org) of the whole sky or of a disc, updated as objects arrive; or the coverage of the ' +
      `registered catalogs. An answer lists at most about ${MAX_MAP_CELLS} cells: for a finer resolution, request a smaller disc. ` +
      'Empty cells are not listed. After a start, requests may get 503 while the objects are being counted.',
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
  description: 'Like `list_tasks`, without a body.',
  responses: { 200: { description: 'No body.', headers: allowed } },
});

export const describeTasks = (): Operation => ({
  summary: 'A description of the task listing.',
  description: 'Name and formats of the listing.',
  responses: {
    200: {
      description: 'The description.',
      headers: allowed,
      content: json({
        ...open('The kind of the path.', {
          name: text('Name of the listing.'),
          description: text('The kind of the listed items.'),
          renders: list({ type: 'string' }, 'Media types that it answers with.'),
          parses: list({ type: 'string' }, 'Media types that it reads.', { maxItems: 0 }),
        }),
        additionalProperties: false,
      }),
    },
    204: {
      description: "The answer to a browser's preflight request.",
      headers: {
        ...allowed,
        'Access-Control-Allow-Methods': header(text('The methods of the path.'), true),
        'Access-Control-Allow-Headers': header(text('The headers that the browser requested.'), true),
        'Access-Control-Max-Age': header(integer('s', 'How long this may be cached.'), true),
      },
    },
  },
});
