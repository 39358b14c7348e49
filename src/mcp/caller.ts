/** The caller against whom a tool call counts. */
import { isWithin, type Network, parseAddress, parseNetwork } from '../base/ip_addresses.ts';
import type { Config } from '../config/config.ts';
import type { IncomingHeaders } from '../http/incoming.ts';
import type { Caller } from '../service/limiter.ts';
import type { Sessions } from './sessions.ts';

export const SESSION_HEADER = 'Mcp-Session-Id';

/**
 * A caller in a provider's range counts by its session, or without a valid session by the range. Any other caller
 * counts by IP address, whatever session ids it sends: it could make as many as it likes.
 * @param peerAddress the connection's address; undefined where there is none
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

/**
 * The client's address as trusted proxies give it, else the connection's own: an untrusted sender could name any
 * address.
 */
function addressOf(headers: IncomingHeaders, peerAddress: string | undefined, config: Config): bigint | undefined {
  const isTrusted = (address: bigint) =>
    [...LOOPBACK, ...config.TRUSTED_PROXIES].some(network => isWithin(address, network));
  const peer = parseAddress(peerAddress ?? '');
  if (peer !== undefined && !isTrusted(peer)) return peer;
  for (const hops of [
    listed(headers.get(config.MCP_CLIENT_IP_HEADER)),
    listed(headers.get('Forwarded')).map(forwardedFor),
    listed(headers.get('X-Forwarded-For')),
  ]) {
    const client = lastUntrusted(hops, isTrusted);
    if (client !== undefined) return client;
  }
  return peer;
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(text => parseNetwork(text)!);

/**
 * The last address that is no proxy of ours, or the first one where all are. Each proxy appends the address that called
 * it.
 */
function lastUntrusted(hops: readonly string[], isTrusted: (address: bigint) => boolean): bigint | undefined {
  let client: bigint | undefined;
  for (const hop of hops.toReversed()) {
    const address = parseAddress(withoutPort(hop));
    if (address === undefined) return client;
    client = address;
    if (!isTrusted(address)) return client;
  }
  return client;
}

function listed(header: string | null): string[] {
  return header === null ? [] : header.split(',').map(part => part.trim());
}

/** The address of an element of `Forwarded` (RFC 7239), which may stand in quotes. */
function forwardedFor(element: string): string {
  return /(?:^|;)\s*for\s*=\s*"?([^";]*)"?/i.exec(element)?.[1]?.trim() ?? '';
}

/** The address in `192.0.2.1:80` or `[2001:db8::1]:80`. */
function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^([\d.]+):\d+$/, '$1');
}
