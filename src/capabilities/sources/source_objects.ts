/** GET /api/sources/{catalog}/{catalog_source_id} */

import type { Catalogs } from '../../core/contract/catalogs.ts';
import { SOURCE_ID } from '../../core/documents/kinds.ts';
import { formatAsked } from '../../core/http/answer_query.ts';
import { notFound } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { decodeSegment, decodeWhole, parameterOf } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { answerList } from '../tables/answer_list.ts';
import { sourceObjectTable } from '../tables/source_table.ts';
import { sourceParameters } from './parameters.ts';
import { SOURCE_QUERY, type SourceQuery } from './source_answer.ts';

export function sourceObjects(service: Service): Handler {
  return async exchange => {
    const query = parse(exchange, service.catalogs);
    formatAsked(exchange);
    const { body } = await service.queries.run(query, exchange);
    return await answerList(exchange, service.config, body, 'objects', sourceObjectTable);
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
  return { kind: SOURCE_QUERY, catalogName, catalogSourceId, limit };
}
