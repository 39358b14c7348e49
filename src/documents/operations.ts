/**
 * The table of all operations of the API. The router, the OpenAPI document, the names in metrics, llms.txt and the
 * known parameters are derived from it. src/routes/app.ts maps each name to the function that answers. Pages and the
 * Virtual Observatory have their own tables there.
 */
import type { Config } from '../config/config.ts';
import { limitsOf } from '../config/described_limits.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { MATCH_FORMATS } from '../contract/formats.ts';
import {
  AREA_PATH,
  MAX_AREA_BYTES,
  MAX_AREA_CELLS,
  MAX_LOOKED_AT,
  MAX_MAP_CELLS,
  MAX_POLYGON_VERTICES,
  MAX_UNPACKED_AREA_BYTES,
} from '../contract/limits.ts';
import { MCP_ARCHIVE_PATH, MCP_PATH } from '../contract/mcp_tools.ts';
import { TABLE_PATH } from '../contract/table_match.ts';
import { errors, header, ignoredHeader } from './openapi/general.ts';
import { type DocumentedOperation, documentedParameters, type Operation, type Paths } from './openapi/parameters.ts';
import {
  ANY_BYTES,
  allowed,
  areaBody,
  caching,
  contentIn,
  eventResponses,
  filteredResponses,
  jobHeaders,
  json,
  namesIgnored,
  queryResponses,
  resultHeaders,
  stated,
  staticResponses,
  tableResponses,
} from './openapi/responses.ts';
import { integer, list, open, ref, text } from './openapi/schema.ts';
import { areaSchema, objectsSchema } from './openapi/selection.ts';
import { skyMapSchema } from './openapi/sky_map.ts';
import { objectsOfSourceSchema, sourcesSchema } from './openapi/sources.ts';
import { virtualObservatory } from './openapi/virtual_observatory.ts';
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
} from './parameters.ts';
import { decimal } from './prose.ts';
import { TASK_PATH, TASKS } from './tasks.ts';

export interface OperationRow {
  /** The operation's name: its `operationId` in the OpenAPI document. */
  readonly name: string;
  /** `ANY` if the operation checks the method itself. */
  readonly method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS' | 'ANY';
  /** `:name` matches one segment. */
  readonly path: string;
  /** The name under which requests are counted, if it is not `name`. */
  readonly metric?: string;
  /** The description in the OpenAPI document; undefined if the operation is not in it. */
  readonly document?: (config: Config, catalogs: Catalogs) => Operation;
  /** Set if the operation describes the service and needs no arguments, so that a client can simply open it. */
  readonly isDiscovery?: true;
}

const RESUMED =
  'a client that reconnects with the last id as `Last-Event-ID` misses no event and gets none twice. If there are no events, a comment ' +
  'or an id is sent every 15 s. Clients that do not read are disconnected.';

