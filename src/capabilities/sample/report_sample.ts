/** POST /api/sample */

import { toJson } from '@nearsky/astrotables/json';
import type { Asker } from '../../core/answers/admission.ts';
import { NotInHistory } from '../../core/answers/context.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { answerList } from '../../core/http/answer_list.ts';
import { formatAsked, reachState, withEntry } from '../../core/http/answer_query.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Handler } from '../../core/http/exchange.ts';
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
    const { catalogs, config } = service;
    const body = await readJsonBody(exchange.request, exchange.budget, VALUES_AN_INPUT * MAX_SAMPLE_ROWS);
    const { query, earlier, options } = parseSample(body, config, catalogs);
    exchange.asked = query;
    formatAsked(exchange);
    const { json, entry } = await askReport(service, exchange, { query, earlier, options });
    const searched = catalogs.all.filter(({ name }) => options.catalogs.includes(name));
    return withEntry(await answerList(exchange, config, json, 'rows', () => sampleTable(searched)), entry);
  };
}

/**
 * The report as JSON, and the journal entry that it is from, if the service keeps a history.
 * @throws ApiError, TooExpensive, Unavailable
 */
export async function askReport(
  service: Service,
  asker: Asker,
  { query, earlier, options }: ReturnType<typeof parseSample>,
): Promise<{ readonly json: string; readonly entry: number | undefined }> {
  await reachState(service, asker.budget, query);
  const { entry } = await service.queries.run(query, asker);
  if (earlier) await runEarlier(service, asker, earlier);
  const state = service.read(store => stateOfReport(store, entry));
  if (!state) throw new Unavailable('the database cannot be read');
  const asked = { ...options, provenance: service.provenance, ...state, client: asker.client, rows: query.found };
  const { json } = await service.coordination.ask(SAMPLE, asked, asker.budget);
  if (!earlier) return { json, entry };
  const changes = toJson(changedRows(earlier.found, query.found));
  return { json: `${json.slice(0, -1)}, "changes": ${changes}}`, entry };
}

const isJson = (type: string | null) => (type ?? '').split(';', 1)[0]!.trim().toLowerCase() === 'application/json';

/** @throws ApiError naming `since` if the history does not have its entry */
async function runEarlier(service: Service, asker: Asker, query: SampleQuery): Promise<void> {
  try {
    await reachState(service, asker.budget, query);
    await service.queries.run(query, asker);
  } catch (error) {
    if (!(error instanceof NotInHistory)) throw error;
    throw new ApiError('invalid_parameter', error.message.replace(/\bat\b/, 'since'), { param: 'since' });
  }
}
