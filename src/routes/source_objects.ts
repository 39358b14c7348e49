/** GET /api/sources/{catalog}/{catalog_source_id} */
import type { Body } from '../answers/body.ts';
import type { SourceQuery } from '../answers/queries.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { DEFAULT_SOURCES_LIMIT, SOURCES_LIMIT_RANGE } from '../contract/limits.ts';
import { isTextId, TEXT_ID } from '../contract/source_ids.ts';
import { invalidParameter, notFound } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { checkName, decodeSegment, decodeWhole, optionalInteger } from '../http/params.ts';
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
  const catalogName = checkName('catalog', catalogs.all, catalog);
  const { idType } = catalogs.get(catalogName)!;
  const id = idType === 'text' ? decodeWhole(params.catalog_source_id!) : decodeSegment(params.catalog_source_id!);
  if (id === undefined) throw notFound(path);
  const catalogSourceId = idType === 'text' ? textIdOf(id) : integerIdOf(id);
  const limit = optionalInteger(search, 'limit', SOURCES_LIMIT_RANGE) ?? DEFAULT_SOURCES_LIMIT;
  return { kind: 'source', catalogName, catalogSourceId, limit };
}

const INTEGER = /^-?\d{1,19}$/;

function textIdOf(text: string): string {
  if (!isTextId(text)) throw invalidParameter('catalog_source_id', TEXT_ID, text);
  return text;
}

function integerIdOf(text: string): string {
  const id = INTEGER.test(text) ? BigInt(text) : undefined;
  if (id === undefined || BigInt.asIntN(64, id) !== id)
    throw invalidParameter('catalog_source_id', 'a 64-bit integer in decimal digits', text);
  return `${id}`;
}
