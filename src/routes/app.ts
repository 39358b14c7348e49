/** The service as one function from request to response: every operation on one screen. */

import { IttyRouter } from 'itty-router';
import { letGo } from '../answers/answer_memory.ts';
import { type Log, logToStderr } from '../base/log.ts';
import { memoized } from '../base/memoized.ts';
import type { Config } from '../config/config.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { LOG_POSITION_HEADER } from '../contract/headers.ts';
import { ALL_MCP_TOOLS, MCP_TOOLS } from '../contract/mcp_tools.ts';
import { JOBS_PATH, type TableProgress } from '../contract/table_match.ts';
import { OPERATIONS, type OperationName, type OperationRow, queryParameters } from '../documents/operations.ts';
import { rootPath } from '../http/base_url.ts';
import { compressed } from '../http/compression.ts';
import { DirectRoutes } from '../http/direct_routes.ts';
import { errorResponse, expectedErrorOf, internalError, methodNotAllowed } from '../http/errors.ts';
import { Exchange, type Handler, type Place } from '../http/exchange.ts';
import { refuseUnsupported } from '../http/filters.ts';
import type { IncomingRequest } from '../http/incoming.ts';
import { requestLog } from '../http/request_log.ts';
import { type Answer, isPreflight, ownHeaders, preflightResponse, webBody } from '../http/respond.ts';
import { type MatchedTable, matchedHeaders } from '../http/table_response.ts';
import { withUnknownParameters } from '../http/unknown_parameters.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Coordination } from '../service/coordination.ts';
import { Coordinator } from '../service/coordinator.ts';
import { Service } from '../service/service.ts';
import { TABLE_JOB } from '../table_match/table_jobs.ts';
import { LINKS_PATH } from '../vo/object_links.ts';
import { coneSearch } from './cone_search.ts';
import { crossmatchTable } from './crossmatch_table.ts';
import {
  describeService,
  describeTaskList,
  getLlmsTxt,
  getOpenapi,
  markdownDocs,
  metrics,
  redirectToTaskList,
  serviceStatus,
  taskList,
} from './descriptions.ts';
import { health, readiness } from './health.ts';
import { jobRoutes } from './jobs.ts';
import { listObjects } from './list_objects.ts';
import { getObject, lookupObjects, resolveTns } from './lookups.ts';
import { mcp } from './mcp.ts';
import { nearbySources } from './nearby_sources.ts';
import { otherPath, pages } from './pages.ts';
import { recentCrossmatches } from './recent_crossmatches.ts';
import { searchArea } from './search_area.ts';
import { skyMap } from './sky_map.ts';
import { sourceObjects } from './source_objects.ts';
import { streamMatches, streamObjects } from './streams.ts';
import { tap } from './tap.ts';
import { virtualObservatory } from './vo.ts';
import { voLinks } from './vo_links.ts';

export type App = ReturnType<typeof createApp>;

interface AppOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly metrics?: ThreadMetrics;
  /** By default, the app makes the parts itself that exist once per process. */
  readonly coordination?: Coordination;
  /** The number of serving threads; 1 by default. */
  readonly threads?: number;
  /** See `CoordinatorOptions`. */
  readonly onTableProgress?: ((progress: TableProgress) => void) | undefined;
}

