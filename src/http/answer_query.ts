/** From a parsed query to its response. */
import type { Query } from '../../workers/tasks.ts';
import type { Service } from '../service.ts';
import { prefersMsgpack } from './accept.ts';
import type { Exchange } from './exchange.ts';
import { type Answer, jsonResponse, msgpackResponse } from './respond.ts';

/** The answer to a query in the format that the client prefers: JSON, or MessagePack of the same. Errors are JSON in any case. */
export async function answerQuery({ queries }: Service, { request, budget }: Exchange, query: Query): Promise<Answer> {
  if (!prefersMsgpack(request.headers.get('Accept'))) return jsonResponse(200, await queries.run(query, budget));
  return msgpackResponse(await queries.run({ ...query, format: 'msgpack' }, budget));
}
