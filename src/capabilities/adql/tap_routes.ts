/**
 * Table Access Protocol 1.1: queries in ADQL, answered at once or as jobs, and the descriptions of the tables. An error
 * is a VOTable, with the same status as elsewhere.
 */

import { VOTABLE_TYPE, votableError } from '@nearsky/astrotables';
import { memoized } from '../../core/base/memoized.ts';
import { processStart } from '../../core/base/processes.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { AS_OF_HEADER, JOURNAL_ENTRY_HEADER } from '../../core/contract/headers.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError, expectedErrorOf, notFound } from '../../core/http/errors.ts';
import type { Exchange, Handler, Resource } from '../../core/http/exchange.ts';
import type { Search } from '../../core/http/params.ts';
import {
  type Answer,
  bytesResponse,
  emptyResponse,
  streamedResponse,
  wholeResponse,
  xmlResponse,
} from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { jobRoutes } from '../jobs/job_routes.ts';
import { PartStream } from '../uploads/part_stream.ts';
import { availabilityOf } from '../vo/availability.ts';
import { withVotableErrors } from '../vo/votable_errors.ts';
import { beginQuery } from './adql_query.ts';
import { TAP } from './channel.ts';
import { tapCapabilities, tapExamples, tapTable, tapTableset } from './documents.ts';
import type { TapState } from './edition.ts';
import type { TapDocument } from './operations.ts';
import { RECORD_PATH, registryRecord } from './record.ts';
import { adqlSettings } from './settings.ts';
import { listedTables } from './tables.ts';
import { canQuery, TAP_JOB, type TapJobRequest, whyNoQueries } from './tap.ts';
import { tapParametersOf, tapQueryOf } from './tap_parameters.ts';

export function tap(service: Service): readonly Resource[] {
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
        const state = (await service.coordination.ask(TAP, { step: 'state' }, budget)) as TapState | null;
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
  const sync = {
    path: `${TAP_PATH}/sync`,
    metric: 'tap_sync',
    handler: withVotableErrors(exchange => answer(service, exchange)),
  };
  const document = (path: string, handler: Handler): Resource => {
    return { method: 'GET', path, metric: 'tap_documents', handler, isWithoutObjects: true };
  };
  return [
    { method: 'GET', ...sync },
    { method: 'POST', ...sync },
    // Clients join the names of resources to the address with a slash, and some leave it there.
    ...[TAP_PATH, `${TAP_PATH}/`].map(path => document(path, entrance(documents.capabilities))),
    document(RECORD_PATH, record(service)),
    ...Object.entries(documents).map(([path, handler]) => document(`${TAP_PATH}/${path}`, handler)),
    ...jobs(service).map(each => ({ ...each, handler: withVotableErrors(each.handler) })),
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
  const { parameters, uploads } = await tapParametersOf(exchange, service);
  try {
    const { TAP_QUERY_SECONDS } = adqlSettings.of(config);
    const query = tapQueryOf(parameters, service, TAP_QUERY_SECONDS, baseUrl(exchange.request, config));
    exchange.asked = { query: query.query.slice(0, 1000) };
    const uploadPath = uploads.end();
    const whole = uploadPath === undefined ? query : { ...query, uploadPath };
    const begun = await beginQuery(service, whole, exchange.client, exchange.request);
    if ('refused' in begun) throw new ApiError('invalid_parameter', begun.refused, { param: begun.param ?? 'QUERY' });
    const headers = headersOf(query.format.mediaType, begun.state);
    return begun.whole
      ? wholeResponse(headers, begun.whole)
      : streamedResponse(headers, new PartStream(begun.next, begun.end));
  } finally {
    uploads.remove();
  }
}

function headersOf(mediaType: string, { sequence, asOfMs }: TapState) {
  return {
    'Content-Type': mediaType,
    [JOURNAL_ENTRY_HEADER]: `${sequence}`,
    [AS_OF_HEADER]: new Date(asOfMs).toISOString(),
    'Access-Control-Expose-Headers': `Retry-After, ${JOURNAL_ENTRY_HEADER}, ${AS_OF_HEADER}`,
  };
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
    headersOf: ({ mediaType, about }) => headersOf(mediaType, about as TapState),
    errorAnswer: message => bytesResponse(VOTABLE_TYPE, new TextEncoder().encode(votableError(message))),
    made: {
      requestOf,
      async parametersOf(exchange) {
        const { parameters, uploads } = await tapParametersOf(exchange, service);
        return { parameters, ...(uploads.end() !== undefined && { input: uploads }) };
      },
    },
  });
}
