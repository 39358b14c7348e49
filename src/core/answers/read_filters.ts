/**
 * Reads the filters of a request, or of a watch that the operator has set up (docs/contract.md, Filters and counts).
 */
import { mustBe, shorten } from '../base/error_text.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import type { Filter } from '../contract/filters.ts';
import type { FilterValues } from './queries.ts';

/** A filter that cannot be used, or several that cannot be used together. */
export class FilterError extends Error {
  override name = 'FilterError';
  readonly names: readonly string[];
  /** Whether each filter is valid, but together they name several catalogs. */
  readonly isSpan: boolean;

  constructor(message: string, names: readonly string[], isSpan = false) {
    super(message);
    [this.names, this.isSpan] = [names, isSpan];
  }
}

/**
 * @param read reads the value of a filter: a finite number, or a string for `catalog`
 * @returns null if there are no filters
 * @throws FilterError; any error of `read`
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

function unknownFilter(name: string): FilterError {
  const message = `Cannot filter by ${shorten(name)} because there is no such filter: /api/describe lists all filters`;
  return new FilterError(message, [name]);
}

function checkValue({ name, kind }: Filter, value: number | string, catalogs: Catalogs): number | string {
  const invalid = (must: string) => new FilterError(mustBe(name, must, `${value}`), [name]);
  if (kind === 'catalog' && !catalogs.get(`${value}`))
    throw invalid(`one of ${catalogs.all.map(catalog => catalog.name).join(', ')}`);
  if (kind === 'separation' && (value as number) < 0) throw invalid('at least 0');
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
  throw new FilterError(
    `Cannot filter by several catalogs at once (${[...byCatalog.keys()].join(', ')}): give filters of one catalog only`,
    [...new Set([...byCatalog.values()].flat().map(({ name }) => name))],
    true,
  );
}
