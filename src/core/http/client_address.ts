/** Finds the address of a request's client, even behind proxies. */
import { isWithin, parseAddress, parseNetwork } from '../base/ip_addresses.ts';
import type { Config } from '../config/config.ts';
import type { IncomingHeaders } from './incoming.ts';

/** The bits of an IPv6 address that a host chooses for itself. All addresses of a /64 count as one client. */
const HOST_BITS = 64n;
const IPV4 = parseNetwork('::ffff:0:0/96')!;

/**
 * The name by which a client's use of limited resources is counted.
 * @param address undefined if unknown: all such clients count as one
 */
export function clientName(address: bigint | undefined): string {
  if (address === undefined || isWithin(address, IPV4)) return `ip ${address}`;
  return `ip ${(address >> HOST_BITS) << HOST_BITS}/64`;
}

/**
 * The client's address: the one that trusted proxies state, else the connection's own, because an untrusted sender
 * could state any address.
 * @param peerAddress the connection's address; undefined if there is none
 */
export function clientAddress(
  headers: IncomingHeaders,
  peerAddress: string | undefined,
  config: Config,
): bigint | undefined {
  const isTrusted = (address: bigint) => isProxy(address, config);
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

function isProxy(address: bigint, { TRUSTED_PROXIES }: Config): boolean {
  return [...LOOPBACK, ...TRUSTED_PROXIES].some(network => isWithin(address, network));
}

/** The client to which a connection is charged; undefined for a trusted proxy, which connects for many clients. */
export function connectingClient(peerAddress: string, config: Config): string | undefined {
  const peer = parseAddress(peerAddress);
  return peer !== undefined && isProxy(peer, config) ? undefined : clientName(peer);
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(text => parseNetwork(text)!);

/**
 * The last address that does not belong to a trusted proxy, or the first one if all do. Each proxy appends the address
 * that called it.
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

/** The address in an element of `Forwarded` (RFC 7239), which may be quoted. */
function forwardedFor(element: string): string {
  return /(?:^|;)\s*for\s*=\s*"?([^";]*)"?/i.exec(element)?.[1]?.trim() ?? '';
}

/** The address in `192.0.2.1:80` or `[2001:db8::1]:80`. */
function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^([\d.]+):\d+$/, '$1');
}
