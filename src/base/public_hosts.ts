/**
 * Restricts hosts that others name, a catalog's own answers or a client, to public addresses, so that nobody can make this
 * service request private ones.
 */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isWithin, parseAddress, parseNetwork } from './ip_addresses.ts';

/** Loopback, private, link-local, shared, reserved and multicast (IANA's registries of special-purpose addresses). */
const NOT_PUBLIC = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', 'fc00::/7', 'fe80::/9', 'ff00::/8'],
].map(text => parseNetwork(text)!);

/** Whether an IP address is reachable, and means the same host, from anywhere in the world. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && !NOT_PUBLIC.some(network => isWithin(address, network));
}

/**
 * Connects to hosts that are trusted at any address, and to other hosts only at public addresses. The address is checked at the
 * moment of the connection, so that the name cannot be resolved differently in between.
 * @param refusal makes the error of a refused connection from the host and its address
 */
export function publicConnector(
  isTrusted: (host: string) => boolean,
  timeoutMs: number,
  refusal: (host: string, address: string) => Error,
): buildConnector.connector {
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
