/**
 * Table Access Protocol 1.1: queries in ADQL, answered at once or as jobs, and the descriptions of the tables. An error
 * is a VOTable, with the same status as elsewhere.
 */

import { VOTABLE_TYPE, votableError } from '@nearsky/astrotables';
import { memoized } from '../base/memoized.ts';
import { processStart } from '../base/processes.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { AS_OF_HEADER, JOURNAL_ENTRY_HEADER } from '../contract/headers.ts';
import { TAP_PATH } from '../contract/tap.ts';
import type { TapDocument } from '../documents/openapi/virtual_observatory.ts';
import { baseUrl } from '../http/base_url.ts';
import { ApiError, expectedErrorOf, notFound } from '../http/errors.ts';
import type { Exchange, Handler, Place } from '../http/exchange.ts';
import type { Search } from '../http/params.ts';
import { PartStream } from '../http/part_stream.ts';
import {
  type Answer,
  bytesResponse,
  emptyResponse,
  streamedResponse,
  wholeResponse,
  xmlResponse,
} from '../http/respond.ts';
import { withVotableErrors } from '../http/votable_errors.ts';
import { beginQuery } from '../service/adql_query.ts';
import type { Service } from '../service/service.ts';
import { tapCapabilities, tapExamples, tapTable, tapTableset } from '../tap/documents.ts';
import type { TapState } from '../tap/generation.ts';
import { RECORD_PATH, registryRecord } from '../tap/record.ts';
import { listedTables } from '../tap/tables.ts';
import { canQuery, TAP_JOB, type TapJobRequest, whyNoQueries } from '../tap/tap.ts';
import { jobRoutes } from './jobs.ts';
import { tapParametersOf, tapQueryOf } from './tap_parameters.ts';
import { availabilityOf } from './vo.ts';

export function tap(service: Service): (readonly [method: 'GET' | 'POST' | 'ANY', ...Place])[] {
  const { config } = service;
  const text = (type: string, of: (exchange: Exchange) => string): Handler => {
    return exchange => bytesResponse(type, new TextEncoder().encode(of(exchange)));
  };
  const tables = memoized(listedTables);
  const tableset = (isBrief: boolean) => memoized((catalogs: Catalogs) => tapTableset(tables(catalogs), isBrief));
  const [whole, brief] = [tableset(false), tableset(true)];
  const documents: Readonly<Record<TapDocument, Handler>> = {
    capabilities: text('text/xml', ({ request }) =>
      tapCapabilities(config, baseUrl(request, config), canQuery(config)),
    ),
    availability: availabilityOf(
      service,
      () => whyNoQueries(config),
      async budget => {
        const state = (await service.coordination.ask('tap', { step: 'state' }, budget)) as TapState | null;
        return state ? noteOf(state) : 'The tables are not in use yet';
      },
    ),
    tables: text('text/xml', ({ search }) => (search.get('detail') === 'min' ? brief : whole)(service.catalogs)),
    'tables/:name': text('text/xml', ({ params, path }) => {
      const document = tapTable(tables(service.catalogs), params.name!);
      if (document === undefined) throw notFound(path);
      return document;
    }),
    examples: text('application/xhtml+xml', tapExamples),
  };
  const sync = withVotableErrors(exchange => answer(service, exchange));
  return [
    ['GET', `${TAP_PATH}/sync`, 'tap_sync', sync],
    ['POST', `${TAP_PATH}/sync`, 'tap_sync', sync],
    ['GET', TAP_PATH, 'tap_documents', entrance(documents.capabilities)],
    ['GET', RECORD_PATH, 'tap_documents', record(service)],
    ...Object.entries(documents).map(
      ([path, handler]) => ['GET', `${TAP_PATH}/${path}`, 'tap_documents', handler] as const,
    ),
    ...jobs(service).map(([path, metric, handler]) => ['ANY', path, metric, withVotableErrors(handler)] as const),
  ];
}

function noteOf({ sequence, asOfMs }: TapState): string {
  return `The tables have the journal up to entry ${sequence}, which was the last one at ${new Date(asOfMs).toISOString()}`;
}

/** Browsers get the page for queries, other clients the list of resources. */
function entrance(capabilities: Handler): Handler {
  return exchange =>
    /\btext\/html\b/.test(exchange.request.headers.get('Accept') ?? '')
      ? emptyResponse(303, { Location: '/query', Vary: 'Accept' })
      : capabilities(exchange);
}

function record(service: Service): Handler {
  const { config } = service;
  // Another version, or other settings, need a new start of the service.
  const started = processStart().toISOString().slice(0, -5);
  return ({ request }) =>
    xmlResponse(registryRecord(config, baseUrl(request, config), service.catalogs, `${started}Z`, canQuery(config)));
}

async function answer(service: Service, exchange: Exchange): Promise<Answer> {
  const { config } = service;
  const { parameters, uploads } = await tapParametersOf(exchange, config);
  try {
    const query = tapQueryOf(parameters, service, config.TAP_QUERY_SECONDS, baseUrl(exchange.request, config));
    exchange.asked = { query: query.query.slice(0, 1000) };
    const uploadPath = uploads.end();
    const whole = uploadPath === undefined ? query : { ...query, uploadPath };
    const begun = await beginQuery(service, whole, exchange.client, exchange.request);
    if ('refused' in begun) throw new ApiError('invalid_parameter', begun.refused, { param: begun.param ?? 'QUERY' });
    const headers = {
      'Content-Type': query.format.mediaType,
      [JOURNAL_ENTRY_HEADER]: `${begun.state.sequence}`,
      [AS_OF_HEADER]: new Date(begun.state.asOfMs).toISOString(),
      'Access-Control-Expose-Headers': `Retry-After, ${JOURNAL_ENTRY_HEADER}, ${AS_OF_HEADER}`,
    };
    return begun.whole
      ? wholeResponse(headers, begun.whole)
      : streamedResponse(headers, new PartStream(begun.next, begun.end));
  } finally {
    uploads.remove();
  }
}

function jobs(service: Service) {
  const { config } = service;
  const requestOf = (parameters: Search, base: string): TapJobRequest => {
    try {
      return { ...tapQueryOf(parameters, service, config.JOBS_SECONDS, base), isJob: true };
    } catch (error) {
      const expected = expectedErrorOf(error);
      if (!expected) throw error;
      return { refused: expected.message };
    }
  };
  return jobRoutes(service, {
    base: `${TAP_PATH}/async`,
    kind: TAP_JOB,
    headersOf: ({ mediaType }) => ({ 'Content-Type': mediaType }),
    errorAnswer: message => bytesResponse(VOTABLE_TYPE, new TextEncoder().encode(votableError(message))),
    made: {
      requestOf,
      async parametersOf(exchange) {
        const { parameters, uploads } = await tapParametersOf(exchange, config);
        return { parameters, ...(uploads.end() !== undefined && { input: uploads }) };
      },
    },
  });
}
