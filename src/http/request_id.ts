/** What a request is called in the log, and by its client: what the client named it, else a name of our own. */
import { randomBytes } from 'node:crypto';
import type { IncomingHeaders } from './incoming.ts';

export const REQUEST_ID_HEADER = 'X-Request-Id';
const GOOD_ID = /^[\w.:/+=-]{1,128}$/;

/** Of this thread, since it started. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

export function requestIdOf(headers: IncomingHeaders): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && GOOD_ID.test(sent) ? sent : `${prefix}-${(++count).toString(36)}`;
}
