/** GET /api/sources/{catalog}/{catalog_source_id} */
import type { Body } from '../answers/body.ts';
import type { SourceQuery } from '../answers/queries.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { SOURCE_ID } from '../documents/kinds.ts';
import { sourceParameters } from '../documents/parameters.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { decodeSegment, decodeWhole, parameterOf } from '../http/params.ts';
import { readerOf } from '../http/read_parameters.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function sourceObjects(service: Service): Handler {
  const answer = (body: Body) => jsonResponse(200, body);
  return exchange => {
    const body = service.queries.run(parse(exchange, service.catalogs), exchange);
    return body instanceof Promise ? body.then(answer) : answer(body);
  };
}

function parse({ params, path, search }: Exchange, catalogs: Catalogs): SourceQuery {
  const catalog = decodeSegment(params.catalog!);
  if (catalog === undefined) throw notFound(path);
  const parameters = sourceParameters(catalogs);
  const catalogName = parameterOf(parameters.catalog.kind, 'catalog', catalog);
  const { idType } = catalogs.get(catalogName)!;
  const id = idType === 'text' ? decodeWhole(params.catalog_source_id!) : decodeSegment(params.catalog_source_id!);
  if (id === undefined) throw notFound(path);
  const catalogSourceId = parameterOf(SOURCE_ID[idType ?? 'int64'], 'catalog_source_id', id);
  const limit = readerOf(search, parameters, catalogs)('limit');
  return { kind: 'source', catalogName, catalogSourceId, limit };
}
