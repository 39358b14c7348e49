/** Lookups: of one object, and of the inputs in a body. */

import { toJson } from '@nearsky/astrotables/json';
import type { Query } from '../../core/answers/queries.ts';
import { RA_UNIT } from '../../core/documents/parameters.ts';
import { answering, answerQuery } from '../../core/http/answer_query.ts';
import { notFound } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readJsonBody } from '../../core/http/json_body.ts';
import { decodeSegment, optional, parameterOf } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { lookupQuery, parseLookup } from './lookup_request.ts';
import { OBJECT_PARAMETERS } from './parameters.ts';
import { warned } from './position_warning.ts';

/** GET /api/objects/{diaObjectId} */
export const getObject = answering(objectQuery);

function objectQuery({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.diaObjectId!);
  if (segment === undefined) throw notFound(path);
  const read = readerOf(search, OBJECT_PARAMETERS, catalogs);
  const shared = { detail: read('detail'), filters: read('filters'), response: read('response'), at: read('at') };
  const diaObjectId = parameterOf(OBJECT_PARAMETERS.diaObjectId.kind, 'diaObjectId', segment);
  return lookupQuery([{ kind: 'id', sent: toJson(segment), diaObjectId }], shared, config);
}

/** A larger body nearly always has more inputs than a fast query may have, so it is a long query. */
const LONG_BYTES = 8192;

/** The number of JSON names and values in the largest input, a position with a radius. */
const VALUES_AN_INPUT = 8;

/** POST /api/lookup */
export function lookupObjects(service: Service): Handler {
  const { API_MAX_IDS, API_MAX_POSITIONS } = service.config;
  return async exchange => {
    const { request, budget } = exchange;
    // If a request will be refused, it is refused before its body is read. Reading 1,000 inputs takes as long as many
    // answers.
    if (Number(request.headers.get('Content-Length')) > LONG_BYTES) service.queries.requireRoom(exchange);
    const body = await readJsonBody(request, budget, VALUES_AN_INPUT * (API_MAX_IDS + API_MAX_POSITIONS));
    const raUnit = optional(exchange.search, 'ra_unit', RA_UNIT.kind);
    const query = parseLookup(body, service.config, service.catalogs, raUnit);
    exchange.asked = query;
    return warned(await answerQuery(service, exchange, query), query.inputs, raUnit);
  };
}
