/** POST /api/area */

import { AREA_CURSOR } from '../../core/answers/cursor.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { AREA_RESPONSES, DEFAULT_RESPONSE } from '../../core/contract/enums.ts';
import { named } from '../../core/contract/kind.ts';
import { AREA, AT, FILTERS, FORMAT, type Parameters, selectionParameters } from '../../core/documents/parameters.ts';
import { answerQuery, checkFormat, reachState, tableFormatOf } from '../../core/http/answer_query.ts';
import { invalidCursor, readCursor, requestedState, withoutCursor } from '../../core/http/cursor.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { parseSelection, walked } from '../listing/selection_params.ts';
import { AREA_QUERY, type AreaQuery, areaReadLast } from './area_answer.ts';
import { SentArea } from './sent_area.ts';
import { WalkTables } from './walk_table.ts';

export const areaParameters = memoized((config: Config) => {
  return {
    ...AREA,
    ...selectionParameters(config, 'the area, `level`, `time_field`, `status`'),
    format: FORMAT,
    filters: FILTERS,
    response: { kind: named(AREA_RESPONSES), description: 'What to answer.', default: DEFAULT_RESPONSE },
    at: AT,
  } satisfies Parameters;
});

export function searchArea(service: Service): Handler {
  const tables = new WalkTables(service);
  return async exchange => {
    const sent = new SentArea(exchange, service);
    try {
      const asked = await parse(exchange, service, sent);
      exchange.asked = { area: asked.digest };
      const table = asked.response === 'table' ? tableFormatOf(exchange) : undefined;
      if (!table) checkFormat(exchange, asked);
      const area = areaReadLast(asked.digest) ?? (await sent.content(asked.level));
      sent.remove();
      const query: AreaQuery = { ...asked, area };
      if (!table) return await answerQuery(service, exchange, query);
      await reachState(service, exchange.budget, query);
      return await tables.answer(query, table, exchange.client);
    } finally {
      sent.remove();
    }
  };
}

/** Parses the request; the contract defines the order of the checks (docs/contract.md, Areas). */
async function parse(exchange: Exchange, service: Service, sent: SentArea): Promise<Omit<AreaQuery, 'area'>> {
  const { config, catalogs, queries } = service;
  const parameters = areaParameters(config);
  const { search } = exchange;
  const selection = parseSelection(search, parameters, catalogs);
  const read = readerOf(search, parameters, catalogs);
  const response = read('response');
  const at = read('at');
  const level = read('level');
  const token = search.get('cursor');
  if (token !== undefined && response !== 'objects') throw withoutCursor(response);
  const cursor = token === undefined ? undefined : readCursor(AREA_CURSOR, token);
  const pinned = cursor && walked(search, selection, cursor);
  const state = requestedState(at, cursor?.at);
  queries.requireRoom(exchange);
  const digest = await sent.receive(level);
  if (cursor && cursor.digest !== digest)
    throw invalidCursor('the area or its level differs from that of the previous page');
  // A count has no pages, and therefore needs no snapshot time.
  const asOfUs = response === 'count' ? Number.POSITIVE_INFINITY : (cursor?.asOfUs ?? service.asOfUs);
  return { kind: AREA_QUERY, response, ...selection, ...pinned, level, digest, asOfUs, after: cursor ?? null, state };
}
