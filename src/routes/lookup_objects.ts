/** POST /api/lookup */
import { answerQuery } from '../http/answer_query.ts';
import type { Handler } from '../http/exchange.ts';
import { readJsonBody } from '../http/json_body.ts';
import { parseLookup } from '../http/lookup_request.ts';
import type { Service } from '../service/service.ts';

/** A larger body nearly always has more inputs than a quick query may have. */
const LONG_BYTES = 8192;

export function lookupObjects(service: Service): Handler {
  return async exchange => {
    const { request, budget } = exchange;
    // A request that will be refused is refused before it is read: reading 1,000 inputs takes as long as many answers.
    if (Number(request.headers.get('Content-Length')) > LONG_BYTES) service.queries.requireRoom(budget);
    const query = parseLookup(await readJsonBody(request, budget), service.config, service.catalogs);
    exchange.asked = query;
    return answerQuery(service, exchange, query);
  };
}
