/** POST /api/lookup */
import { answerQuery } from '../http/answer_query.ts';
import type { Handler } from '../http/exchange.ts';
import { readJsonBody } from '../http/json_body.ts';
import { parseLookup } from '../http/lookup_request.ts';
import type { Service } from '../service.ts';

export function lookupObjects(service: Service): Handler {
  return async exchange => {
    const { request, budget } = exchange;
    const query = parseLookup(await readJsonBody(request, budget), service.config);
    exchange.asked = query;
    return answerQuery(service, exchange, query);
  };
}
