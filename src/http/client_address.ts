/** The address of a request's client, behind proxies, too. */
import { isWithin, parseAddress, parseNetwork } from '../base/ip_addresses.ts';
import type { Config } from '../config/config.ts';
import type { Exchange } from './exchange.ts';
import type { IncomingHeaders } from './incoming.ts';

/** The name by which a client's share of what is dear is counted. */
export function clientOf({ request, peerAddress }: Exchange, config: Config): string {
  return clientName(clientAddress(request.headers, peerAddress, config));
}

/** The bits of an IPv6 address that a host chooses for itself: all addresses of a /64 count as one client. */
const HOST_BITS = 64n;
const IPV4 = parseNetwork('::ffff:0:0/96')!;

/** @param address undefined where it is not known: these count as one client */
export function clientName(address: bigint | undefined): string {
  if (address === undefined || isWithin(address, IPV4)) return `ip ${address}`;
  return `ip ${(address >> HOST_BITS) << HOST_BITS}/64`;
}

/**
 * The client's address as trusted proxies give it, else the connection's own: an untrusted sender could name any
 * address.
 * @param peerAddress the connection's address; undefined where there is none
 */
export function clientAddress(
  headers: IncomingHeaders,
  peerAddress: string | undefined,
  config: Config,
): bigint | undefined {
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