/** The app over `config.NEARSKY_DATA`. Until it is ready, queries are answered 503. */
export function createApp({ config, log = logToStderr, metrics = new ThreadMetrics(), ...options }: AppOptions) {
  const operations = () => metrics.operations.map(({ name }) => name);
  const threads = () => ({ threads: [metrics], operations: operations(), replaced: 0 });
  const own = options.coordination
    ? undefined
    : new Coordinator({ config, log, threads, onTableProgress: options.onTableProgress });
  const service = new Service({
    config,
    log,
    metrics,
    coordination: options.coordination ?? own!,
    threads: options.threads ?? 1,
  });
  const answered = requestLog(config, log, metrics);
  const route = routesOf(service);

  const failed = (exchange: Exchange, error: unknown): Answer => {
    const { method, url, requestId } = exchange;
    const failure = expectedErrorOf(error) ?? internalError(error, log, { request_id: requestId, method, url });
    exchange.error = failure.code;
    return errorResponse(failure);
  };
  const root = rootPath(config);
  /** Handlers write addresses in `Location` from the root of the service. */
  const rooted = (answer: Answer): Answer => {
    const { Location } = answer.headers;
    return Location?.startsWith('/')
      ? { ...answer, headers: { ...answer.headers, Location: root + Location } }
      : answer;
  };
  const finished = (exchange: Exchange, plain: Answer): Answer | Promise<Answer> => {
    answered(exchange, plain);
    const { search, known } = exchange;
    const named = known && search.size > 0 ? withUnknownParameters(plain, search, known) : plain;
    const { text: logPlace, lag: logLag } = service.logPlace;
    const whole = {
      ...rooted(named),
      requestId: exchange.requestId,
      ...(logPlace !== undefined && { logPlace }),
      ...(logLag !== undefined && { logLag }),
    };
    return compressed(whole, exchange.request.headers);
  };
  const later = async (exchange: Exchange, answering: Promise<Answer>): Promise<Answer> => {
    const plain = await answering.catch(error => failed(exchange, error));
    return await finished(exchange, plain);
  };
  /**
   * Answers a request for a server that does its own framing; synchronously if possible. Never throws or rejects.
   * @param peerAddress the IP address that the connection comes from
   */
  const answer = (request: IncomingRequest, peerAddress?: string): Answer | Promise<Answer> => {
    const exchange = new Exchange(request, config, peerAddress);
    let answering: Answer | Promise<Answer>;
    try {
      answering = route(exchange);
    } catch (error) {
      answering = failed(exchange, error);
    }
    return answering instanceof Promise ? later(exchange, answering) : finished(exchange, answering);
  };
  return {
    answer,
    /** Answers a request; never rejects. */
    async fetch(request: Request, peerAddress?: string): Promise<Response> {
      const whole = await answer(request, peerAddress);
      const headers = new Headers(whole.headers);
      const own = ownHeaders(whole);
      for (let i = 0; i < own.length; i += 2) headers.append(own[i]!, own[i + 1]!);
      const isHead = request.method === 'HEAD';
      const response = new Response(isHead ? null : webBody(whole), { status: whole.status, headers });
      if (isHead) whole.stream?.gone();
      // The response has its own copy of the body.
      letGo(whole.body);
      return response;
    },
    /**
     * Whether queries can be answered.
     * @throws the error of reading the database, if the app has no coordination from outside, and it cannot be read
     */
    get ready(): boolean {
      return own ? own.isReady() : service.indexReady;
    },
    metrics,
    get operations(): readonly string[] {
      return operations();
    },
    /** Marks the app as not ready for new clients. It still answers. */
    stop: () => service.stop(),
    /** Closes the database, and the parts that exist once per process, if the app made them itself. */
    async close(): Promise<void> {
      await service.close();
      await own?.close();
    },
  };
}

const HANDLERS: Readonly<Record<OperationName, (service: Service) => Handler>> = {
  get_openapi: getOpenapi,
  get_object: getObject,
  lookup_objects: lookupObjects,
  cone_search: coneSearch,
  resolve_tns: resolveTns,
  service_status: serviceStatus,
  describe_service: describeService,
  recent_crossmatches: recentCrossmatches,
  stream_matches: streamMatches,
  stream_matches_in_area: streamMatches,
  stream_objects: streamObjects,
  stream_objects_in_area: streamObjects,
  find_sources: nearbySources,
  find_objects_of_source: sourceObjects,
  search_area: searchArea,
  list_objects: listObjects,
  crossmatch_table: crossmatchTable,
  get_sky_map: skyMap,
  list_tasks: () => taskList,
  head_tasks: () => taskList,
  describe_tasks: () => describeTaskList,
  redirect_to_tasks: () => redirectToTaskList,
  llms_txt: getLlmsTxt,
  api_docs: markdownDocs,
  mcp: service => mcp(service, MCP_TOOLS),
  mcp_archive: service => mcp(service, ALL_MCP_TOOLS),
  healthz: () => health,
  readyz: readiness,
  metrics,
};

