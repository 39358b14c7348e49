import type { IncomingRequest } from './incoming.ts';

/** A host with an optional port; nothing that could be read as markup. */
export const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/**
 * Scheme and host as the client sees them, without a slash at the end: `https` where a proxy says so in X-Forwarded-Proto, else the
 * request's own scheme; the Host header where it is a host, else the request's own.
 */
export function baseUrl({ url, headers }: IncomingRequest): string {
  const { protocol, host } = new URL(url);
  const scheme = headers.get('X-Forwarded-Proto')?.trim().toLowerCase() === 'https' ? 'https:' : protocol;
  const named = headers.get('Host') ?? '';
  return `${scheme}//${HOST.test(named) ? named : host}`;
}
