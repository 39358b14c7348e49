import { toJson } from '@nearsky/astrotables/json';
import type { Query } from '../../core/answers/queries.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { DETAIL, FORMAT_AND_FILTERS, type Parameters, TNS_NAME } from '../../core/documents/parameters.ts';
import { answering } from '../../core/http/answer_query.ts';
import { notFound } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { decodeSegment, parameterOf } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { lookupQuery } from '../objects/lookup_request.ts';

export const tnsParameters = memoized((config: Config) => {
  return {
    name: TNS_NAME,
    radius_arcsec: {
      kind: kinds.radiusKind(config),
      description: "Radius of the search around the name's position, inclusive.",
      default: config.TNS_MATCH_RADIUS_ARCSEC,
    },
    detail: DETAIL,
    ...FORMAT_AND_FILTERS,
  } satisfies Parameters;
});

/** GET /api/tns/{name} */
export const resolveTns = answering(nameQuery);

function nameQuery({ params, search, path }: Exchange, { config, catalogs }: Service): Query {
  const segment = decodeSegment(params.name!);
  if (segment === undefined) throw notFound(path);
  const parameters = tnsParameters(config);
  const read = readerOf(search, parameters, catalogs);
  const shared = { detail: read('detail'), filters: read('filters'), response: read('response') };
  const name = parameterOf(parameters.name.kind, 'name', segment);
  const input = { kind: 'tns', sent: toJson(segment), ...name, radiusArcsec: read('radius_arcsec') } as const;
  return lookupQuery([input], shared, config);
}
