/** GET /api/tns/{name} */
import type { Query } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import { answerQuery } from '../http/answer_query.ts';
import { invalidParameter, notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { decodeSegment, optionalNumber, radiusBounds, TNS_NAME } from '../http/params.ts';
import { lookupQuery, parseShared } from '../http/shared_params.ts';
import type { Service } from '../service/service.ts';
import { parseTnsName } from '../tns/names.ts';

export function resolveTns(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange, service));
}

function parse({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.name!);
  if (segment === undefined) throw notFound(path);
  const shared = parseShared(search, catalogs);
  const name = parseTnsName(segment);
  if (name === undefined) throw invalidParameter('name', TNS_NAME, segment);
  const radiusArcsec = optionalNumber(search, 'radius_arcsec', radiusBounds(config)) ?? config.TNS_MATCH_RADIUS_ARCSEC;
  return lookupQuery([{ kind: 'tns', sent: toJson(segment), ...name, radiusArcsec }], shared, config);
}
