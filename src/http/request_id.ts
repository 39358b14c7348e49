/** The id of a request in the log and for its client: the client's own id, else one that we make. */
import { randomBytes } from 'node:crypto';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { IncomingHeaders } from './incoming.ts';

const GOOD_ID = /^[\w.:/+=-]{1,128}$/;

/** The number of requests of this thread since it started. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

export function requestIdOf(headers: IncomingHeaders): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && GOOD_ID.test(sent) ? sent : `${prefix}-${(++count).toString(36)}`;
}
