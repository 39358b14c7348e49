/** The parameters of every answer that lists objects as a lookup does. */
import type { CountQuery, FilterValues, LookupInput, LookupQuery } from '../answers/queries.ts';
import type { Config } from '../config/config.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import type { DetailLevel, ResponseMode } from '../contract/enums.ts';
import { parseFilters } from './filters.ts';
import { parseDetail, parseResponse, type Search } from './params.ts';

export interface SharedParameters {
  readonly detail: DetailLevel;
  readonly filters: FilterValues | null;
  readonly response: ResponseMode;
}

/** The parameters of a query string, in the order in which they are checked. */
export function parseShared(search: Search, catalogs: Catalogs): SharedParameters {
  const detail = parseDetail(search);
  const filters = parseFilters(search, catalogs);
  return { detail, filters, response: parseResponse(search) };
}

/** The query of inputs: their objects, within the limits of the settings, or counts. */
export function lookupQuery(
  inputs: readonly LookupInput[],
  { detail, filters, response }: SharedParameters,
  config: Config,
): LookupQuery | CountQuery {
  if (response === 'count') return { kind: 'count', inputs, filters };
  return {
    kind: 'lookup',
    inputs,
    detail,
    filters,
    maxObjectsPerInput: config.API_MAX_OBJECTS_PER_POSITION,
    maxObjects: config.API_MAX_OBJECTS_PER_REQUEST,
  };
}
