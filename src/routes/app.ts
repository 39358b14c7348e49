/** The service as one function from request to response: every route on one screen. */
import { IttyRouter } from 'itty-router';
import { letGo } from '../answers/answer_memory.ts';
import { traceOf } from '../base/error_text.ts';
import { type Log, logToStderr } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { ApiError, methodNotAllowed } from '../contract/errors.ts';
import { MCP_PATH } from '../contract/mcp_tools.ts';
import { queryParameters } from '../documents/openapi/paths.ts';
import { TASK_PATH } from '../documents/tasks.ts';
import { compressed } from '../http/compression.ts';
import { DirectRoutes } from '../http/direct_routes.ts';
import { errorResponse } from '../http/errors.ts';
import { Exchange, type Handler } from '../http/exchange.ts';
import type { IncomingRequest } from '../http/incoming.ts';
import { REQUEST_ID_HEADER } from '../http/request_id.ts';
import { RequestLog } from '../http/request_log.ts';
import { type Answer, isPreflight, preflightResponse } from '../http/respond.ts';
import { withUnknownParameters } from '../http/unknown_parameters.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Coordination } from '../service/coordination.ts';
import { Coordinator } from '../service/coordinator.ts';
import { Service } from '../service/service.ts';
import { markdownDocs } from './api_docs.ts';
import { coneSearch } from './cone_search.ts';
import { describeService } from './describe_service.ts';
import { getObject } from './get_object.ts';
import { getOpenapi } from './get_openapi.ts';
import { health, readiness } from './health.ts';
import { getLlmsTxt } from './llms_txt.ts';
import { lookupObjects } from './lookup_objects.ts';
import { mcp } from './mcp.ts';
import { METRICS_PATH, metrics } from './metrics.ts';
import { otherPath, pages } from './pages.ts';
import { recentCrossmatches } from './recent_crossmatches.ts';
import { resolveTns } from './resolve_tns.ts';
import { serviceStatus } from './service_status.ts';
import { SKY_MAP_PATH, skyMap } from './sky_map.ts';
import { redirectToTaskList, taskList } from './task_list.ts';
import { virtualObservatory } from './vo.ts';

export interface App {
  /**
   * Answers a request; never rejects.
   * @param peerAddress the IP address that the connection comes from
   */
  fetch(request: Request, peerAddress?: string): Promise<Response>;
  /** The same, for a server that frames requests and answers itself: at once where it can. Never throws or rejects. */
  answer(request: IncomingRequest, peerAddress?: string): Answer | Promise<Answer>;
  /** Whether queries can be answered. */
  readonly ready: boolean;
  readonly metrics: ThreadMetrics;
  /** The names of the operations that are counted, in the order in which they are. */
  readonly operations: readonly string[];
  /** From now on it is not ready for new clients, though it answers. */
  stop(): void;
  /** Lets go of the database, and of what there is one of in a process where it is the app's own. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly metrics?: ThreadMetrics;
  /** The parts that a process has once. An app that is alone makes its own, over `config.NEARSKY_DATA`. */
  readonly coordination?: Coordination;
}

/** The app over `config.NEARSKY_DATA`. Until it is ready, queries are answered 503. */
export function createApp({ config, log = logToStderr, metrics = new ThreadMetrics(), ...options }: AppOptions): App {
  const operations = () => metrics.operations.map(({ name }) => name);
  const threads = () => ({ threads: [metrics], operations: operations(), replaced: 0 });
  const own = options.coordination ? undefined : new Coordinator({ config, log, threads });
  const service = new Service({ config, log, metrics, coordination: options.coordination ?? own! });
  const requests = new RequestLog(config, log, metrics);
  const route = routesOf(service);

  const failed = (exchange: Exchange, error: unknown): Answer => {
    const failure = error instanceof ApiError ? error : internalError(exchange, error, log);
    exchange.error = failure.code;
    return errorResponse(failure);
  };
  const finished = (exchange: Exchange, plain: Answer): Answer | Promise<Answer> => {
    requests.answered(exchange, plain);
    const { search, known } = exchange;
    const named = known && search.size > 0 ? withUnknownParameters(plain, search, known) : plain;
    const whole = { ...named, requestId: exchange.requestId };
    const { method, headers } = exchange.request;
    return method === 'HEAD' ? whole : compressed(whole, headers);
  };
  const later = async (exchange: Exchange, answering: Promise<Answer>): Promise<Answer> => {
    const plain = await answering.catch(error => failed(exchange, error));
    return await finished(exchange, plain);
  };
  const answer = (request: IncomingRequest, peerAddress?: string): Answer | Promise<Answer> => {
    const exchange = new Exchange(request, config.API_REQUEST_BUDGET_SECONDS, peerAddress);
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
    async fetch(request, peerAddress) {
      const { status, headers, body, requestId } = await answer(request, peerAddress);
      const response = new Response(request.method === 'HEAD' ? null : body, {
        status,
        headers: { ...headers, [REQUEST_ID_HEADER]: requestId! },
      });
      // The response has copied it.
      letGo(body);
      return response;
    },
    get ready() {
      return service.indexReady;
    },
    metrics,
    get operations() {
      return operations();
    },
    stop: () => service.stop(),
    async close() {
      await service.close();
      await own?.close();
    },
  };
}

/** Every route. */
function routesOf(service: Service): Handler {
  const router = IttyRouter();
  const named = (name: string, handler: Handler): Handler => {
    const operation = service.metrics.operation(name);
    return exchange => {
      exchange.operation = operation;
      return handler(exchange);
    };
  };
  const direct = new DirectRoutes();
  const parameters = queryParameters(service.config);
  const operation = (method: string, path: string, name: string, handler: Handler) => {
    const counted = named(name, handler);
    const known = parameters.get(`${method} ${path}`);
    const run: Handler = exchange => {
      exchange.known = known;
      return counted(exchange);
    };
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
  operation('GET', SKY_MAP_PATH, 'sky_map', skyMap(service));
  operation('GET', '/openapi.json', 'get_openapi', getOpenapi(service));
  operation('GET', '/llms.txt', 'llms_txt', getLlmsTxt(service));
  operation('GET', '/api-docs.md', 'api_docs', markdownDocs(service));
  for (const [path, name, handler] of pages(service)) operation('GET', path, name, handler);
  for (const [path, name, handler] of virtualObservatory(service)) operation('GET', path, name, handler);
  operation('GET', '/api/task', 'task_list', redirectToTaskList);
  router.all!(MCP_PATH, named('mcp', mcp(service)));
  router.all!('/healthz', named('healthz', health));
  router.all!('/readyz', named('readyz', readiness(service)));
  operation('GET', METRICS_PATH, 'metrics', metrics(service));
  const listTasks = named('task_list', taskList);
  const unknown = otherPath(service);

  const others: Handler = async exchange => {
    if (exchange.path === TASK_PATH) return await listTasks(exchange);
    // The router takes a path with and without a slash at its end for the same; beside the front page no other path here has one.
    const found = exchange.path.endsWith('/') && exchange.path !== '/' ? undefined : await router.fetch(exchange);
    return found ?? (await unknown(exchange));
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
