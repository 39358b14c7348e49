import type { Config } from '../config/config.ts';
import type { IncomingRequest } from './incoming.ts';

/** A host with an optional port; nothing that could be interpreted as markup. */
export const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/**
 * The address at which the client reaches the service, without a slash at the end: PUBLIC_BASE_URL, else the scheme and
 * host that the client uses. The scheme is `https` if a proxy states that in X-Forwarded-Proto, else the request's own.
 * Each proxy on the way may add its scheme to that header. The first scheme is the one that the client used.
 * The host comes from the Host header if it is valid, else from the request.
 */
export function baseUrl({ url, headers }: IncomingRequest, { PUBLIC_BASE_URL }: Config): string {
  if (PUBLIC_BASE_URL !== null) return PUBLIC_BASE_URL;
  const { protocol, host } = new URL(url);
  const scheme = /^\s*https\s*(?:,|$)/i.test(headers.get('X-Forwarded-Proto') ?? '') ? 'https:' : protocol;
  const named = headers.get('Host') ?? '';
  return `${scheme}//${HOST.test(named) ? named : host}`;
}

/** The path of PUBLIC_BASE_URL, below which a proxy serves the service; usually empty. */
export function rootPath({ PUBLIC_BASE_URL }: Config): string {
  return PUBLIC_BASE_URL === null ? '' : new URL(PUBLIC_BASE_URL).pathname.replace(/\/$/, '');
}
