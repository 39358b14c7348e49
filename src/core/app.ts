/** The service as one function from request to response, over the operations of all capabilities. */

import { IttyRouter } from 'itty-router';
import { letGo } from './answers/answer_memory.ts';
import { type Log, logToStderr } from './base/log.ts';
import { memoized } from './base/memoized.ts';
import type { Config } from './config/config.ts';
import type { Catalogs } from './contract/catalogs.ts';
import { LOG_POSITION_HEADER } from './contract/headers.ts';
import type { RowProgress } from './contract/row_progress.ts';
import { Coordinator } from './coordinator.ts';
import { queryParameters } from './documents/operations.ts';
import type { Api, Operation, PartOf, Resource } from './host.ts';
import { rootPath } from './http/base_url.ts';
import { compressed } from './http/compression.ts';
import { DirectRoutes } from './http/direct_routes.ts';
import { errorResponse, expectedErrorOf, internalError, methodNotAllowed, notFound } from './http/errors.ts';
import { Exchange, type Handler } from './http/exchange.ts';
import { refuseUnsupported } from './http/filters.ts';
import type { IncomingRequest } from './http/incoming.ts';
import { requestLog } from './http/request_log.ts';
import { type Answer, isPreflight, ownHeaders, preflightResponse, webBody } from './http/respond.ts';
import { withUnknownParameters } from './http/unknown_parameters.ts';
import { ThreadMetrics } from './metrics/thread_metrics.ts';
import type { Coordination } from './service/coordination.ts';
import { Service } from './service/service.ts';
import { openStore } from './store/store.ts';

export type App = ReturnType<typeof createApp>;

interface AppOptions {
  readonly config: Config;
  readonly api: Api;
  /** Needed if the app has no coordination from outside. */
  readonly parts?: readonly PartOf[];
  readonly log?: Log;
  readonly metrics?: ThreadMetrics;
  /** By default, the app itself makes the parts that exist once per process. */
  readonly coordination?: Coordination;
  /** The number of serving threads; 1 by default. */
  readonly threads?: number;
  readonly onProgress?: ((progress: RowProgress) => void) | undefined;
}

/** The app over `config.NEARSKY_DATA`. Until it is ready, queries are answered 503. */
export function createApp({ config, api, log = logToStderr, metrics = new ThreadMetrics(), ...options }: AppOptions) {
  const operations = () => metrics.operations.map(({ name }) => name);
  const threads = () => ({ threads: [metrics], operations: operations(), replaced: 0 });
  const own = options.coordination
    ? undefined
    : // A command asks for one thing at a time, so a process that waits for the next would start in vain.
      new Coordinator({ ...options, config, log, threads, parts: options.parts ?? [], hasSpareProcess: false });
  const service = new Service({
    config,
    log,
    metrics,
    counters: api.counters,
    coordination: options.coordination ?? own!,
    openStore: () => openStore(config.NEARSKY_DATA, 'read'),
    threads: options.threads ?? 1,
    writers: api.writers,
  });
  const answered = requestLog(config, log, metrics);
  /** Closes the database, and the parts that exist once per process, if the app made them itself. */
  const close = async (): Promise<void> => {
    await service.close();
    await own?.close();
  };
  let route: Handler;
  try {
    route = routesOf(service, api);
  } catch (error) {
    void close();
    throw error;
  }

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
  const finished = (exchange: Exchange, given: Answer): Answer | Promise<Answer> => {
    // Handlers from outside are not checked by a compiler.
    const plain = given?.headers ? given : failed(exchange, new TypeError('a handler has returned no answer'));
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
    close,
  };
}

interface Route extends Omit<Resource, 'method'> {
  readonly method: Operation['method'];
  /** See `Exchange.known`. */
  readonly known?: (catalogs: Catalogs) => ReadonlySet<string> | undefined;
  readonly isDiscovery?: true | undefined;
  readonly isSpecified?: true | undefined;
}

function allRoutes(service: Service, api: Api): Route[] {
  return [
    ...api.operations.map(operation => {
      const { name, metric = name } = operation;
      const known = memoized((catalogs: Catalogs) => queryParameters(operation, service.config, catalogs));
      return { ...operation, metric, handler: operation.handler(service, api), known };
    }),
    ...api.resources(service),
  ];
}

const nothingThere: Handler = ({ path }) => {
  throw notFound(path);
};

function routesOf(service: Service, api: Api): Handler {
  const router = IttyRouter();
  const direct = new DirectRoutes();
  /** The handlers of paths that end in a slash. The router would treat these paths like those without the slash. */
  const slashed = new Map<string, Handler>();
  for (const [path, given] of Map.groupBy(allRoutes(service, api), route => route.path)) {
    const routes = withHead(given);
    const add = (method: string, run: Handler) => {
      if (method !== 'ANY') direct.add(method, path, run);
      if (isSlashed(path)) slashed.set(path, run);
      else router[method === 'ANY' ? 'all' : method.toLowerCase()]!(path, run);
    };
    for (const route of routes) add(route.method, counted(route, service));
    if (routes.some(({ method }) => method === 'ANY')) continue;
    const allow = routes.map(({ method }) => method).join(', ');
    const refuse: Handler = exchange => otherMethod(exchange, allow);
    add('ANY', counted({ metric: routes[0]!.metric, handler: refuse, isWithoutObjects: true }, service));
  }
  const unknown = api.elsewhere?.(service) ?? nothingThere;
  const others: Handler = async exchange => {
    const { path } = exchange;
    const found = isSlashed(path) ? slashed.get(path)?.(exchange) : router.fetch(exchange);
    return (await found) ?? (await unknown(exchange));
  };
  return exchange => (direct.find(exchange) ?? others)(exchange);
}

/** Answers HEAD like GET, unless the specification excludes it. Whoever sends the answer omits the body. */
function withHead(routes: readonly Route[]): readonly Route[] {
  if (routes.some(({ method, isSpecified }) => method === 'HEAD' || isSpecified)) return routes;
  return routes.flatMap(route => (route.method === 'GET' ? [route, { ...route, method: 'HEAD' as const }] : [route]));
}

/**
 * Wraps the handler of a route: records the operation for the counters, and its allowed parameters; refuses parameters
 * that must not be ignored.
 */
function counted(
  { metric, handler, known, isDiscovery, isWithoutObjects }: Omit<Route, 'method' | 'path'>,
  service: Service,
): Handler {
  const operation = service.metrics.operation(metric);
  return exchange => {
    exchange.operation = operation;
    if (known && exchange.search.size > 0) exchange.known = known(service.catalogs);
    if (exchange.known && !isDiscovery) refuseUnsupported(exchange.search, exchange.known);
    const mayWait = !isWithoutObjects && service.coordination.state.hasLog;
    const place = mayWait ? exchange.request.headers.get(LOG_POSITION_HEADER) : null;
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
