/**
 * The session in which a client makes jobs: a secret in a cookie. A list of jobs has only those of its session, because
 * anyone who knows a job's name may end the job, and clients with the same address may be strangers.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Exchange } from '../../core/http/exchange.ts';

const COOKIE = 'nearsky_jobs';
const SECRET_BYTES = 20;
const SECRET = new RegExp(`(?:^|;)\\s*${COOKIE}=([0-9a-f]{${2 * SECRET_BYTES}})\\s*(?:;|$)`);

const secretIn = ({ request }: Exchange) => SECRET.exec(request.headers.get('Cookie') ?? '')?.[1];

/** The mark that jobs have of their session. It does not reveal the secret. */
const markOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** The mark of the session of a request; undefined if it has none. */
export function jobSession(exchange: Exchange): string | undefined {
  const secret = secretIn(exchange);
  return secret && markOf(secret);
}

/**
 * The session of a request that makes a job, and the headers of its answer, which begin the session if it is new.
 * @param base the address of this service
 */
export function beginJobSession(exchange: Exchange, base: string): { mark: string; headers: Record<string, string> } {
  const known = secretIn(exchange);
  if (known !== undefined) return { mark: markOf(known), headers: {} };
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  const { protocol, pathname } = new URL(base);
  const cookie = `${COOKIE}=${secret}; Path=${pathname}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`;
  return { mark: markOf(secret), headers: { 'Set-Cookie': cookie } };
}
