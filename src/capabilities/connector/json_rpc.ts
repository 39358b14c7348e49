/**
 * The part of JSON-RPC 2.0 that the connector uses. Each request carries one message, and each answer at most one
 * (docs/contract.md, Connector).
 */

import { Rendered, toJson } from '@nearsky/astrotables/json';
import { SentNumber, type SentObject, type SentValue } from '../../core/base/json_reader.ts';
import { type Answer, emptyResponse, jsonResponse } from '../../core/http/respond.ts';

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

const NO_ID = new Rendered('null');
const NOTHING: SentObject = new Map();

export interface RpcRequest {
  /** The id exactly as the client sent it. */
  readonly id: Rendered;
  readonly method: string;
  /** Empty if there are none. */
  readonly params: SentObject;
}

/** An error as the answer. The client sees its message. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;
  readonly status: number;
  readonly data: unknown;

  /** @param status of HTTP */
  constructor(code: number, message: string, status = 200, data?: unknown) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/**
 * The request in a message; undefined for a message that needs no answer: a notification, or a response of the client.
 * @throws RpcError for a body that is not a message
 */
export function readMessage(body: SentValue): RpcRequest | undefined {
  if (Array.isArray(body)) throw invalid('a batch is not supported: send one message in each request');
  if (!isObject(body)) throw invalid('a message must be a JSON object');
  if (body.get('jsonrpc') !== '2.0') throw invalid('jsonrpc must be "2.0"');
  const id = body.has('id') ? readId(body.get('id')!) : undefined;
  const method = body.get('method');
  if (method === undefined && id && (body.has('result') || body.has('error'))) return undefined;
  if (typeof method !== 'string') throw invalid('method must be a string');
  const params = body.get('params') ?? (body.has('params') ? null : NOTHING);
  if (!isObject(params)) {
    throw new RpcError(INVALID_PARAMS, 'Cannot read the message because params must be an object', 400);
  }
  return id && { id, method, params };
}

function readId(id: SentValue): Rendered {
  if (typeof id === 'string') return new Rendered(toJson(id));
  if (id instanceof SentNumber && id.isInteger) return id;
  throw invalid('id must be a string or an integer');
}

function invalid(why: string): RpcError {
  return new RpcError(INVALID_REQUEST, `Cannot read the message because ${why}`, 400);
}

export function isObject(value: SentValue | undefined): value is SentObject {
  return value instanceof Map;
}

export function resultResponse(id: Rendered, result: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return jsonResponse(200, toJson({ jsonrpc: '2.0', id, result }), headers);
}

/** @param id the request's id; omitted if it could not be read, or must not be shown */
export function errorResponse({ code, message, status, data }: RpcError, id = NO_ID): Answer {
  return jsonResponse(status, toJson({ jsonrpc: '2.0', id, error: { code, message, data } }));
}

/** The empty answer to a message that was accepted. */
export function accepted(): Answer {
  return emptyResponse(202, {});
}
