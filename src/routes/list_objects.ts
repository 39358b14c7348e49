/** GET /api/objects */
import { OBJECTS_CURSOR } from '../answers/cursor.ts';
import type { ObjectsQuery } from '../answers/queries.ts';
import { objectsParameters } from '../documents/parameters.ts';
import { answering } from '../http/answer_query.ts';
import { readCursor, requestedState, withoutCursor } from '../http/cursor.ts';
import type { Exchange } from '../http/exchange.ts';
import { readerOf } from '../http/read_parameters.ts';
import { parseSelection, walked } from '../http/selection_params.ts';
import type { Service } from '../service/service.ts';

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
  // A cursor without a status comes from a release that listed only objects with matches.
  const pinned = cursor && walked(search, selection, { ...cursor, status: cursor.status ?? 'coincident_sources' });
  const asOfUs = response === 'count' ? Number.POSITIVE_INFINITY : (cursor?.asOfUs ?? service.asOfUs);
  const state = requestedState(at, cursor?.at);
  return { kind: 'objects', response, ...selection, ...pinned, asOfUs, after: cursor ?? null, state };
}
