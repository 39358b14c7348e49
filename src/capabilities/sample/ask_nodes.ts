/** Asks the other nodes for a kept sample that this one does not have (docs/nodes.md, Kept samples). */
import { Unavailable } from '../../core/base/refusal.ts';
import type { Config } from '../../core/config/config.ts';
import type { Exchange } from '../../core/http/exchange.ts';

/** A node that is asked by another one asks no further. */
const BY_NODE = 'X-Asked-By-Node';
/** The maximum time until a node begins its answer. */
const ANSWER_MS = 3000;
const NOT_HERE = new Error('the node does not have the sample');

/**
 * The first successful answer of a node; undefined if no node has the sample.
 * @throws Unavailable if a node that may have it does not answer
 */
export async function askNodes(
  { NEARSKY_NODES: nodes }: Config,
  { request, budget }: Exchange,
  path: string,
  method: 'GET' | 'DELETE',
): Promise<Response | undefined> {
  if (request.headers.get(BY_NODE) !== null) return undefined;
  try {
    return await Promise.any(nodes.map(ask));
  } catch (error) {
    if ((error as AggregateError).errors.every(each => each === NOT_HERE)) return undefined;
    throw new Unavailable('a node that may have the sample does not answer');
  }

  async function ask(address: string): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), Math.min(ANSWER_MS, budget.remainingMs));
    try {
      const answer = await fetch(`${address}${path}`, { method, headers: { [BY_NODE]: 'yes' }, signal: late.signal });
      if (answer.ok) return answer;
      await answer.body?.cancel();
      throw answer.status === 404 ? NOT_HERE : new Error(`${address} answers ${answer.status}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
