/** GET /api/objects/{diaObjectId} */

import { toJson } from '@nearsky/astrotables/json';
import type { Query } from '../answers/queries.ts';
import { OBJECT_PARAMETERS } from '../documents/parameters.ts';
import { answerQuery } from '../http/answer_query.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { lookupQuery } from '../http/lookup_request.ts';
import { decodeSegment, parameterOf } from '../http/params.ts';
import { readerOf } from '../http/read_parameters.ts';
import type { Service } from '../service/service.ts';

export function getObject(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange, service));
}

function parse({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.diaObjectId!);
  if (segment === undefined) throw notFound(path);
  const read = readerOf(search, OBJECT_PARAMETERS, catalogs);
  const shared = { detail: read('detail'), filters: read('filters'), response: read('response') };
  const diaObjectId = parameterOf(OBJECT_PARAMETERS.diaObjectId.kind, 'diaObjectId', segment);
  return lookupQuery([{ kind: 'id', sent: toJson(segment), diaObjectId }], shared, config);
}
