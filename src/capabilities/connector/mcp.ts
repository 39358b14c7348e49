/**
 * POST /mcp and POST /mcp/archive: the chat connector, MCP's Streamable HTTP without streams (docs/contract.md,
 * Connector). JSON-RPC is implemented here, because the official SDK does not fit the contract. Its server transport
 * refuses requests that the contract accepts (it checks Accept and MCP-Protocol-Version), returns other codes, and
 * keeps sessions.
 */
import type { SentValue } from '../../core/base/json_reader.ts';
import { MAX_CONNECTOR_BODY_BYTES } from '../../core/contract/limits.ts';
import { expectedErrorOf, internalError } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readJsonBody } from '../../core/http/json_body.ts';
import { emptyResponse, isPreflight, preflightResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { Connector } from './connector.ts';
import {
  accepted,
  errorResponse,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  PARSE_ERROR,
  RpcError,
  type RpcRequest,
  readMessage,
} from './json_rpc.ts';
import { connectorSettings } from './settings.ts';
import type { OfferedTool } from './tools.ts';

const ALLOW = 'POST';

/** The order of the checks is the contract's (docs/contract.md, Connector). */
export function mcp(service: Service, tools: readonly OfferedTool[]): Handler {
  const connector = new Connector(service, tools);
  const allowed = connectorSettings.of(service.config).MCP_ALLOWED_ORIGINS;
  return async exchange => {
    const { request, method } = exchange;
    if (isPreflight(request)) return preflightResponse(request, ALLOW);
    const origin = request.headers.get('Origin');
    if (origin !== null && !allowed.includes(origin)) return errorResponse(forbidden());
    if (method !== 'POST') return emptyResponse(405, { Allow: ALLOW });
    let message: RpcRequest | undefined;
    try {
      message = readMessage(await readBody(exchange));
      return message ? await connector.answer(message, exchange) : accepted();
    } catch (error) {
      return errorResponse(error instanceof RpcError ? error : faultOf(error, exchange, service), message?.id);
    }
  };
}

function forbidden(): RpcError {
  return new RpcError(INVALID_REQUEST, 'Cannot answer a page of this origin', 403);
}

function faultOf(error: unknown, { path }: Exchange, { log }: Service): RpcError {
  return new RpcError(INTERNAL_ERROR, internalError(error, log, { path }).message);
}

/** @throws RpcError */
async function readBody({ request, budget }: Exchange): Promise<SentValue> {
  try {
    return await readJsonBody(request, budget, 0, MAX_CONNECTOR_BODY_BYTES);
  } catch (error) {
    const expected = expectedErrorOf(error);
    if (!expected) throw error;
    const code = expected.details.param === 'Content-Type' ? INVALID_REQUEST : PARSE_ERROR;
    throw new RpcError(code, expected.message, 400);
  }
}
