/**
 * Restricts host names that come from a catalog's answers or a client to public addresses, so that nobody can make a
 * program request private ones.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { buildConnector } from 'undici';

/**
 * Every block in IANA's registries of special-purpose addresses (IPv4 and IPv6, as of 2026), including globally
 * reachable ones; and multicast, IPv4-compatible and site-local addresses.
 */
const NOT_PUBLIC = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001:db8::/32'],
  ...['2002::/16', '2620:4f:8000::/48', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/9', 'ff00::/8'],
];

const notPublic = new BlockList();
for (const [address, bits] of NOT_PUBLIC.map(network => network.split('/') as [string, string]))
  notPublic.addSubnet(address, Number(bits), familyOf(address));

/** Whether an IP address means the same host everywhere in the world, and does not belong to this host. */
export function isPublicAddress(text: string): boolean {
  const address = withoutZone(text);
  if (isIP(address) === 0 || notPublic.check(address, familyOf(address))) return false;
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flatMap(addresses => addresses ?? []))
    own.addAddress(withoutZone(each.address), familyOf(each.address));
  return !own.check(address, familyOf(address));
}

/** The address without a zone of this host, such as `%eth0`. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/**
 * Connects to hosts that are trusted at any address, and to other hosts only at public addresses. The address is
 * checked at the moment of the connection, so that the name cannot be resolved differently in between.
 * @param refusal makes the error for a refused connection, given the host and its address
 */
export async function publicConnector(
  isTrusted: (host: string) => boolean,
  timeoutMs: number,
  refusal: (host: string, address: string) => Error,
): Promise<buildConnector.connector> {
  const { buildConnector } = await import('undici');
  const anywhere = buildConnector({ timeout: timeoutMs });
  const guarded: LookupFunction = (host, options, done) =>
    lookup(host, options, (error, found, family) => {
      const addresses = error ? [] : Array.isArray(found) ? found.map(({ address }) => address) : [found as string];
      const refused = addresses.find(address => !isPublicAddress(address));
      if (refused === undefined) done(error, found as string, family);
      else done(refusal(host, refused), [], family);
    });
  const inPublic = buildConnector({ timeout: timeoutMs, lookup: guarded });
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isTrusted(options.hostname)) anywhere(options, done);
    else if (isIP(host) === 0) inPublic(options, done);
    else if (isPublicAddress(host)) anywhere(options, done);
    else done(refusal(host, host), null);
  };
}
