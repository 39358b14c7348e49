/** Whether an object meets filters, from the words of the contract (docs/contract.md, Filters and counts), one source and one filter at a time. */

export interface TrueMatch {
  readonly version: number;
  readonly catalog: string;
  readonly sourceId: string;
  readonly separation: number;
  readonly payload: Readonly<Record<string, unknown>> | null;
}

export interface TrueObject {
  readonly id: bigint;
  readonly reliability: number | null;
  readonly pending: boolean;
  /** Whether there is a crossmatch record, and whether it says that a catalog was searched. */
  readonly record: 'none' | 'searched' | 'not searched';
  readonly matches: readonly TrueMatch[];
}

export type TrueFilters = Readonly<Record<string, number | string>>;

export function trueStatus({ pending, record, matches }: TrueObject): string {
  if (pending) return 'crossmatch_pending';
  if (current({ record, matches }).length > 0) return 'coincident_sources';
  return record === 'not searched' ? 'not_searched' : 'no_coincident_source';
}

export function trueReason(object: TrueObject, filters: TrueFilters): string {
  const { reliability } = object;
  const { reliability_min = -Infinity, reliability_max = Infinity, ...others } = filters;
  const bounded = 'reliability_min' in filters || 'reliability_max' in filters;
  if (bounded && (reliability === null || reliability < +reliability_min || reliability > +reliability_max)) {
    return 'object_filters_not_met';
  }
  const status = trueStatus(object);
  if (Object.keys(others).length === 0) return 'meets_filters';
  if (status === 'coincident_sources') {
    return current(object).some(match => sourceMeets(match, others)) ? 'meets_filters' : 'no_source_meets_filters';
  }
  return status;
}

/** The nearest source of each catalog in the newest crossmatch. A record has version 2; see `store` of random_objects.ts. */
function current({ record, matches }: Pick<TrueObject, 'record' | 'matches'>): TrueMatch[] {
  const newest = record === 'none' ? Math.max(...matches.map(({ version }) => version)) : 2;
  const found = matches.filter(({ version }) => version === newest);
  return found.filter(
    match =>
      !found.some(
        other =>
          other.catalog === match.catalog &&
          (other.separation < match.separation ||
            (other.separation === match.separation && other.sourceId < match.sourceId)),
      ),
  );
}

function sourceMeets(match: TrueMatch, filters: TrueFilters): boolean {
  for (const [name, value] of Object.entries(filters)) {
    if (name === 'catalog') {
      if (match.catalog !== value) return false;
    } else if (name === 'separation_arcsec_max') {
      if (match.separation > +value) return false;
    } else {
      const [catalog, bounded] = name.split('.') as [string, string];
      if (match.catalog !== catalog) return false;
      const stored = property(match.payload ?? {}, bounded.slice(0, -4));
      if (stored === undefined) return false;
      if (bounded.endsWith('_min') ? stored < +value : stored > +value) return false;
    }
  }
  return true;
}

function property(payload: Readonly<Record<string, unknown>>, field: string): number | undefined {
  const plain = (key: string) => {
    const value = payload[key];
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' && !Number.isNaN(value) ? value : undefined;
  };
  if (field !== 'parallax_over_error') return plain(field);
  const [parallax, error] = [plain('parallax'), plain('parallax_error')];
  return parallax === undefined || error === undefined || error === 0 ? undefined : parallax / error;
}

/** The catalogs that filters name, each with the names of its filters, in the order of the request. */
export function catalogsNamed(filters: TrueFilters): Map<string, string[]> {
  const named = new Map<string, string[]>();
  for (const [name, value] of Object.entries(filters)) {
    const catalog = name === 'catalog' ? `${value}` : name.includes('.') ? name.split('.')[0]! : undefined;
    if (catalog !== undefined) named.set(catalog, [...(named.get(catalog) ?? []), name]);
  }
  return named;
}
