/**
 * The revisions of the protocol. Revisions up to 2025-11-25 begin with `initialize`; in 2026-07-28 each request gives
 * its revision in `_meta` (https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning). Only the body
 * counts: a request whose body names no revision has an older one, whatever its headers say.
 */
import type { SentValue } from '../../core/base/json_reader.ts';
import type { IncomingHeaders } from '../../core/http/incoming.ts';
import { INVALID_PARAMS, isObject, RpcError, type RpcRequest } from './json_rpc.ts';

/** The newest revision that begins with `initialize`. A client that asks for an unsupported revision gets this one. */
export const LATEST_HANDSHAKE_REVISION = '2025-11-25';
export const HANDSHAKE_REVISIONS: readonly string[] = ['2025-03-26', '2025-06-18', LATEST_HANDSHAKE_REVISION];
const STATELESS_REVISION = '2026-07-28';
/** The newest first. */
export const REVISIONS: readonly string[] = [STATELESS_REVISION, ...HANDSHAKE_REVISIONS.toReversed()];

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_REVISION = -32022;

const META = 'io.modelcontextprotocol/';
export const SERVER_INFO = `${META}serverInfo`;
const REVISION = `${META}protocolVersion`;
const CAPABILITIES = `${META}clientCapabilities`;

/**
 * Whether the request uses the stateless revision.
 * @throws RpcError (HTTP 400) for an unsupported revision, or for headers that contradict the body
 */
export function isStateless(request: RpcRequest, headers: IncomingHeaders): boolean {
  const meta = request.params.get('_meta');
  if (!isObject(meta) || !meta.has(REVISION)) {
    if (request.method === 'server/discover') throw malformed(`_meta must have ${REVISION}`);
    return false;
  }
  const revision = meta.get(REVISION)!;
  if (typeof revision !== 'string') throw malformed(`${REVISION} must be a string`);
  if (HANDSHAKE_REVISIONS.includes(revision)) return false;
  checkHeaders(request, revision, headers);
  if (revision !== STATELESS_REVISION) {
    const data = { supported: REVISIONS, requested: revision };
    throw new RpcError(UNSUPPORTED_REVISION, 'Unsupported protocol version', 400, data);
  }
  if (!isObject(meta.get(CAPABILITIES))) throw malformed(`_meta must have ${CAPABILITIES}, an object`);
  return true;
}

function malformed(why: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Cannot read the request because ${why}`, 400);
}

/**
 * Checks that headers agree with the body if they repeat parts of it for proxies. A missing header is accepted, because
 * the contract of this service requires none of them.
 */
function checkHeaders({ method, params }: RpcRequest, revision: string, headers: IncomingHeaders): void {
  checkHeader(headers, 'MCP-Protocol-Version', revision);
  checkHeader(headers, 'Mcp-Method', method);
  if (method === 'tools/call') checkHeader(headers, 'Mcp-Name', params.get('name'));
}

function checkHeader(headers: IncomingHeaders, name: string, expected: SentValue | undefined): void {
  const sent = headers.get(name);
  if (sent === null || decodeHeader(sent) === expected) return;
  throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${name} differs from the body`, 400);
}

/** The value of a header, decoded if it is not plain ASCII and has the form `=?base64?...?=`. */
function decodeHeader(value: string): string {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value) ?? [];
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString('utf8');
}
