/** GET /api/sources/{catalog}/{catalog_source_id} */
import type { Body } from '../answers/body.ts';
import type { SourceQuery } from '../answers/queries.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { named, textual } from '../contract/kind.ts';
import { DEFAULT_SOURCES_LIMIT, SOURCES_LIMIT_RANGE } from '../contract/limits.ts';
import { isTextId, TEXT_ID } from '../contract/source_ids.ts';
import { notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { decodeSegment, decodeWhole, digits, optional, parameterOf } from '../http/params.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function sourceObjects(service: Service): Handler {
  const answer = (body: Body) => jsonResponse(200, body);
  return exchange => {
    const body = service.queries.run(parse(exchange, service.catalogs), exchange.budget);
    return body instanceof Promise ? body.then(answer) : answer(body);
  };
}

function parse({ params, path, search }: Exchange, catalogs: Catalogs): SourceQuery {
  const catalog = decodeSegment(params.catalog!);
  if (catalog === undefined) throw notFound(path);
  const catalogName = parameterOf(named(catalogs.all), 'catalog', catalog);
  const { idType } = catalogs.get(catalogName)!;
  const id = idType === 'text' ? decodeWhole(params.catalog_source_id!) : decodeSegment(params.catalog_source_id!);
  if (id === undefined) throw notFound(path);
  const catalogSourceId = parameterOf(idType === 'text' ? TEXT : INT64, 'catalog_source_id', id);
  const limit = optional(search, 'limit', LIMIT) ?? DEFAULT_SOURCES_LIMIT;
  return { kind: 'source', catalogName, catalogSourceId, limit };
}

const LIMIT = digits(SOURCES_LIMIT_RANGE);
const TEXT = textual(TEXT_ID, text => (isTextId(text) ? text : undefined));
const INT64 = textual('a 64-bit integer in decimal digits', text => {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && BigInt.asIntN(64, id) === id ? `${id}` : undefined;
});
