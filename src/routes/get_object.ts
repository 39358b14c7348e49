/** GET /api/objects/{diaObjectId} */
import type { Query } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import { answerQuery } from '../http/answer_query.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { decodeSegment, OBJECT_ID, parameterOf } from '../http/params.ts';
import { lookupQuery, parseShared } from '../http/shared_params.ts';
import type { Service } from '../service/service.ts';

export function getObject(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange, service));
}

function parse({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.diaObjectId!);
  if (segment === undefined) throw notFound(path);
  const shared = parseShared(search, catalogs);
  const diaObjectId = parameterOf(OBJECT_ID, 'diaObjectId', segment);
  return lookupQuery([{ kind: 'id', sent: toJson(segment), diaObjectId }], shared, config);
}