interface Route {
  readonly method: OperationRow['method'];
  readonly path: string;
  /** The name under which the route's requests are counted. */
  readonly metric: string;
  readonly handler: Handler;
  /** See `Exchange.known`. */
  readonly known?: (catalogs: Catalogs) => ReadonlySet<string> | undefined;
  /** See `OperationRow.isDiscovery`. */
  readonly isDiscovery?: true | undefined;
}

/** Every route: the table of the API, then the pages and the Virtual Observatory. */
function allRoutes(service: Service): Route[] {
  const rows: readonly (OperationRow & { readonly name: OperationName })[] = OPERATIONS;
  const as =
    (method: Route['method']) =>
    ([path, metric, handler]: Place): Route => ({ method, path, metric, handler });
  return [
    ...rows.map(row => {
      const { name, method, path, metric = name } = row;
      const known = memoized((catalogs: Catalogs) => queryParameters(row, service.config, catalogs));
      return { method, path, metric, handler: HANDLERS[name](service), known, isDiscovery: row.isDiscovery };
    }),
    ...pages(service).map(as('GET')),
    ...virtualObservatory(service).map(as('GET')),
    ...(['GET', 'POST'] as const).map(method => as(method)([LINKS_PATH, 'vo_links', voLinks(service)])),
    ...jobRoutes(service, {
      base: JOBS_PATH,
      kind: TABLE_JOB,
      headersOf: ({ about }) => matchedHeaders(about as MatchedTable),
    }).map(as('ANY')),
    ...tap(service).map(([method, ...place]) => as(method)(place)),
  ];
}

function routesOf(service: Service): Handler {
  const router = IttyRouter();
  const direct = new DirectRoutes();
  /** The handlers of paths that end in a slash. The router would treat these paths like those without the slash. */
  const slashed = new Map<string, Handler>();
  for (const [path, given] of Map.groupBy(allRoutes(service), route => route.path)) {
    const routes = withHead(given);
    const add = (method: string, run: Handler) => {
      if (method !== 'ANY') direct.add(method, path, run);
      if (isSlashed(path)) slashed.set(path, run);
      else router[method === 'ANY' ? 'all' : method.toLowerCase()]!(path, run);
    };
    for (const route of routes) add(route.method, counted(route, service));
    if (routes.some(({ method }) => method === 'ANY')) continue;
    const allow = routes.map(({ method }) => method).join(', ');
    add('ANY', counted({ metric: routes[0]!.metric, handler: exchange => otherMethod(exchange, allow) }, service));
  }
  const unknown = otherPath(service);
  const others: Handler = async exchange => {
    const { path } = exchange;
    const found = isSlashed(path) ? slashed.get(path)?.(exchange) : router.fetch(exchange);
    return (await found) ?? (await unknown(exchange));
  };
  return exchange => (direct.find(exchange) ?? others)(exchange);
}

/** Answers HEAD like GET. Whoever sends the answer omits the body. */
function withHead(routes: readonly Route[]): readonly Route[] {
  if (routes.some(({ method }) => method === 'HEAD')) return routes;
  return routes.flatMap(route => (route.method === 'GET' ? [route, { ...route, method: 'HEAD' as const }] : [route]));
}

/**
 * Wraps the handler of a route: records the operation for the counters, and its allowed parameters; refuses parameters
 * that must not be ignored.
 */
function counted({ metric, handler, known, isDiscovery }: Omit<Route, 'method' | 'path'>, service: Service): Handler {
  const operation = service.metrics.operation(metric);
  return exchange => {
    exchange.operation = operation;
    if (known && exchange.search.size > 0) exchange.known = known(service.catalogs);
    if (exchange.known && !isDiscovery) refuseUnsupported(exchange.search, exchange.known);
    const place = service.coordination.state.hasLog ? exchange.request.headers.get(LOG_POSITION_HEADER) : null;
    if (place === null || service.logPlace.has(place)) return handler(exchange);
    return service.logPlace.reach(place, exchange.budget).then(() => handler(exchange));
  };
}

/** Whether a path ends in a slash; the front page does not count, because it has only one address. */
function isSlashed(path: string): boolean {
  return path.endsWith('/') && path !== '/';
}

function otherMethod({ request, method }: Exchange, allow: string): Answer {
  if (isPreflight(request)) return preflightResponse(request, allow);
  throw methodNotAllowed(method, allow);
}
