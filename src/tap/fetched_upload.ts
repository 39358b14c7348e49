/** Tables of queries that lie at other addresses: UPLOAD=NAME,https://... (TAP 1.1, section 2.5.1). */
import { Agent, interceptors, request } from 'undici';
import { messageOf } from '../base/error_text.ts';
import { publicConnector } from '../base/public_hosts.ts';
import { readBody, TooLongError } from '../base/response_body.ts';

/** Stands in a list of hosts for every host that has a public address. */
export const ANY_PUBLIC_HOST = '*';

const CONNECT_MS = 10_000;
const MAX_REDIRECTIONS = 5;

/** A table could not be fetched. */
export class FetchRefusal extends Error {}

/**
 * The bytes of a file at an http address. A host that is named may have any address, every other one a public address
 * alone, at each redirection as well.
 * @param hosts names of hosts, and `ANY_PUBLIC_HOST`
 * @param deadline the end of the time for all of it
 * @throws FetchRefusal
 */
export async function fetchUpload(
  url: string,
  hosts: readonly string[],
  maxBytes: number,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  const named = new Set(hosts);
  const isTrusted = (host: string) => named.has(host);
  const refused = (host: string) =>
    new FetchRefusal(`${host} has no public address: send the table along, or ask the operator for TAP_UPLOAD_HOSTS`);
  const connect = publicConnector(isTrusted, CONNECT_MS, refused);
  const agent = new Agent({
    connections: 1,
    connect: (options, done) => {
      const { hostname } = options;
      if (named.has(ANY_PUBLIC_HOST) || isTrusted(hostname)) connect(options, done);
      else
        done(
          new FetchRefusal(`tables are fetched from ${hosts.join(', ') || 'nowhere'} only: send the table along`),
          null,
        );
    },
  });
  try {
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS }));
    const headers = { 'user-agent': 'nearsky', 'accept-encoding': 'identity' };
    const response = await request(url, { dispatcher, signal: deadline, headers });
    if (response.statusCode !== 200) throw new FetchRefusal(`its host answers ${response.statusCode}`);
    return await readBody(response, maxBytes);
  } catch (error) {
    if (error instanceof FetchRefusal) throw error;
    if (error instanceof TooLongError) throw new FetchRefusal('there are more bytes than TAP_MAX_UPLOAD_MIB allows');
    throw new FetchRefusal(deadline.aborted ? 'the time for it is over' : messageOf(error));
  } finally {
    await agent.destroy();
  }
}
