import type { Config } from '../config/config.ts';
import type { IncomingRequest } from './incoming.ts';

/** A host with an optional port; nothing that could be read as markup. */
export const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/**
 * Where the client reaches the service, without a slash at the end: PUBLIC_BASE_URL, else scheme and host as the client sees them. The scheme is
 * `https` where a proxy says so in X-Forwarded-Proto, else the request's own; the host is the Host header's where it is one, else the request's own.
 */
export function baseUrl({ url, headers }: IncomingRequest, { PUBLIC_BASE_URL }: Config): string {
  if (PUBLIC_BASE_URL !== null) return PUBLIC_BASE_URL;
  const { protocol, host } = new URL(url);
  const scheme = headers.get('X-Forwarded-Proto')?.trim().toLowerCase() === 'https' ? 'https:' : protocol;
  const named = headers.get('Host') ?? '';
  return `${scheme}//${HOST.test(named) ? named : host}`;
}
