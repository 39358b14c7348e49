/**
 * The methods of the connector (docs/contract.md, Connector): each takes a request and returns a response. Only the
 * limits keep state between requests.
 */

import { parseJson, toJson } from '@nearsky/astrotables/json';
import { baseUrl } from '../../core/http/base_url.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import type { Answer } from '../../core/http/respond.ts';
import type { ToolRun } from '../../core/http/tool.ts';
import type { Service } from '../../core/service/service.ts';
import { answerText, DATA_NOTE } from './answer_text.ts';
import { refuseOthers } from './arguments.ts';
import { callerOf, SESSION_HEADER } from './caller.ts';
import { INVALID_PARAMS, isObject, METHOD_NOT_FOUND, RpcError, type RpcRequest, resultResponse } from './json_rpc.ts';
import { ADMIT } from './limiter.ts';
import { HANDSHAKE_REVISIONS, isStateless, LATEST_HANDSHAKE_REVISION, REVISIONS, SERVER_INFO } from './revision.ts';
import { Sessions } from './sessions.ts';
import { type ConnectorConfig, connectorSettings } from './settings.ts';
import { ToolError, toolErrorOf } from './tool_error.ts';
import { listTools, type OfferedTool } from './tools.ts';

type Result = Readonly<Record<string, unknown>>;

/** How long a client may cache answers that change only with a new release. */
const CACHEABLE = { ttlMs: 3_600_000, cacheScope: 'public' };
const CAPABILITIES = { tools: { listChanged: false } };
const INSTRUCTIONS =
  'Looks up objects of the Rubin Observatory alert stream, by diaObjectId, TNS name or position, and the catalog sources at their ' +
  'positions. Give diaObjectIds as strings. Answers explain the statuses that they contain. ' +
  DATA_NOTE;

export class Connector {
  readonly #service: Service;
  readonly #config: ConnectorConfig;
  readonly #tools: readonly OfferedTool[];
  readonly #sessions: Sessions;

  constructor(service: Service, tools: readonly OfferedTool[]) {
    this.#config = connectorSettings.of(service.config);
    const { MCP_SESSION_MAX_AGE_SECONDS, MCP_SESSION_SECRET } = this.#config;
    this.#service = service;
    this.#tools = tools;
    this.#sessions = new Sessions({
      maxAgeSeconds: MCP_SESSION_MAX_AGE_SECONDS,
      secret: MCP_SESSION_SECRET ?? service.coordination.state.secret,
    });
  }

  /**
   * Answers a request.
   * @throws RpcError
   */
  async answer(request: RpcRequest, exchange: Exchange): Promise<Answer> {
    if (isStateless(request, exchange.request.headers)) return await this.#answerStateless(request, exchange);
    switch (request.method) {
      case 'initialize':
        return resultResponse(request.id, this.#initialize(request), {
          [SESSION_HEADER]: this.#sessions.issue(),
          // Scripts of pages may read the session, too.
          'Access-Control-Expose-Headers': `Retry-After, ${SESSION_HEADER}`,
        });
      case 'ping':
        return resultResponse(request.id, {});
      case 'tools/list':
        return resultResponse(request.id, this.#toolList());
      case 'tools/call':
        return resultResponse(request.id, await this.#callTool(request, exchange));
      default:
        throw unknownMethod(request, 200);
    }
  }

  async #answerStateless(request: RpcRequest, exchange: Exchange): Promise<Answer> {
    const complete = (result: Result) =>
      resultResponse(request.id, { resultType: 'complete', ...result, _meta: { [SERVER_INFO]: this.#serverInfo() } });
    switch (request.method) {
      case 'server/discover':
        return complete({
          supportedVersions: REVISIONS,
          capabilities: CAPABILITIES,
          instructions: INSTRUCTIONS,
          ...CACHEABLE,
        });
      case 'tools/list':
        return complete({ ...this.#toolList(), ...CACHEABLE });
      case 'tools/call':
        return complete(await this.#callTool(request, exchange));
      default:
        throw unknownMethod(request, 404);
    }
  }

  #initialize({ params }: RpcRequest): Result {
    const asked = params.get('protocolVersion');
    return {
      protocolVersion: HANDSHAKE_REVISIONS.find(revision => revision === asked) ?? LATEST_HANDSHAKE_REVISION,
      capabilities: CAPABILITIES,
      serverInfo: this.#serverInfo(),
      instructions: INSTRUCTIONS,
    };
  }

  #serverInfo() {
    const version = this.#service.config.APP_VERSION;
    return { name: 'nearsky', title: 'nearsky: Rubin crossmatches', version };
  }

  #toolList(): Result {
    return { tools: listTools(this.#config, this.#tools) };
  }

  async #callTool({ params }: RpcRequest, exchange: Exchange): Promise<Result> {
    const name = params.get('name');
    const tool = this.#tools.find(each => each.name === name);
    if (!tool) {
      throw new RpcError(INVALID_PARAMS, `Unknown tool: ${typeof name === 'string' ? name.slice(0, 100) : '(none)'}`);
    }
    const args = params.get('arguments') ?? new Map();
    if (!isObject(args)) throw new RpcError(INVALID_PARAMS, 'Cannot call the tool because arguments must be an object');
    try {
      exchange.asked = { tool: name, arguments: toJson(args) };
      const { properties, refusesOthers, prepare } = tool;
      if (refusesOthers) refuseOthers(args, Object.keys(properties?.(this.#config) ?? {}));
      const run = prepare(args, this.#service);
      const text = await this.#runLimited(run, exchange);
      const result = toolResult(text, false);
      return tool.outputSchema ? { ...result, structuredContent: parseJson(text) } : result;
    } catch (error) {
      const failure = toolErrorOf(error);
      if (failure) return toolResult(answerText(failure.wire), true);
      throw error;
    }
  }

  /** @throws ToolError `rate_limited`, `busy` */
  async #runLimited(run: ToolRun, { request, peerAddress, budget }: Exchange): Promise<string> {
    const service = this.#service;
    const caller = callerOf(request.headers, peerAddress, service.config, this.#sessions);
    const admission = await service.coordination.ask(ADMIT, caller, budget);
    if (!admission.admitted) {
      const { code, retryAfterSeconds } = admission;
      const { perSecond, burst } = caller.rate;
      const why =
        code === 'busy'
          ? 'too many calls are running'
          : `there were more calls than ${perSecond} a second, or ${burst} at once`;
      throw new ToolError(
        code,
        `Cannot answer now because ${why}: try again in ${retryAfterSeconds} s`,
        retryAfterSeconds,
      );
    }
    try {
      const base = this.#config.MCP_API_BASE_URL ?? baseUrl(request, service.config);
      return await run({ service, budget, client: caller.key, base });
    } finally {
      service.coordination.release(ADMIT, admission.slot);
    }
  }
}

function toolResult(text: string, isError: boolean): Result {
  return { content: [{ type: 'text', text }], isError };
}

function unknownMethod({ method }: RpcRequest, status: number): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Unknown method: ${method.slice(0, 100)}`, status);
}
