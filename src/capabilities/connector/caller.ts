/** Determines the caller against whose limits a tool call counts. */
import { isWithin, type Network } from '../../core/base/ip_addresses.ts';
import type { Config } from '../../core/config/config.ts';
import { clientAddress, clientName } from '../../core/http/client_address.ts';
import type { IncomingHeaders } from '../../core/http/incoming.ts';
import type { Caller } from './limiter.ts';
import type { Sessions } from './sessions.ts';
import { connectorSettings } from './settings.ts';

export const SESSION_HEADER = 'Mcp-Session-Id';

/**
 * A caller in a provider's range counts by its session, or without a valid session by the range. Any other caller
 * counts by IP address, whatever session ids it sends, because anyone can get any number of session ids.
 * @param peerAddress the connection's address; undefined if there is none
 */
export function callerOf(
  headers: IncomingHeaders,
  peerAddress: string | undefined,
  config: Config,
  sessions: Sessions,
): Caller {
  const address = clientAddress(headers, peerAddress, config);
  const { MCP_PROVIDER_CIDRS, MCP_IP_RATE } = connectorSettings.of(config);
  const range = MCP_PROVIDER_CIDRS.find(network => address !== undefined && isWithin(address, network));
  return range ? providerCaller(headers, range, config, sessions) : { key: clientName(address), rate: MCP_IP_RATE };
}

function providerCaller(headers: IncomingHeaders, range: Network, config: Config, sessions: Sessions): Caller {
  const { MCP_SESSION_RATE, MCP_PROVIDER_RATE } = connectorSettings.of(config);
  const session = headers.get(SESSION_HEADER);
  if (session !== null && sessions.isValid(session)) return { key: `session ${session}`, rate: MCP_SESSION_RATE };
  return { key: `range ${range.text}`, rate: MCP_PROVIDER_RATE };
}
