/** Filters, from a query string or a body (docs/contract.md, Query strings; Filters and counts). */
import type { FilterValues } from '../answers/queries.ts';
import { readFilters } from '../answers/read_filters.ts';
import { shorten } from '../base/error_text.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { GENERIC_FILTERS } from '../contract/filters.ts';
import { ANY_NUMBER } from '../documents/kinds.ts';
import { ApiError } from './errors.ts';
import { parameterOf, type Search } from './params.ts';

const GENERIC_NAMES = new Set(GENERIC_FILTERS.map(({ name }) => name));

/** Whether the name of a parameter has the form of a filter, even of an unknown one. */
function isFilterShaped(name: string): boolean {
  return GENERIC_NAMES.has(name) || name.includes('.') || name.endsWith('_min') || name.endsWith('_max');
}

/**
 * Rejects filters, `response` and `at` if the operation does not have them. Ignoring them would answer another
 * question.
 * @param known the parameters of the operation
 * @throws ApiError `unsupported_parameter` naming each filter, if the operation has none, `response` and `at`
 */
export function refuseUnsupported(search: Search, known: ReadonlySet<string>): void {
  const unknown = [...search.keys()].filter(name => !known.has(name));
  if (unknown.length === 0) return;
  const hasFilters = GENERIC_FILTERS.every(({ name }) => known.has(name));
  const isRefused = (name: string) => name === 'response' || name === 'at' || (!hasFilters && isFilterShaped(name));
  const names = unknown.filter(isRefused);
  if (names.length === 0) return;
  const what = [
    ...(hasFilters ? [] : ['no filters']),
    'no counts',
    ...(names.includes('at') ? ['no earlier states'] : []),
  ].join(' and ');
  throw new ApiError(
    'unsupported_parameter',
    `Cannot answer with ${shorten(names.join(', '))} because the query string of this operation has ${what}: leave ${names.length === 1 ? 'it' : 'them'} out`,
    names.length === 1 ? { param: names[0]! } : { params: names },
  );
}

/**
 * The filters among the parameters; null if there are none.
 * @throws ApiError, FilterError naming the first invalid or unknown filter, or filters that name different catalogs
 */
export function parseFilters(search: Search, catalogs: Catalogs): FilterValues | null {
  const given: (readonly [name: string, text: string])[] = [];
  // The last of a repeated name counts, but two catalogs are a conflict like two filters of different catalogs.
  for (const pair of search.replaced ?? []) if (pair[0] === 'catalog') given.push(pair);
  for (const pair of search) if (isFilterShaped(pair[0])) given.push(pair);
  if (given.length === 0) return null;
  return readFilters(given, catalogs, ({ name, kind }, text) =>
    kind === 'catalog' ? text : parameterOf(ANY_NUMBER, name, text),
  );
}
