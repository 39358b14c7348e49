/** Filters, from a query string or a body (docs/contract.md, Query strings; Filters and counts). */
import type { FilterValues } from '../answers/queries.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { type Filter, GENERIC_FILTERS } from '../contract/filters.ts';
import { ANY_NUMBER } from '../documents/kinds.ts';
import { ApiError, invalidParameter, shorten } from './errors.ts';
import { parameterOf, type Search } from './params.ts';

const GENERIC_NAMES = new Set(GENERIC_FILTERS.map(({ name }) => name));

/** Whether a parameter must be meant as a filter, known or not. */
function isFilterShaped(name: string): boolean {
  return GENERIC_NAMES.has(name) || name.includes('.') || name.endsWith('_min') || name.endsWith('_max');
}

/**
 * Refuses parameters that must not be ignored by an operation without filters or counts. Otherwise the client would get
 * the answer to another question.
 * @param known the parameters of the operation
 * @throws ApiError `unsupported_parameter` naming each filter, if the operation has none, and `response`
 */
export function refuseUnsupported(search: Search, known: ReadonlySet<string>): void {
  const hasFilters = GENERIC_FILTERS.every(({ name }) => known.has(name));
  const isRefused = (name: string) => name === 'response' || (!hasFilters && isFilterShaped(name));
  const names = [...search.keys()].filter(name => !known.has(name) && isRefused(name));
  if (names.length === 0) return;
  const what = hasFilters ? 'no counts' : 'no filters and no counts';
  throw new ApiError(
    'unsupported_parameter',
    `Cannot answer with ${shorten(names.join(', '))} because the query string of this operation has ${what}: leave ${names.length === 1 ? 'it' : 'them'} out`,
    names.length === 1 ? { param: names[0]! } : { params: names },
  );
}

/**
 * The filters among the parameters; null if there are none.
 * @throws ApiError naming the first invalid or unknown filter, or the filters that name several catalogs
 */
export function parseFilters(search: Search, catalogs: Catalogs): FilterValues | null {
  const given: (readonly [name: string, text: string])[] = [];
  for (const pair of search) if (isFilterShaped(pair[0])) given.push(pair);
  if (given.length === 0) return null;
  return readFilters(given, catalogs, ({ name, kind }, text) =>
    kind === 'catalog' ? text : parameterOf(ANY_NUMBER, name, text),
  );
}

/**
 * @param read reads the value of a filter: a finite number, or a text for `catalog`
 * @throws ApiError; any error of `read`
 */
export function readFilters<T>(
  given: Iterable<readonly [name: string, value: T]>,
  catalogs: Catalogs,
  read: (filter: Filter, value: T) => number | string,
): FilterValues | null {
  const values: [string, number | string][] = [];
  for (const [name, value] of given) {
    const filter = catalogs.filters.get(name);
    if (!filter) throw unknownFilter(name);
    values.push([name, checkValue(filter, read(filter, value), catalogs)]);
  }
  checkCatalogs(values, catalogs);
  return values.length > 0 ? values : null;
}

function unknownFilter(name: string): ApiError {
  const message = `Cannot filter by ${shorten(name)} because there is no such filter: see /api/describe for those that there are`;
  return new ApiError('invalid_parameter', message, { param: name });
}

function checkValue({ name, kind }: Filter, value: number | string, catalogs: Catalogs): number | string {
  if (kind === 'catalog' && !catalogs.get(`${value}`)) {
    throw invalidParameter(name, `one of ${catalogs.all.map(catalog => catalog.name).join(', ')}`, value);
  }
  if (kind === 'separation' && (value as number) < 0) throw invalidParameter(name, 'at least 0', value);
  return value;
}

/** A match filter is met by a single source, and a source belongs to one catalog. */
function checkCatalogs(values: FilterValues, { filters }: Catalogs): void {
  const naming = values.flatMap(([name, value]) => {
    const catalog = name === 'catalog' ? `${value}` : filters.get(name)!.catalog;
    return catalog === undefined ? [] : [{ name, catalog }];
  });
  const byCatalog = Map.groupBy(naming, ({ catalog }) => catalog);
  if (byCatalog.size < 2) return;
  throw new ApiError(
    'filters_span_catalogs',
    `Cannot filter by several catalogs at once (${[...byCatalog.keys()].join(', ')}): give filters of one catalog`,
    { params: [...byCatalog.values()].flat().map(({ name }) => name) },
  );
}
