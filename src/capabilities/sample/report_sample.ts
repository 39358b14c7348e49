/** POST /api/sample */

import { parseJson, toJson } from '@nearsky/astrotables/json';
import type { Asker } from '../../core/answers/admission.ts';
import { NotInHistory } from '../../core/answers/context.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { type AnswerFormat, FORMATS } from '../../core/contract/formats.ts';
import { named } from '../../core/contract/kind.ts';
import { RA_UNIT } from '../../core/documents/parameters.ts';
import { preferredFormat } from '../../core/http/accept.ts';
import { reachState, withEntry } from '../../core/http/answer_query.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readJsonBody } from '../../core/http/json_body.ts';
import { optional } from '../../core/http/params.ts';
import { type Answer, NEGOTIATED, wholeResponse } from '../../core/http/respond.ts';
import { TABLE_HEADERS } from '../../core/http/table_response.ts';
import type { Service } from '../../core/service/service.ts';
import { warned } from '../objects/position_warning.ts';
import { answerList } from '../tables/answer_list.ts';
import { changedRows } from './changes.ts';
import { SAMPLE } from './channel.ts';
import { MAX_SAMPLE_ROWS } from './limits.ts';
import { stateOfReport } from './options.ts';
import { parseSample } from './parse_sample.ts';
import { isReport, REPORT_FORMATS, type ReportFormat, reportHeaders, writeReport } from './report_formats.ts';
import { reportList } from './report_list.ts';
import type { SampleQuery } from './resolve.ts';
import type { SampleRow } from './rows.ts';
import { sampleTable } from './sample_table.ts';
import type { WholeReport } from './whole_report.ts';

/** The number of JSON names and values of the largest input, a position with a radius and a label, times the inputs. */
export const MAX_SAMPLE_VALUES = 10 * MAX_SAMPLE_ROWS;

export function reportSample(service: Service): Handler {
  return async exchange => {
    if (!isJson(exchange)) return await reportList(service, exchange);
    const body = await readJsonBody(exchange.request, exchange.budget, MAX_SAMPLE_VALUES);
    const raUnit = optional(exchange.search, 'ra_unit', RA_UNIT.kind);
    const sample = parseSample(body, service.config, service.catalogs, { raUnit });
    const answer = await answerReport(service, exchange, sample);
    return warned(
      answer,
      sample.query.inputs.map(({ input }) => input),
      raUnit,
    );
  };
}

/** The report in the format that was asked for. */
export async function answerReport(
  service: Service,
  exchange: Exchange,
  { query, earlier, options }: ReturnType<typeof parseSample>,
): Promise<Answer> {
  const { catalogs, config } = service;
  exchange.asked = query;
  const format = formatOf(exchange);
  const { json, entry, date } = await askReport(service, exchange, { query, earlier, options });
  const searched = catalogs.all.filter(({ name }) => options.catalogs.includes(name));
  if (!isReport(format))
    return withEntry(await answerList(exchange, config, json, 'rows', () => sampleTable(searched)), entry);
  const { rows, ...about } = parseJson(json) as unknown as WholeReport & { readonly rows: readonly SampleRow[] };
  const report = { ...about, date, catalogs: searched, row: (index: number) => rows[index]! };
  const text = [...writeReport(format, report)].join('');
  const headers = { ...reportHeaders(format), Vary: NEGOTIATED, 'Access-Control-Expose-Headers': TABLE_HEADERS };
  return withEntry(wholeResponse({ ...headers, 'X-Row-Count': `${rows.length}` }, Buffer.from(text)), entry);
}

/**
 * The report as JSON, and the journal entry that it is from, if the service keeps a history.
 * @throws ApiError, TooExpensive, Unavailable
 */
export async function askReport(
  service: Service,
  asker: Asker,
  { query, earlier, options }: ReturnType<typeof parseSample>,
): Promise<{ readonly json: string; readonly entry: number | undefined; readonly date: string | null }> {
  await reachState(service, asker.budget, query);
  const { entry } = await service.queries.run(query, asker);
  if (earlier) await runEarlier(service, asker, earlier);
  const state = service.read(store => stateOfReport(store, entry));
  if (!state) throw new Unavailable('the database cannot be read');
  const asked = { ...options, provenance: service.provenance, ...state, client: asker.client, rows: query.found };
  const { json } = await service.coordination.ask(SAMPLE, asked, asker.budget);
  const { date } = state;
  if (!earlier) return { json, entry, date };
  const changes = toJson(changedRows(earlier.found, query.found));
  return { json: `${json.slice(0, -1)}, "changes": ${changes}}`, entry, date };
}

const FORMAT_KIND = named([...FORMATS, ...REPORT_FORMATS]);

function formatOf({ search, request }: Exchange): AnswerFormat | ReportFormat {
  return optional(search, 'format', FORMAT_KIND) ?? preferredFormat(request.headers.get('Accept'), REPORT_FORMATS);
}

export const isJson = ({ request }: Exchange) =>
  (request.headers.get('Content-Type') ?? '').split(';', 1)[0]!.trim().toLowerCase() === 'application/json';

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
