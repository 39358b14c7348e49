/** Fetches tables for queries from other addresses: UPLOAD=NAME,https://... (TAP 1.1, section 2.5.1). */
import { publicConnector } from '@nearsky/hats/public_hosts';
import { readBody } from '../../core/base/response_body.ts';

/** In the list of allowed hosts, this entry allows every host with a public address. */
const ANY_PUBLIC_HOST = '*';

const CONNECT_MS = 10_000;
const MAX_REDIRECTIONS = 5;
/** The allowed ports of hosts that are listed without a port. */
const USUAL_PORTS = ['80', '443'];

/** A table could not be fetched. */
export class FetchRefusal extends Error {}

/**
 * Fetches a file from an http or https address. A listed host may have any address. With `ANY_PUBLIC_HOST` in the list,
 * other hosts are allowed if their address is public. Redirections obey the same rules.
 * @param hosts `HOST`, with the ports 80 and 443, `HOST:PORT`, and `ANY_PUBLIC_HOST`
 * @param deadline when the whole fetch must be finished
 * @throws FetchRefusal whose `cause` is the reason: the message is always the same, so that nobody learns from it which
 *   hosts and ports this service reaches
 */
export async function fetchUpload(
  url: string,
  hosts: readonly string[],
  maxBytes: number,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  const listed = new Set(hosts);
  const { Agent, buildConnector, interceptors, request } = await import('undici');
  const connect = await publicConnector(host => listed.has(host), CONNECT_MS, refused);
  const connectListed = buildConnector({ timeout: CONNECT_MS });
  const agent = new Agent({
    connections: 1,
    connect: (options, done) => {
      const { hostname, protocol } = options;
      const port = options.port || (protocol === 'https:' ? '443' : '80');
      if (listed.has(`${hostname}:${port}`)) connectListed(options, done);
      else if (USUAL_PORTS.includes(port) && (listed.has(hostname) || listed.has(ANY_PUBLIC_HOST)))
        connect(options, done);
      else done(refused(`${hostname}:${port}`), null);
    },
  });
  try {
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS }));
    const headers = { 'user-agent': 'nearsky', 'accept-encoding': 'identity' };
    const response = await request(url, { dispatcher, signal: deadline, headers });
    if (response.statusCode !== 200) throw new Error(`its host answers ${response.statusCode}`);
    return await readBody(response, maxBytes);
  } catch (cause) {
    throw new FetchRefusal('one of its addresses cannot be fetched: send the table with the request', { cause });
  } finally {
    await agent.destroy();
  }
}

const refused = (host: string) => new Error(`${host} is not among TAP_UPLOAD_HOSTS`);
