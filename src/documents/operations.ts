/**
 * The table of all operations of the API. The router, the OpenAPI document, the names in metrics, llms.txt and the
 * known parameters are derived from it. src/routes/app.ts maps each name to the function that answers. Pages and the
 * Virtual Observatory have their own tables there.
 */

import type { Config } from '../config/config.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { AREA_PATH } from '../contract/limits.ts';
import { MCP_ARCHIVE_PATH, MCP_PATH } from '../contract/mcp_tools.ts';
import { TABLE_PATH } from '../contract/table_match.ts';
import * as documented from './openapi/operations.ts';
import type { DocumentedOperation, Operation, Paths } from './openapi/parameters.ts';
import { virtualObservatory } from './openapi/virtual_observatory.ts';
import { TASK_PATH } from './tasks.ts';

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

/** The operations, in the order of the document. */
export const OPERATIONS = [
  { name: 'get_openapi', method: 'GET', path: '/openapi.json', document: documented.getOpenapi, isDiscovery: true },
  { name: 'get_object', method: 'GET', path: '/api/objects/:diaObjectId', document: documented.getObject },
  { name: 'lookup_objects', method: 'POST', path: '/api/lookup', document: documented.lookupObjects },
  { name: 'cone_search', method: 'GET', path: '/api/cone', document: documented.coneSearch },
  { name: 'resolve_tns', method: 'GET', path: '/api/tns/:name', document: documented.resolveTns },
  { name: 'service_status', method: 'GET', path: '/api/status', document: documented.serviceStatus, isDiscovery: true },
  {
    name: 'describe_service',
    method: 'GET',
    path: '/api/describe',
    document: documented.describeService,
    isDiscovery: true,
  },
  {
    name: 'recent_crossmatches',
    method: 'GET',
    path: '/api/recent-crossmatches',
    document: documented.recentCrossmatches,
  },
  { name: 'stream_matches', method: 'GET', path: '/api/stream/matches', document: documented.streamMatches },
  {
    name: 'stream_matches_in_area',
    method: 'POST',
    path: '/api/stream/matches',
    metric: 'stream_matches',
    document: documented.streamMatchesInArea,
  },
  { name: 'stream_objects', method: 'GET', path: '/api/stream/objects', document: documented.streamObjects },
  {
    name: 'stream_objects_in_area',
    method: 'POST',
    path: '/api/stream/objects',
    metric: 'stream_objects',
    document: documented.streamObjectsInArea,
  },
  { name: 'find_sources', method: 'GET', path: '/api/sources', document: documented.findSources },
  {
    name: 'find_objects_of_source',
    method: 'GET',
    path: '/api/sources/:catalog/:catalog_source_id',
    document: documented.findObjectsOfSource,
  },
  { name: 'search_area', method: 'POST', path: AREA_PATH, document: documented.searchArea },
  { name: 'list_objects', method: 'GET', path: '/api/objects', document: documented.listObjects },
  { name: 'crossmatch_table', method: 'POST', path: TABLE_PATH, document: documented.crossmatchTable },
  { name: 'get_sky_map', method: 'GET', path: '/api/sky-map', metric: 'sky_map', document: documented.getSkyMap },
  { name: 'list_tasks', method: 'GET', path: TASK_PATH, metric: 'task_list', document: documented.listTasks },
  { name: 'head_tasks', method: 'HEAD', path: TASK_PATH, metric: 'task_list', document: documented.headTasks },
  {
    name: 'describe_tasks',
    method: 'OPTIONS',
    path: TASK_PATH,
    metric: 'task_list',
    document: documented.describeTasks,
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
  if (!documented.namesIgnored(responses?.[200])) return undefined;
  return new Set(parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name));
}