function streamMatches(_config: Config, catalogs: Catalogs): Operation {
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

function streamObjects(_config: Config, catalogs: Catalogs): Operation {
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

const LEFT_OUT =
  'Unlike in other operations, filters and the window exclude objects. A page may then be short or even empty, although another page ' +
  `follows, because about ${MAX_LOOKED_AT} objects at most are examined per page. Follow \`next_cursor\` until it is null.`;

/** The operations, in the order of the document. */
export const OPERATIONS = [
  {
    name: 'get_openapi',
    method: 'GET',
    path: '/openapi.json',
    document: () => ({
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
    }),
    isDiscovery: true,
  },
  {
    name: 'get_object',
    method: 'GET',
    path: '/api/objects/:diaObjectId',
    document: (_config, catalogs) => ({
      summary: 'One object by its diaObjectId.',
      description:
        'The lookup response with exactly one result, or counts. An unknown id gives a result with the status ' +
        '`not_in_service`, not an error.',
      parameters: documentedParameters(OBJECT_PARAMETERS, catalogs),
      responses: stated(filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter')),
    }),
  },
  {
    name: 'lookup_objects',
    method: 'POST',
    path: '/api/lookup',
    document: (_config, catalogs) => ({
      summary: 'Many objects by identifiers, positions and registry names.',
      description:
        'Read-only and idempotent. Every input yields exactly one result, in the order of the inputs, with the input as sent and as ' +
        'understood. A malformed input yields `invalid_input` in its own result. An unknown field is an error. A result lists ' +
        'objects up to the limits; `truncated` and `total` show whether there are more.',
      parameters: documentedParameters(LOOKUP_PARAMETERS, catalogs),
      requestBody: { required: true, content: json(ref('LookupRequest')) },
      responses: stated(filteredResponses('One result per input, or counts.', 'LookupResponse')),
    }),
  },
  {
    name: 'cone_search',
    method: 'GET',
    path: '/api/cone',
    document: (config, catalogs) => ({
      summary: 'Every object within a radius of a position, page by page.',
      description:
        `Objects within a radius of at most ${decimal(config.API_MAX_CONE_RADIUS_ARCSEC)} arcsec, crossmatched or not, across the ` +
        'whole archive, in ascending order of ingest time and identifier. Follow `next_cursor` until it is null. A position near which there is no ' +
        'object has the status `no_rubin_object`.',
      parameters: documentedParameters(coneParameters(config), catalogs),
      responses: stated(filteredResponses('One page, or counts.', 'ConeSearchResponse', 'unsupported_parameter')),
    }),
  },
  {
    name: 'resolve_tns',
    method: 'GET',
    path: '/api/tns/:name',
    document: (config, catalogs) => ({
      summary: 'Every object at the position of a TNS name.',
      description:
        'The name is resolved in the registry snapshot. The answer contains the registry record and the epoch of the snapshot. Not paged: ' +
        `at most ${config.API_MAX_OBJECTS_PER_POSITION} objects, with \`truncated\` and \`total\`. If the snapshot is stale or missing, the status is ` +
        '`resolver_unavailable`; for an unknown name it is `tns_name_not_found`. Both come with HTTP 200.',
      parameters: documentedParameters(tnsParameters(config), catalogs),
      responses: filteredResponses('One result, or counts.', 'LookupResponse', 'unsupported_parameter'),
    }),
  },
  {
    name: 'service_status',
    method: 'GET',
    path: '/api/status',
    document: () => ({
      summary: 'Whether the service can answer now.',
      description: 'Always 200. If the database cannot be read, the answer says so.',
      responses: staticResponses('The state of the service.', ref('ServiceStatus')),
    }),
    isDiscovery: true,
  },
  {
    name: 'describe_service',
    method: 'GET',
    path: '/api/describe',
    document: () => ({
      summary: 'The contents and the configuration of the service.',
      description:
        'Catalogs with the meaning of their source ids, their filterable fields and coverage maps; radii; limits; detail levels; filters; ' +
        'reliability cuts; the connector. Made from the live configuration; the database is not needed.',
      responses: staticResponses('The live configuration.', ref('ServiceDescription')),
    }),
    isDiscovery: true,
  },
  {
    name: 'recent_crossmatches',
    method: 'GET',
    path: '/api/recent-crossmatches',
    document: (config, catalogs) => ({
      summary: 'Objects with coincident sources in a recent window, newest first, page by page.',
      description:
        `Objects whose alert is in a time window of at most ${config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS} hours. Objects without a match are ` +
        'not listed; no object is repeated in a walk. Follow `next_cursor` until it is null. Filters and `response` are refused with ' +
        '`unsupported_parameter`. A large page at `full` can exceed the time budget: use a smaller `page_size`.',
      parameters: documentedParameters(recentParameters(config), catalogs),
      responses: tableResponses('One page.', ref('RecentCrossmatchesPage'), 'filters_span_catalogs'),
    }),
  },
  { name: 'stream_matches', method: 'GET', path: '/api/stream/matches', document: streamMatches },
  {
    name: 'stream_matches_in_area',
    method: 'POST',
    path: '/api/stream/matches',
    metric: 'stream_matches',
    document: (config, catalogs) => ({
      ...streamMatches(config, catalogs),
      summary: 'Matches of the objects in an area as they are recorded, as an endless stream of server-sent events.',
      ...inArea(config),
    }),
  },
  { name: 'stream_objects', method: 'GET', path: '/api/stream/objects', document: streamObjects },
  {
    name: 'stream_objects_in_area',
    method: 'POST',
    path: '/api/stream/objects',
    metric: 'stream_objects',
    document: (config, catalogs) => ({
      ...streamObjects(config, catalogs),
      summary: 'Objects in an area as they are stored and crossmatched, as an endless stream of server-sent events.',
      ...inArea(config),
    }),
  },
  {
    name: 'find_sources',
    method: 'GET',
    path: '/api/sources',
    document: (_config, catalogs) => ({
      summary: 'Every source of the catalogs near a position.',
      description:
        'Reads the registered catalogs themselves, whether or not the service has an object there. It finds all sources within the radius, not ' +
        'only the nearest one, which a crossmatch records. Positions are those in the catalogs; no proper motion is applied. The outcome ' +
        'of a catalog says whether it was searched. If it was not, the absence of its sources is not evidence.',
      parameters: documentedParameters(sourcesParameters(catalogs), catalogs),
      responses: queryResponses('The sources.', sourcesSchema(catalogs), 'filters_span_catalogs'),
    }),
  },
  {
    name: 'find_objects_of_source',
    method: 'GET',
    path: '/api/sources/:catalog/:catalog_source_id',
    document: (_config, catalogs) => ({
      summary: 'The objects for which a source of a catalog is recorded.',
      description:
        'The objects whose matches have this source, by id. A crossmatch records only the nearest source of a catalog, so ' +
        'another source may be recorded for an object near this one. If the source is recorded for no object, the list is empty, whether or not ' +
        'its catalog has it.',
      parameters: documentedParameters(sourceParameters(catalogs), catalogs),
      responses: queryResponses('The objects.', objectsOfSourceSchema(catalogs), 'filters_span_catalogs'),
    }),
  },
  {
    name: 'search_area',
    method: 'POST',
    path: AREA_PATH,
    document: (config, catalogs) => ({
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
    }),
  },
  {
    name: 'list_objects',
    method: 'GET',
    path: '/api/objects',
    document: (config, catalogs) => ({
      summary: 'The objects by time, newest first, page by page, or their number.',
      description:
        'Every object, with a position or not, crossmatched or not, or those of one `status`. Objects as lookups show them, ' +
        `by ingest or event time, descending, then by identifier. ${LEFT_OUT}`,
      parameters: documentedParameters(objectsParameters(config), catalogs),
      responses: stated(tableResponses('One page, or a count.', objectsSchema, 'unsupported_parameter')),
    }),
  },
  {
    name: 'crossmatch_table',
    method: 'POST',
    path: TABLE_PATH,
    document: ({ API_MAX_TABLE_ROWS, API_MAX_TABLE_MIB }, catalogs) => {
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
    },
  },
  {
    name: 'get_sky_map',
    method: 'GET',
    path: '/api/sky-map',
    metric: 'sky_map',
    document: (_config, catalogs) => {
      const { 400: badRequest, ...others } = queryResponses(
        'The cells.',
        skyMapSchema(catalogs),
        'filters_span_catalogs',
      );
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
    },
  },
  {
    name: 'list_tasks',
    method: 'GET',
    path: TASK_PATH,
    metric: 'task_list',
    document: () => ({
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
    }),
  },
  {
    name: 'head_tasks',
    method: 'HEAD',
    path: TASK_PATH,
    metric: 'task_list',
    document: () => ({
      summary: 'The headers of the task listing.',
      description: 'Like `list_tasks`, without a body.',
      responses: { 200: { description: 'No body.', headers: allowed } },
    }),
  },
  {
    name: 'describe_tasks',
    method: 'OPTIONS',
    path: TASK_PATH,
    metric: 'task_list',
    document: () => ({
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
    }),
  },
  { name: 'redirect_to_tasks', method: 'GET', path: '/api/task', metric: 'task_list' },
  { name: 'llms_txt', method: 'GET', path: '/llms.txt' },
  { name: 'api_docs', method: 'GET', path: '/api-docs.md' },
  { name: 'mcp', method: 'ANY', path: MCP_PATH },
  { name: 'mcp_archive', method: 'ANY', path: MCP_ARCHIVE_PATH },
  { name: 'healthz', method: 'ANY', path: '/healthz' },
  { name: 'readyz', method: 'ANY', path: '/readyz' },
  { name: 'metrics', method: 'GET', path: '/metrics' },
] as const satisfies readonly OperationRow[];

export type OperationName = (typeof OPERATIONS)[number]['name'];

const ROWS: readonly OperationRow[] = OPERATIONS;

export function paths(config: Config, catalogs: Catalogs): Paths {
  const all: Record<string, Record<string, DocumentedOperation>> = {};
  for (const { name, method, path, document } of ROWS) {
    if (!document) continue;
    const methods = (all[path.replace(/:(\w+)/g, '{$1}')] ??= {});
    methods[method.toLowerCase()] = { operationId: name, ...document(config, catalogs) };
  }
  return all;
}

export function voPaths(config: Config, catalogs: Catalogs): Paths {
  const all: Record<string, Record<string, DocumentedOperation>> = {};
  for (const { method, path, ...operation } of virtualObservatory(config, catalogs))
    (all[path] ??= {})[method] = operation;
  return all;
}

/** The operations that a client can open without arguments. */
export const DISCOVERY: readonly OperationRow[] = ROWS.filter(({ isDiscovery }) => isDiscovery);

/**
 * The parameters that the query string of an operation may have. Undefined if the document does not promise that
 * answers list ignored parameters.
 */
export function queryParameters(
  { document }: OperationRow,
  config: Config,
  catalogs: Catalogs,
): ReadonlySet<string> | undefined {
  const { parameters = [], responses } = document?.(config, catalogs) ?? {};
  if (!namesIgnored(responses?.[200])) return undefined;
  return new Set(parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name));
}
