/** GET /api/tns/{name} */
import type { Query } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import { answerQuery } from '../http/answer_query.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { decodeSegment, optional, parameterOf, radiusKind, TNS_NAME } from '../http/params.ts';
import { lookupQuery, parseShared } from '../http/shared_params.ts';
import type { Service } from '../service/service.ts';

export function resolveTns(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange, service));
}

function parse({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.name!);
  if (segment === undefined) throw notFound(path);
  const shared = parseShared(search, catalogs);
  const name = parameterOf(TNS_NAME, 'name', segment);
  const radiusArcsec = optional(search, 'radius_arcsec', radiusKind(config)) ?? config.TNS_MATCH_RADIUS_ARCSEC;
  return lookupQuery([{ kind: 'tns', sent: toJson(segment), ...name, radiusArcsec }], shared, config);
}
