/** Turns a parsed query into its response. */
import { bytesOf, type QueryAnswer } from '../answers/body.ts';
import { searchesIndex } from '../answers/history.ts';
import { isCount, type Query } from '../answers/queries.ts';
import { splitTable } from '../answers/table_head.ts';
import type { Budget } from '../base/budget.ts';
import type { Config } from '../config/config.ts';
import { type AnswerFormat, TABLE_FORMATS, type TableFormat } from '../contract/formats.ts';
import { named } from '../contract/kind.ts';
import { FORMAT } from '../documents/parameters.ts';
import type { Service } from '../service/service.ts';
import { preferredFormat } from './accept.ts';
import { invalidCursor } from './cursor.ts';
import { ApiError } from './errors.ts';
import type { Exchange, Handler } from './exchange.ts';
import { optional } from './params.ts';
import { type Answer, msgpackResponse, negotiatedJson } from './respond.ts';
import { tableResponse } from './table_response.ts';

const TABLE_FORMAT = named(TABLE_FORMATS);

/**
 * The answer to a query, in the format of the `format` parameter, else in the client's preferred format. Errors are
 * always JSON.
 * @throws ApiError `invalid_parameter` for an unknown format, or a format that does not support counts
 */
export function answerQuery(service: Service, exchange: Exchange, query: Query): Answer | Promise<Answer> {
  if (query.after) requireOwn(service, query.after.archive);
  const reaching = reachState(service, exchange.budget, query);
  return reaching ? reaching.then(() => answerHere(service, exchange, query)) : answerHere(service, exchange, query);
}

/** Makes the handler of an operation whose answer is that of one query. */
export const answering =
  (parse: (exchange: Exchange, service: Service) => Query) =>
  (service: Service): Handler =>
  exchange =>
    answerQuery(service, exchange, parse(exchange, service));

/** Waits until this node has the state that the query reads. Undefined if there is nothing to wait for. */
export function reachState(service: Service, budget: Budget, query: Query): Promise<void> | undefined {
  const entry = query.state?.at;
  // Another node may have issued the cursor.
  const isFurther = !!query.after && service.coordination.state.hasLog;
  if (entry === undefined) return isFurther ? service.reach(query.asOfUs!, budget) : undefined;
  return isFurther || searchesIndex(query) ? service.reachEntry(entry, isFurther, budget) : undefined;
}

/** @throws ApiError naming `cursor` if another archive has issued it, because the walk would then miss objects */
function requireOwn(service: Service, archive: string | undefined): void {
  const own = archive === undefined ? undefined : service.archive;
  if (own !== undefined && own !== archive) throw invalidCursor('another archive has issued it');
}

function answerHere(service: Service, exchange: Exchange, query: Query): Answer | Promise<Answer> {
  const { queries } = service;
  const format = formatOf(exchange, query);
  if (format !== 'json') return answerInFormat(format, queries.run({ ...query, format }, exchange), service, exchange);
  const answered = queries.run(query, exchange);
  const answer = ({ body, entry }: QueryAnswer) => withEntry(negotiatedJson(body), entry);
  return answered instanceof Promise ? answered.then(answer) : answer(answered);
}

/** Adds the journal entry that the answer is from, if it is from one. */
export function withEntry(answer: Answer, journalEntry: number | undefined): Answer {
  return journalEntry === undefined ? answer : { ...answer, journalEntry };
}

async function answerInFormat(
  format: Exclude<AnswerFormat, 'json'>,
  answering: QueryAnswer | Promise<QueryAnswer>,
  { config }: Service,
  exchange: Exchange,
): Promise<Answer> {
  const { body, entry } = await answering;
  const bytes = bytesOf(body);
  if (format === 'msgpack') return withEntry(msgpackResponse(bytes), entry);
  const { head, table } = splitTable(bytes);
  return withEntry(tableResponse(format, head, table, tableAddress(config, exchange), exchange.search), entry);
}

/** The address of a request, for the link to the next page of its table. */
export function tableAddress(config: Config, { path }: Exchange): string {
  // Without PUBLIC_BASE_URL, the link is relative, because a client can put anything into the Host header.
  return config.PUBLIC_BASE_URL === null ? '' : `${config.PUBLIC_BASE_URL}${path}`;
}

/** @throws ApiError like `answerQuery`. `query` may still be incomplete */
export function checkFormat(exchange: Exchange, asked: Pick<Query, 'kind' | 'response'>): void {
  formatOf(exchange, asked);
}

/** The format of the `format` parameter, else the client's preferred one. */
export function formatAsked({ request, search }: Exchange): AnswerFormat {
  return optional(search, 'format', FORMAT.kind) ?? preferredFormat(request.headers.get('Accept'));
}

function formatOf(exchange: Exchange, query: Pick<Query, 'kind' | 'response'>): AnswerFormat {
  const format = formatAsked(exchange);
  const isOutline = query.response === 'outline';
  if (!(isOutline || isCount(query)) || !isTable(format)) return format;
  if (!exchange.search.has('format')) return 'json';
  const [what, are] = isOutline ? ['an outline', 'is'] : ['counts', 'are'];
  const message = `Cannot answer with ${what} as ${format} because ${what} ${are} not a table: leave out format, or response`;
  throw new ApiError('invalid_parameter', message, { param: 'format' });
}

/**
 * The format of an answer that must be a table: the requested one, or CSV.
 * @throws ApiError `invalid_parameter`
 */
export function tableFormatOf({ request, search }: Exchange): TableFormat {
  const asked = optional(search, 'format', TABLE_FORMAT);
  if (asked !== undefined) return asked;
  const accepted = preferredFormat(request.headers.get('Accept'));
  return isTable(accepted) ? accepted : 'csv';
}

function isTable(format: AnswerFormat): format is TableFormat {
  return TABLE_FORMATS.some(({ name }) => name === format);
}
