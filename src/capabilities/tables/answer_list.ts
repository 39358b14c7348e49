/** The answer of an operation whose JSON is one list, in each format. */

import { tableFormat } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { parseJson, toJson } from '@nearsky/astrotables/json';
import { Clock } from '../../core/answers/context.ts';
import type { Config } from '../../core/config/config.ts';
import { formatAsked, tableAddress } from '../../core/http/answer_query.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { type Answer, msgpackResponse, negotiatedJson } from '../../core/http/respond.ts';
import { tableResponse } from '../../core/http/table_response.ts';
import { writeMsgpack } from './msgpack.ts';
import type { Listed, ListedTable } from './source_table.ts';

/**
 * @param json the answer in JSON, as `toJson` writes it
 * @param list its member with the rows
 * @param table makes the table of the rows
 * @throws ApiError `invalid_parameter` for an unknown format
 */
export async function answerList(
  exchange: Exchange,
  config: Config,
  json: string | Uint8Array<ArrayBuffer>,
  list: string,
  table: () => ListedTable,
): Promise<Answer> {
  const format = formatAsked(exchange);
  if (format === 'json') return negotiatedJson(json);
  const out = new ByteSink();
  if (format === 'msgpack') {
    const sent = new ByteSink();
    if (typeof json === 'string') sent.longText(json);
    else sent.fragment(json);
    for (const _ of writeMsgpack(sent, 0, out, new Clock()));
    return msgpackResponse(out.take());
  }
  const text = typeof json === 'string' ? json : new TextDecoder().decode(json);
  const { [list]: listed, ...about } = parseJson(text) as Listed;
  const written = table();
  const writer = (await tableFormat(format))(out, written, { program: 'nearsky', json: toJson(about) });
  const rows = (listed as readonly Listed[]).map(each => written.row(each));
  for (const row of rows) writer.row(row);
  writer.end();
  const head = { name: written.name, rows: rows.length, total: null, nextCursor: null, asOf: null };
  const truncated = about.truncated as boolean;
  return tableResponse(format, { ...head, truncated }, out.take(), tableAddress(config, exchange), exchange.search);
}
