/** Kept samples: a list under a link, whose report always shows the current state (docs/contract.md, Kept samples). */
import { linkSync, readFileSync, statSync } from 'node:fs';
import { toJson } from '@nearsky/astrotables/json';
import { Budget } from '../../core/base/budget.ts';
import { parseSent, type SentObject } from '../../core/base/json_reader.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { formatTime } from '../../core/base/times.ts';
import { TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { JOURNAL_ENTRY } from '../../core/documents/kinds.ts';
import { reachState } from '../../core/http/answer_query.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError, invalidParameter, missingParameter } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { invalidBody, readJsonBody, readParts } from '../../core/http/json_body.ts';
import { fieldOf, optional } from '../../core/http/params.ts';
import { type Answer, emptyResponse, exposing, jsonResponse, streamedResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { whyNotInHistory } from '../../core/store/history.ts';
import { answerWhole, requireRead } from '../jobs/sent_table.ts';
import type { LookupInput } from '../objects/queries.ts';
import { fileStream } from '../uploads/part_stream.ts';
import { SentFile } from '../uploads/sent_file.ts';
import { spoolOf } from '../uploads/spool.ts';
import { askNodes } from './ask_nodes.ts';
import { KEEP, type KeepStep, LIST_INPUTS } from './channel.ts';
import { KEPT_ID, type KeptSample, KeptStore, type NewSample } from './kept_store.ts';
import { KEPT_PATH } from './parameters.ts';
import { parseSample, TITLE } from './parse_sample.ts';
import { LIST_WANTED, listUse, maxListBytes, parseList, SEND_AS_JOB } from './report_list.ts';
import { answerReport, isJson, MAX_SAMPLE_VALUES } from './report_sample.ts';
import type { SampleQuery } from './resolve.ts';

const GIVE_TITLE = 'the title of the sample';

/** POST /api/samples */
export function keepSample(service: Service): Handler {
  return async exchange => {
    const sample = isJson(exchange) ? await keepJson(service, exchange) : await keepTable(service, exchange);
    const address = `${baseUrl(exchange.request, service.config)}${KEPT_PATH}/${sample.id}`;
    const kept = { ...described(sample), url: address };
    return jsonResponse(201, toJson(kept), {
      Location: address,
      'Access-Control-Expose-Headers': 'Location, Retry-After',
    });
  };
}

const described = ({ id, title, createdMs, expiresMs, bytes }: KeptSample) => ({
  id,
  title,
  created: formatTime(createdMs * 1000),
  expires: formatTime(expiresMs * 1000),
  bytes,
});

async function keepJson(service: Service, exchange: Exchange): Promise<KeptSample> {
  const body = await readJsonBody(exchange.request, exchange.budget, MAX_SAMPLE_VALUES + 10);
  if (!(body instanceof Map)) throw invalidBody('it must be a JSON object');
  const raUnit = exchange.search.get('ra_unit');
  if (raUnit !== undefined && raUnit !== 'deg')
    throw invalidParameter('ra_unit', 'deg for a sample in JSON, whose positions are degrees', raUnit);
  const { title: given = null, ...rest } = Object.fromEntries(body);
  if (given === null) throw missingParameter('title', GIVE_TITLE);
  const title = fieldOf(TITLE, 'title', given);
  const request: SentObject = new Map(Object.entries(rest));
  const { query, earlier } = parseSample(request, service.config, service.catalogs);
  for (const [param, each] of Object.entries({ at: query, since: earlier }))
    if (each?.state?.isRequired) await requireHistory(service, exchange.budget, each, param);
  const text = toJson(body);
  const sample = { title, client: exchange.client, bytes: Buffer.byteLength(text), body: { text } };
  return await keep(service, { sample }, exchange.budget);
}

/** @throws ApiError naming the parameter if the state that the query reads is not in the history */
async function requireHistory(service: Service, budget: Budget, query: SampleQuery, param: string): Promise<void> {
  await reachState(service, budget, query);
  const why = service.read(store => whyNotInHistory(store.databases, query.state!.at!, param));
  if (why !== undefined) throw new ApiError('invalid_parameter', why, { param });
}

async function keepTable(service: Service, exchange: Exchange): Promise<KeptSample> {
  const { client, search } = exchange;
  const title = optional(search, 'title', TITLE);
  if (title === undefined) throw missingParameter('title', GIVE_TITLE);
  const request = parseList(exchange, service);
  const sent = new SentFile(service.config.NEARSKY_DATA, spoolOf(service), client);
  const budget = new Budget(TABLE_BUDGET_SECONDS);
  try {
    await readParts(exchange.request, budget, maxListBytes(service.config), part => sent.add(part));
    if (sent.bytes === 0) throw invalidBody(`it is empty: ${LIST_WANTED}`);
    const { title: _, format: __, ...table } = Object.fromEntries(search);
    const path = sent.file();
    const sample = { title, client, bytes: sent.bytes, table, body: { path } };
    const asked = { client, request, input: path, inputBytes: sent.bytes };
    return await keep(service, { sample, table: asked }, budget);
  } finally {
    sent.remove();
  }
}

async function keep(
  { coordination }: Service,
  asked: { readonly sample: NewSample } & Pick<KeepStep & { step: 'keep' }, 'table'>,
  budget: Budget,
): Promise<KeptSample> {
  const answer = await coordination.ask(KEEP, { step: 'keep', ...asked }, budget);
  const whole = requireRead(answer, 'keep', SEND_AS_JOB);
  return (whole as Extract<typeof whole, { outcome: 'kept' }>).sample;
}

/** GET /api/samples/:id */
export function keptSample(service: Service): Handler {
  const store = new KeptStore(service.config);
  return async exchange =>
    await withSample(service, exchange, store, async kept =>
      withSunset(await report(service, exchange, kept), kept.sample),
    );
}

/** DELETE /api/samples/:id */
export function deleteSample(service: Service): Handler {
  const store = new KeptStore(service.config);
  return async exchange => {
    const id = exchange.params.id!;
    if (store.read(id))
      await service.coordination.ask(KEEP, { step: 'remove', id, client: exchange.client }, exchange.budget);
    else if (!(await fromOtherNode(service, exchange, '', 'DELETE'))) throw notKept();
    return emptyResponse(204, {});
  };
}

/** GET /api/samples/:id/input */
export function keptInput(service: Service): Handler {
  const store = new KeptStore(service.config);
  return async exchange =>
    await withSample(service, exchange, store, async ({ sample, path }) => {
      const { table } = sample;
      const headers = {
        'Content-Type': table ? 'application/octet-stream' : 'application/json',
        'Content-Length': `${statSync(path).size}`,
        ...(table && { [PARAMETERS_HEADER]: `${new URLSearchParams(table)}` }),
      };
      return withSunset(streamedResponse(headers, await fileStream(path)), sample);
    });
}

/** A sample with the path of its body. */
interface KeptFile {
  readonly sample: Pick<KeptSample, 'title' | 'expiresMs' | 'bytes' | 'table'>;
  readonly path: string;
}

/** Uses the sample of this node, or a copy of another node's, which is removed afterwards. */
export async function withSample(
  service: Service,
  exchange: Exchange,
  store: KeptStore,
  use: (kept: KeptFile) => Promise<Answer>,
): Promise<Answer> {
  const own = store.read(exchange.params.id!);
  if (own) return await use({ sample: own, path: store.inputPath(own) });
  const answer = await fromOtherNode(service, exchange, '/input', 'GET');
  if (!answer) throw notKept();
  const copy = new SentFile(service.config.NEARSKY_DATA, spoolOf(service), exchange.client);
  try {
    await copyBody(answer, copy);
    const isTable = answer.headers.get('Content-Type') !== 'application/json';
    const sample = {
      title: decodeURIComponent(answer.headers.get(TITLE_HEADER)!),
      expiresMs: Date.parse(answer.headers.get('Sunset')!),
      bytes: copy.bytes,
      ...(isTable && { table: Object.fromEntries(new URLSearchParams(answer.headers.get(PARAMETERS_HEADER) ?? '')) }),
    };
    return await use({ sample, path: copy.file() });
  } finally {
    copy.remove();
  }
}

/** @throws Unavailable if the other node does not send all of the sample in time */
async function copyBody({ body, headers }: Response, copy: SentFile): Promise<void> {
  const reader = body!.getReader();
  const read = () =>
    reader.read().catch(() => {
      throw new Unavailable('the node that has the sample ended its answer early');
    });
  const timer = setTimeout(() => void reader.cancel(), 1000 * TABLE_BUDGET_SECONDS);
  try {
    for (let part = await read(); !part.done; part = await read()) copy.add(part.value);
  } finally {
    clearTimeout(timer);
  }
  if (copy.bytes !== Number(headers.get('Content-Length')))
    throw new Unavailable('the node that has the sample did not send all of it');
}

/** @param path behind that of the sample */
async function fromOtherNode(
  { config }: Service,
  exchange: Exchange,
  path: string,
  method: 'GET' | 'DELETE',
): Promise<Response | undefined> {
  const id = exchange.params.id!;
  return KEPT_ID.test(id) ? await askNodes(config, exchange, `${KEPT_PATH}/${id}${path}`, method) : undefined;
}

const notKept = () =>
  new ApiError('not_found', 'Cannot find the kept sample: it has expired, was deleted, or never existed');

const TITLE_HEADER = 'X-Sample-Title';
/** Of a table: the parameters of its request, as a query string. */
const PARAMETERS_HEADER = 'X-Sample-Parameters';

const readBody = (path: string) =>
  parseSent(readFileSync(path), { maxDepth: 1003, maxValues: MAX_SAMPLE_VALUES + 10 }) as SentObject;

const withoutTitle = (body: SentObject): SentObject => new Map([...body].filter(([name]) => name !== 'title'));

/**
 * The inputs of a kept sample. @throws ApiError, Unavailable
 */
export async function keptInputs(
  service: Service,
  { request, client }: Exchange,
  { sample: { table, bytes }, path }: KeptFile,
): Promise<readonly LookupInput[]> {
  if (!table) {
    const { query } = parseSample(withoutTitle(readBody(path)), service.config, service.catalogs);
    return query.inputs.map(({ input }) => input);
  }
  const search = new Map([...Object.entries(table), ['format', 'json'] as const]);
  const asked = { client, request: parseList({ search, request }, service), input: path, inputBytes: bytes };
  const answer = await service.coordination.ask(LIST_INPUTS, asked, new Budget(TABLE_BUDGET_SECONDS));
  const whole = requireRead(answer, 'follow', 'keep a shorter list');
  return (whole as Extract<typeof whole, { outcome: 'inputs' }>).inputs;
}

/** The report on the sample as it is now, in any format. */
async function report(service: Service, exchange: Exchange, { sample, path }: KeptFile): Promise<Answer> {
  const { search, request } = exchange;
  const at = optional(search, 'at', JOURNAL_ENTRY);
  const since = optional(search, 'since', JOURNAL_ENTRY);
  if (!sample.table) {
    const asked = parseSample(withoutTitle(readBody(path)), service.config, service.catalogs, { at, since });
    return await answerReport(service, exchange, asked);
  }
  for (const [name, value] of Object.entries({ at, since }))
    if (value !== undefined) throw invalidParameter(name, 'left out for a sample in a table', value);
  const format = search.get('format');
  const list = new Map([
    ...Object.entries(sample.table),
    ...(format === undefined ? [] : [['format', format] as const]),
  ]);
  return await answerWhole(service, exchange, listUse(service, parseList({ search: list, request }, service)), {
    bytes: sample.bytes,
    content: () => path,
    moveTo: to => linkSync(path, to),
  });
}

/** Adds the time at which the sample expires (RFC 8594), and its title. */
function withSunset(answer: Answer, { title, expiresMs }: KeptFile['sample']): Answer {
  return {
    ...answer,
    headers: {
      ...answer.headers,
      Sunset: new Date(expiresMs).toUTCString(),
      [TITLE_HEADER]: encodeURIComponent(title),
      ...exposing(answer.headers, 'Sunset', TITLE_HEADER, PARAMETERS_HEADER),
    },
  };
}
