/** The service as one function from request to response: every route on one screen. */

import { IttyRouter } from 'itty-router';
import type { Config } from './config.ts';
import { MCP_PATH } from './contract/mcp_tools.ts';
import { TASK_PATH } from './contract/tasks.ts';
import { traceOf } from './error_text.ts';
import { compressed } from './http/compression.ts';
import { DirectRoutes } from './http/direct_routes.ts';
import { ApiError, errorResponse, methodNotAllowed, notFound } from './http/errors.ts';
import { Exchange, type Handler } from './http/exchange.ts';
import type { IncomingRequest } from './http/incoming.ts';
import { REQUEST_ID_HEADER } from './http/request_id.ts';
import { type Answer, isPreflight, preflightResponse } from './http/respond.ts';
import { type Log, logToStderr } from './log.ts';
import type { ThreadMetrics } from './metrics/thread_metrics.ts';
import { LocalIndex } from './publish/index_source.ts';
import { RequestLog } from './request_log.ts';
import { markdownDocs } from './routes/api_docs.ts';
import { coneSearch } from './routes/cone_search.ts';
import { describeService } from './routes/describe_service.ts';
import { getObject } from './routes/get_object.ts';
import { getOpenapi } from './routes/get_openapi.ts';
import { health, readiness } from './routes/health.ts';
import { getLlmsTxt } from './routes/llms_txt.ts';
import { lookupObjects } from './routes/lookup_objects.ts';
import { mcp } from './routes/mcp.ts';
import { METRICS_PATH, metrics, type Watched } from './routes/metrics.ts';
import { pages } from './routes/pages.ts';
import { recentCrossmatches } from './routes/recent_crossmatches.ts';
import { resolveTns } from './routes/resolve_tns.ts';
import { serviceStatus } from './routes/service_status.ts';
import { SKY_MAP_PATH, skyMap } from './routes/sky_map.ts';
import { redirectToTaskList, taskList } from './routes/task_list.ts';
import { virtualObservatory } from './routes/vo.ts';
import { Service, type ServiceOptions } from './service.ts';

export interface App {
  /**
   * Answers a request; never rejects.
   * @param peerAddress the IP address that the connection comes from
   */
  fetch(request: Request, peerAddress?: string): Promise<Response>;
  /** The same, for a server that frames requests and answers itself. */
  answer(request: IncomingRequest, peerAddress?: string): Promise<Answer>;
  /** The same for a request that another thread forwards, counts, and answers. */
  handle(request: IncomingRequest, peerAddress: string | undefined, budgetSeconds: number): Promise<Answer>;
  /** Whether queries can be answered. */
  readonly ready: boolean;
  readonly metrics: ThreadMetrics;
  /** Starts the query threads, so that the first queries do not wait for them. */
  warm(): Promise<void>;
  /** From now on it is not ready for new clients, though it answers. */
  stop(): void;
  /** Finishes what is running and lets go of the threads and the database. */
  close(): Promise<void>;
}

export interface AppOptions extends Partial<Omit<ServiceOptions, 'config'>> {
  readonly config: Config;
  /** The index, where it is not the app's own over `config.NEARSKY_DATA`; then closing it is not the app's business. */
  readonly index?: ServiceOptions['index'];
  /** What is watched beside this thread. */
  readonly watched?: () => Watched;
  /** Where there is one app a thread: has the main one answer what must be one in a process. */
  readonly forward?: Handler;
}

