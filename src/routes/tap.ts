/**
 * Table Access Protocol 1.1: queries in ADQL, answered at once, and what the service says of its tables. Names of
 * parameters are in any case. An error is a VOTable, with the status that it has elsewhere.
 */
import { Budget } from '../base/budget.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import { baseUrl } from '../http/base_url.ts';
import {
  ApiError,
  errorResponse,
  expectedErrorOf,
  invalidParameter,
  missingParameter,
  notFound,
} from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { readBytes } from '../http/json_body.ts';
import { PartStream } from '../http/part_stream.ts';
import { type Answer, bytesResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';
import { VOTABLE_TYPE, votableError } from '../tables/votable.ts';
import { EXAMPLES, TAP_PATH, tapCapabilities, tapExamples, tapTable, tapTableset } from '../tap/documents.ts';
import { TAP_FORMATS, tapFormat } from '../tap/formats.ts';
import { tapTables } from '../tap/tables.ts';
import type { TapStarted } from '../tap/tap.ts';
import { availabilityOf } from './vo.ts';

/** Beyond the time of a query: for the first snapshot, which is written before. */
const MARGIN_SECONDS = 10;

interface TapRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly metric: string;
  readonly handler: Handler;
}

export function tap(service: Service): TapRoute[] {
  const text = (type: string, of: (exchange: Exchange) => string): Handler => {
    return exchange => bytesResponse(type, new TextEncoder().encode(of(exchange)));
  };
  const tables = () => tapTables(service.catalogs.all);
  const documents: Readonly<Record<string, Handler>> = {
    capabilities: text('text/xml', ({ request }) => tapCapabilities(service.config, baseUrl(request, service.config))),
    availability: availabilityOf(service),
    tables: text('text/xml', ({ search }) => tapTableset(tables(), search.get('detail') === 'min')),
    'tables/:name': text('text/xml', ({ params, path }) => {
      const document = tapTable(tables(), params.name!);
      if (document === undefined) throw notFound(path);
      return document;
    }),
    examples: text('application/xhtml+xml', tapExamples),
  };
  return [
    ...(['GET', 'POST'] as const).map(method => ({
      method,
      path: `${TAP_PATH}/sync`,
      metric: 'tap_sync',
      handler: sync(service),
    })),
    ...Object.entries(documents).map(([path, handler]) => ({
      method: 'GET' as const,
      path: `${TAP_PATH}/${path}`,
      metric: 'tap_documents',
      handler,
    })),
  ];
}

function sync(service: Service): Handler {
  return async exchange => {
    try {
      return await answer(service, exchange);
    } catch (error) {
      const expected = expectedErrorOf(error);
      if (!expected) throw error;
      exchange.error = expected.code;
      const { status, headers } = errorResponse(expected);
      return { status, headers: { ...headers, 'Content-Type': VOTABLE_TYPE }, body: votableError(expected.message) };
    }
  };
}

async function answer({ config, coordination }: Service, exchange: Exchange): Promise<Answer> {
  const given = await parametersOf(exchange);
  const query = {
    query: queryOf(given),
    maxRecords: maxRecordsOf(given, config.TAP_MAX_RECORDS),
    format: formatOf(given),
  };
  exchange.asked = { query: query.query.slice(0, 1000) };
  const budget = () => new Budget(config.TAP_QUERY_SECONDS + MARGIN_SECONDS);
  const { job, begun } = (await coordination.ask('tap', { step: 'begin', query }, budget())) as TapStarted;
  if (begun.outcome === 'refused') throw new ApiError('invalid_parameter', begun.message, { param: 'QUERY' });
  const end = () => void coordination.ask('tap', { step: 'end', job }, budget()).catch(() => {});
  const next = async () => (await coordination.ask('tap', { step: 'part', job }, budget())) as Uint8Array | null;
  const { headers, ...whole } = bytesResponse(query.format.mediaType, new Uint8Array(0));
  return { ...whole, headers, body: null, stream: new PartStream(next, end) };
}

type Parameters = ReadonlyMap<string, string>;

/** The parameters of the query string and of a form, their names in upper case; without those that have no value. */
async function parametersOf({ request, method, search }: Exchange): Promise<Parameters> {
  const given = new Map([...search].map(([name, value]) => [name.toUpperCase(), value]));
  if (method === 'POST') {
    const type = (request.headers.get('Content-Type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded')
      throw invalidParameter('Content-Type', 'application/x-www-form-urlencoded', type);
    const bytes = await readBytes(request, new Budget(MARGIN_SECONDS), MAX_BODY_BYTES);
    for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes)))
      given.set(name.toUpperCase(), value);
  }
  for (const [name, value] of given) if (value.trim() === '') given.delete(name);
  return given;
}

const LANGUAGES = ['ADQL', 'ADQL-2.0', 'ADQL-2.1'];

function queryOf(given: Parameters): string {
  const request = given.get('REQUEST') ?? 'doQuery';
  if (request !== 'doQuery') throw invalidParameter('REQUEST', 'doQuery', request);
  if (given.has('UPLOAD'))
    throw new ApiError('invalid_parameter', 'Tables cannot be uploaded: leave UPLOAD out', { param: 'UPLOAD' });
  const language = given.get('LANG');
  if (language === undefined) throw missingParameter('LANG', LANGUAGES[0]!);
  if (!LANGUAGES.includes(language.toUpperCase()))
    throw invalidParameter('LANG', `one of ${LANGUAGES.join(', ')}`, language);
  const query = given.get('QUERY');
  if (query === undefined) throw missingParameter('QUERY', `a query in ADQL, such as ${EXAMPLES[0][2]}`);
  return query;
}

/** More than the service lists count as that many. */
function maxRecordsOf(given: Parameters, most: number): number {
  const text = given.get('MAXREC') ?? `${most}`;
  if (!/^\s*\d+\s*$/.test(text)) throw invalidParameter('MAXREC', 'an integer of at least 0', text);
  return Math.min(Number(text), most);
}

function formatOf(given: Parameters) {
  const text = given.get('RESPONSEFORMAT') ?? given.get('FORMAT') ?? 'votable';
  const format = tapFormat(text);
  if (!format) {
    const names = TAP_FORMATS.flatMap(({ name, mediaType }) => [name, mediaType]);
    throw invalidParameter('RESPONSEFORMAT', `one of ${names.join(', ')}`, text);
  }
  return format;
}
