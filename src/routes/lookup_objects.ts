/** POST /api/lookup */
import { answerQuery } from '../http/answer_query.ts';
import type { Handler } from '../http/exchange.ts';
import { readJsonBody } from '../http/json_body.ts';
import { parseLookup } from '../http/lookup_request.ts';
import type { Service } from '../service/service.ts';

/** A larger body nearly always has more inputs than a quick query is allowed. */
const LONG_BYTES = 8192;

/** The number of JSON names and values in the largest input, a position with a radius. */
const VALUES_AN_INPUT = 8;

export function lookupObjects(service: Service): Handler {
  const { API_MAX_IDS, API_MAX_POSITIONS } = service.config;
  return async exchange => {
    const { request, budget } = exchange;
    // A request that will be refused is refused before its body is read, because reading 1,000 inputs takes as long as
    // many answers.
    if (Number(request.headers.get('Content-Length')) > LONG_BYTES) service.queries.requireRoom(budget);
    const body = await readJsonBody(request, budget, VALUES_AN_INPUT * (API_MAX_IDS + API_MAX_POSITIONS));
    const query = parseLookup(body, service.config, service.catalogs);
    exchange.asked = query;
    return answerQuery(service, exchange, query);
  };
}
