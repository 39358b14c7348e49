/** GET /api/objects */
import { OBJECTS_CURSOR } from '../../core/answers/cursor.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { AT, FORMAT_AND_FILTERS, type Parameters, selectionParameters } from '../../core/documents/parameters.ts';
import { answering } from '../../core/http/answer_query.ts';
import { readCursor, requestedState, withoutCursor } from '../../core/http/cursor.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { OBJECTS_QUERY, type ObjectsQuery } from './listing_answer.ts';
import { parseSelection, walked } from './selection_params.ts';

export const objectsParameters = memoized((config: Config) => {
  return {
    ...selectionParameters(config, '`time_field`, `status`'),
    ...FORMAT_AND_FILTERS,
    at: AT,
  } satisfies Parameters;
});

export const listObjects = answering(parse);

/** The order of the checks is the contract's (docs/contract.md, Objects by time). */
function parse({ search }: Exchange, service: Service): ObjectsQuery {
  const { config, catalogs } = service;
  const parameters = objectsParameters(config);
  const selection = parseSelection(search, parameters, catalogs);
  const read = readerOf(search, parameters, catalogs);
  const response = read('response');
  const at = read('at');
  const token = search.get('cursor');
  if (token !== undefined && response === 'count') throw withoutCursor(response);
  const cursor = token === undefined ? undefined : readCursor(OBJECTS_CURSOR, token);
  const pinned = cursor && walked(search, selection, cursor);
  const asOfUs = response === 'count' ? Number.POSITIVE_INFINITY : (cursor?.asOfUs ?? service.asOfUs);
  const state = requestedState(at, cursor?.at);
  return { kind: OBJECTS_QUERY, response, ...selection, ...pinned, asOfUs, after: cursor ?? null, state };
}
