/** Whom a tool call counts against. */
import type { Config } from '../config.ts';
import type { IncomingHeaders } from '../http/incoming.ts';
import { isWithin, type Network, parseAddress } from './addresses.ts';
import type { Caller } from './limiter.ts';
import type { Sessions } from './sessions.ts';

export const SESSION_HEADER = 'Mcp-Session-Id';

/**
 * A caller in a provider's range counts by its session, or without a valid one by the range. Anyone else counts by IP address, whatever
 * session ids they send: they could make as many as they like.
 * @param peerAddress that of the connection; undefined where there is none
 */
export function callerOf(
  headers: IncomingHeaders,
  peerAddress: string | undefined,
  config: Config,
  sessions: Sessions,
): Caller {
  const address = addressOf(headers, peerAddress, config);
  const range = config.MCP_PROVIDER_CIDRS.find(network => address !== undefined && isWithin(address, network));
  return range ? providerCaller(headers, range, config, sessions) : { key: `ip ${address}`, rate: config.MCP_IP_RATE };
}

function providerCaller(headers: IncomingHeaders, range: Network, config: Config, sessions: Sessions): Caller {
  const session = headers.get(SESSION_HEADER);
  if (session !== null && sessions.isValid(session))
    return { key: `session ${session}`, rate: config.MCP_SESSION_RATE };
  return { key: `range ${range.text}`, rate: config.MCP_PROVIDER_RATE };
}

/** The address that the proxy in front says the client has, else the connection's own. */
function addressOf(headers: IncomingHeaders, peerAddress: string | undefined, config: Config): bigint | undefined {
  const said = parseAddress(headers.get(config.MCP_CLIENT_IP_HEADER) ?? '');
  return said ?? parseAddress(peerAddress ?? '');
}
