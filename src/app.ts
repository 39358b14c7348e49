/** The service as one function from request to response: every route on one screen. */

import { IttyRouter } from 'itty-router';
import type { Config } from './config.ts';
import { MCP_PATH } from './contract/mcp_tools.ts';
import { TASK_PATH } from './contract/tasks.ts';
import { traceOf } from './error_text.ts';
import { ApiError, errorResponse, methodNotAllowed, notFound } from './http/errors.ts';
import { Exchange, type Handler } from './http/exchange.ts';
import type { IncomingRequest } from './http/incoming.ts';
import { type Answer, isPreflight, preflightResponse } from './http/respond.ts';
import { type Log, logToStderr } from './log.ts';
import { htmlDocs, markdownDocs } from './routes/api_docs.ts';
import { coneSearch } from './routes/cone_search.ts';
import { describeService } from './routes/describe_service.ts';
import { getObject } from './routes/get_object.ts';
import { getOpenapi } from './routes/get_openapi.ts';
import { health, readiness } from './routes/health.ts';
import { getLlmsTxt } from './routes/llms_txt.ts';
import { lookupObjects } from './routes/lookup_objects.ts';
import { mcp } from './routes/mcp.ts';
import { recentCrossmatches } from './routes/recent_crossmatches.ts';
import { resolveTns } from './routes/resolve_tns.ts';
import { serviceStatus } from './routes/service_status.ts';
import { redirectToTaskList, taskList } from './routes/task_list.ts';
import { Service } from './service.ts';

export interface App {
  /**
   * Answers a request; never rejects.
   * @param peerAddress the IP address that the connection comes from
   */
  fetch(request: Request, peerAddress?: string): Promise<Response>;
  /** The same, for a server that frames requests and answers itself. */
  answer(request: IncomingRequest, peerAddress?: string): Promise<Answer>;
  /** Whether queries can be answered. */
  readonly ready: boolean;
  /** Finishes what is running and lets go of the threads and the database. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly log?: Log;
}

/** The app over `config.NEARSKY_DATA`. It starts loading at once; until `ready`, queries are answered 503. */
export function createApp({ config, log = logToStderr }: AppOptions): App {
  const service = new Service(config, log);
  const router = IttyRouter();
  const operation = (method: string, path: string, handler: Handler) => {
    router[method.toLowerCase()]!(path, handler);
    router.all!(path, (exchange: Exchange) => otherMethod(exchange, method));
  };

  operation('GET', '/api/objects/:diaObjectId', getObject(service));
  operation('POST', '/api/lookup', lookupObjects(service));
  operation('GET', '/api/cone', coneSearch(service));
  operation('GET', '/api/tns/:name', resolveTns(service));
  operation('GET', '/api/status', serviceStatus(service));
  operation('GET', '/api/describe', describeService(service));
  operation('GET', '/api/recent-crossmatches', recentCrossmatches(service));
  operation('GET', '/openapi.json', getOpenapi(service));
  operation('GET', '/llms.txt', getLlmsTxt(service));
  operation('GET', '/api-docs.md', markdownDocs(service));
  operation('GET', '/api-docs', htmlDocs(service));
  operation('GET', '/api/task', redirectToTaskList);
  router.all!(MCP_PATH, mcp(service));
  router.all!('/healthz', health);
  router.all!('/readyz', readiness(service));

  const route = async (exchange: Exchange): Promise<Answer> => {
    if (exchange.path === TASK_PATH) return await taskList(exchange);
    // The router takes a path with and without a slash at its end for the same; no other path here has one.
    const found = exchange.path.endsWith('/') ? undefined : await router.fetch(exchange);
    if (!found) throw notFound(exchange.path);
    return found;
  };
  const answer = async (request: IncomingRequest, peerAddress?: string): Promise<Answer> => {
    try {
      return await route(new Exchange(request, config.API_REQUEST_BUDGET_SECONDS, peerAddress));
    } catch (error) {
      return errorResponse(error instanceof ApiError ? error : internalError(request, error, log));
    }
  };
  return {
    answer,
    async fetch(request, peerAddress) {
      const { status, headers, body } = await answer(request, peerAddress);
      return new Response(body, { status, headers });
    },
    get ready() {
      return service.indexReady;
    },
    close: () => service.close(),
  };
}

function otherMethod({ request, method }: Exchange, allow: string): Answer {
  if (isPreflight(request)) return preflightResponse(request, allow);
  throw methodNotAllowed(method, allow);
}

/** A fault of our own: the log has it, the client does not. */
function internalError(request: IncomingRequest, error: unknown, log: Log): ApiError {
  log('internal_error', {
    method: request.method,
    url: request.url,
    error: traceOf(error),
  });
  return new ApiError('internal_error', 'Cannot answer as the service has a fault: it is logged; try again');
}
