/** GET /api/tns/{name} */

import { toJson } from '@nearsky/astrotables/json';
import type { Query } from '../answers/queries.ts';
import { tnsParameters } from '../documents/parameters.ts';
import { answerQuery } from '../http/answer_query.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { lookupQuery } from '../http/lookup_request.ts';
import { decodeSegment, parameterOf } from '../http/params.ts';
import { readerOf } from '../http/read_parameters.ts';
import type { Service } from '../service/service.ts';

export function resolveTns(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange, service));
}

function parse({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.name!);
  if (segment === undefined) throw notFound(path);
  const parameters = tnsParameters(config);
  const read = readerOf(search, parameters, catalogs);
  const shared = { detail: read('detail'), filters: read('filters'), response: read('response') };
  const name = parameterOf(parameters.name.kind, 'name', segment);
  const input = { kind: 'tns', sent: toJson(segment), ...name, radiusArcsec: read('radius_arcsec') } as const;
  return lookupQuery([input], shared, config);
}
