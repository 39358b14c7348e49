/** From a parsed query to its response. */
import { splitTable } from '../../workers/table_head.ts';
import type { Query } from '../../workers/tasks.ts';
import { type AnswerFormat, FORMATS, TABLE_FORMATS, type TableFormat } from '../contract/formats.ts';
import { bytesOf } from '../query/body.ts';
import type { Service } from '../service.ts';
import { preferredFormat } from './accept.ts';
import { baseUrl } from './base_url.ts';
import { ApiError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { checkName } from './params.ts';
import { type Answer, jsonResponse, msgpackResponse } from './respond.ts';
import { tableResponse } from './table_response.ts';

/**
 * The answer to a query in the format that `format` names, else in the one that the client prefers. Errors are JSON in any case.
 * @throws ApiError `invalid_parameter` for a format that is none, or that counts do not have
 */
export async function answerQuery({ queries }: Service, exchange: Exchange, query: Query): Promise<Answer> {
  const { budget } = exchange;
  const format = formatOf(exchange, query);
  if (format === 'json') return jsonResponse(200, await queries.run(query, budget));
  const bytes = bytesOf(await queries.run({ ...query, format }, budget));
  if (format === 'msgpack') return msgpackResponse(bytes);
  const { head, table } = splitTable(bytes);
  return tableResponse(format, head, table, `${baseUrl(exchange.request)}${exchange.path}`, exchange.search);
}

function formatOf({ request, search }: Exchange, query: Query): AnswerFormat {
  const named = search.get('format');
  const format =
    named === undefined ? preferredFormat(request.headers.get('Accept')) : checkName('format', FORMATS, named);
  if (query.kind !== 'count' || !isTable(format)) return format;
  if (named === undefined) return 'json';
  const message = `Cannot answer with counts as ${format} as they are no table: leave out format, or response`;
  throw new ApiError('invalid_parameter', message, { param: 'format' });
}

function isTable(format: AnswerFormat): format is TableFormat {
  return TABLE_FORMATS.some(({ name }) => name === format);
}