/** The app over `config.NEARSKY_DATA`. It starts loading at once; until `ready`, queries are answered 503. */
export function createApp(options: AppOptions): App {
  const { config, log = logToStderr } = options;
  const ownIndex = options.index ? undefined : new LocalIndex(config.NEARSKY_DATA, log);
  const index = options.index ?? ownIndex!;
  const service = new Service({ workers: config.NEARSKY_WORKERS, ...options, log, index });
  const requests = new RequestLog(config, log, service.metrics);
  const watched = () => ({ threads: [service.metrics], index: ownIndex, ...options.watched?.() });
  const route = routesOf(service, watched, options.forward);

  const handle = async (exchange: Exchange): Promise<Answer> => {
    try {
      return await route(exchange);
    } catch (error) {
      const failure = error instanceof ApiError ? error : internalError(exchange, error, log);
      exchange.error = failure.code;
      return errorResponse(failure);
    }
  };
  const answer = async (request: IncomingRequest, peerAddress?: string): Promise<Answer> => {
    const exchange = new Exchange(request, config.API_REQUEST_BUDGET_SECONDS, peerAddress);
    const plain = await handle(exchange);
    requests.answered(exchange, plain);
    const whole = { ...plain, requestId: exchange.requestId };
    return request.method === 'HEAD' ? whole : compressed(whole, request.headers.get('Accept-Encoding'));
  };
  return {
    answer,
    handle: (request, peerAddress, budgetSeconds) => handle(new Exchange(request, budgetSeconds, peerAddress)),
    async fetch(request, peerAddress) {
      const { status, headers, body, requestId } = await answer(request, peerAddress);
      return new Response(request.method === 'HEAD' ? null : body, {
        status,
        headers: { ...headers, [REQUEST_ID_HEADER]: requestId! },
      });
    },
    get ready() {
      return service.indexReady;
    },
    metrics: service.metrics,
    warm: () => service.warm(),
    stop: () => service.stop(),
    async close() {
      await service.close();
      await ownIndex?.close();
    },
  };
}

/** Every route. What must be one in a process is `forward`'s to answer, where there is one. */
function routesOf(service: Service, watched: () => Watched, forward: Handler | undefined): Handler {
  const router = IttyRouter();
  const named = (name: string, handler: Handler): Handler => {
    const operation = service.metrics.operation(name);
    return exchange => {
      exchange.operation = operation;
      return handler(exchange);
    };
  };
  const direct = new DirectRoutes();
  const operation = (method: string, path: string, name: string, handler: Handler) => {
    const run = named(name, handler);
    direct.add(method, path, run);
    router[method.toLowerCase()]!(path, run);
    router.all!(
      path,
      named(name, exchange => otherMethod(exchange, method)),
    );
  };

  operation('GET', '/api/objects/:diaObjectId', 'get_object', getObject(service));
  operation('POST', '/api/lookup', 'lookup_objects', lookupObjects(service));
  operation('GET', '/api/cone', 'cone_search', coneSearch(service));
  operation('GET', '/api/tns/:name', 'resolve_tns', resolveTns(service));
  operation('GET', '/api/status', 'service_status', serviceStatus(service));
  operation('GET', '/api/describe', 'describe_service', describeService(service));
  operation('GET', '/api/recent-crossmatches', 'recent_crossmatches', recentCrossmatches(service));
  operation('GET', SKY_MAP_PATH, 'sky_map', forward ?? skyMap(service));
  operation('GET', '/openapi.json', 'get_openapi', getOpenapi(service));
  operation('GET', '/llms.txt', 'llms_txt', getLlmsTxt(service));
  operation('GET', '/api-docs.md', 'api_docs', markdownDocs(service));
  for (const [path, name, handler] of pages(service)) operation('GET', path, name, handler);
  for (const [path, name, handler] of virtualObservatory(service)) operation('GET', path, name, handler);
  operation('GET', '/api/task', 'task_list', redirectToTaskList);
  router.all!(MCP_PATH, named('mcp', forward ?? mcp(service)));
  router.all!('/healthz', named('healthz', health));
  router.all!('/readyz', named('readyz', readiness(service)));
  operation('GET', METRICS_PATH, 'metrics', forward ?? metrics(service, watched));
  const listTasks = named('task_list', taskList);

  const others: Handler = async exchange => {
    if (exchange.path === TASK_PATH) return await listTasks(exchange);
    // The router takes a path with and without a slash at its end for the same; beside the front page no other path here has one.
    const found = exchange.path.endsWith('/') && exchange.path !== '/' ? undefined : await router.fetch(exchange);
    if (!found) throw notFound(exchange.path);
    return found;
  };
  return exchange => (direct.find(exchange) ?? others)(exchange);
}

function otherMethod({ request, method }: Exchange, allow: string): Answer {
  if (isPreflight(request)) return preflightResponse(request, allow);
  throw methodNotAllowed(method, allow);
}

/** A fault of our own: the log has it, the client does not. */
function internalError({ method, url, requestId }: Exchange, error: unknown, log: Log): ApiError {
  log('internal_error', { request_id: requestId, method, url, error: traceOf(error) });
  return new ApiError('internal_error', 'Cannot answer as the service has a fault: it is logged; try again');
}
