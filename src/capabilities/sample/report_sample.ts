/** POST /api/sample */

import { toJson } from '@nearsky/astrotables/json';
import { NotInHistory } from '../../core/answers/context.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { answerList } from '../../core/http/answer_list.ts';
import { formatAsked, reachState, withEntry } from '../../core/http/answer_query.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readJsonBody } from '../../core/http/json_body.ts';
import type { Service } from '../../core/service/service.ts';
import { changedRows } from './changes.ts';
import { SAMPLE } from './channel.ts';
import { MAX_SAMPLE_ROWS } from './limits.ts';
import { stateOfReport } from './options.ts';
import { parseSample } from './parse_sample.ts';
import { reportList } from './report_list.ts';
import type { SampleQuery } from './resolve.ts';
import { sampleTable } from './sample_table.ts';

/** The number of JSON names and values of the largest input: a position with a radius and a label. */
const VALUES_AN_INPUT = 10;

export function reportSample(service: Service): Handler {
  return async exchange => {
    if (!isJson(exchange.request.headers.get('Content-Type'))) return await reportList(service, exchange);
    const { catalogs, config, coordination, provenance } = service;
    const body = await readJsonBody(exchange.request, exchange.budget, VALUES_AN_INPUT * MAX_SAMPLE_ROWS);
    const { query, earlier, options } = parseSample(body, config, catalogs);
    exchange.asked = query;
    formatAsked(exchange);
    await reachState(service, exchange.budget, query);
    const { entry } = await service.queries.run(query, exchange);
    if (earlier) await runEarlier(service, exchange, earlier);
    const state = service.read(store => stateOfReport(store, entry));
    if (!state) throw new Unavailable('the database cannot be read');
    const about = { provenance, ...state, client: exchange.client };
    const reported = await coordination.ask(SAMPLE, { ...options, ...about, rows: query.found }, exchange.budget);
    const changes = earlier && toJson(changedRows(earlier.found, query.found));
    const json = changes ? `${reported.json.slice(0, -1)}, "changes": ${changes}}` : reported.json;
    const searched = catalogs.all.filter(({ name }) => options.catalogs.includes(name));
    return withEntry(await answerList(exchange, config, json, 'rows', () => sampleTable(searched)), entry);
  };
}

const isJson = (type: string | null) => (type ?? '').split(';', 1)[0]!.trim().toLowerCase() === 'application/json';

/** @throws ApiError naming `since` if the history does not have its entry */
async function runEarlier(service: Service, exchange: Exchange, query: SampleQuery): Promise<void> {
  try {
    await reachState(service, exchange.budget, query);
    await service.queries.run(query, exchange);
  } catch (error) {
    if (!(error instanceof NotInHistory)) throw error;
    throw new ApiError('invalid_parameter', error.message.replace(/\bat\b/, 'since'), { param: 'since' });
  }
}
