/** The filters of the API (docs/contract.md, Filters and counts), in documented order, listed here only. */
import type { CatalogName } from './catalogs.ts';

export interface Filter {
  readonly name: string;
  readonly kind: 'catalog' | 'separation' | 'reliability' | 'property';
  /** The side of the value that the filter limits, inclusive; null for `catalog`. */
  readonly bound: 'min' | 'max' | null;
  readonly unit: string | null;
  /** Whether a source must meet the filter (else the object itself). */
  readonly isMatchFilter: boolean;
  readonly description: string;
  /** The catalog of a property. */
  readonly catalog?: CatalogName;
  /** The lowercased name of a property, which is the payload's key unless the property is derived. */
  readonly field?: string;
  /** The column of a property, in the catalog's own case; null if derived. */
  readonly column?: string | null;
  /** The payload keys whose quotient a derived property is. */
  readonly derivedFrom?: { readonly numerator: string; readonly denominator: string };
}

/** A catalog property that can be filtered by a minimum and a maximum. */
export interface FilterableField {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly column: string | null;
  readonly derivedFrom?: { readonly numerator: string; readonly denominator: string };
}

const GENERIC: readonly Filter[] = [
  {
    name: 'catalog',
    kind: 'catalog',
    bound: null,
    unit: null,
    isMatchFilter: true,
    description: 'Only sources from this catalog count.',
  },
  {
    name: 'separation_arcsec_max',
    kind: 'separation',
    bound: 'max',
    unit: 'arcsec',
    isMatchFilter: true,
    description: 'Only sources at most this far from the object count (inclusive).',
  },
  {
    name: 'reliability_min',
    kind: 'reliability',
    bound: 'min',
    unit: 'probability',
    isMatchFilter: false,
    description:
      "The object's stored LSST reliability is at least this (inclusive); an object with none never meets it.",
  },
  {
    name: 'reliability_max',
    kind: 'reliability',
    bound: 'max',
    unit: 'probability',
    isMatchFilter: false,
    description:
      "The object's stored LSST reliability is at most this (inclusive); an object with none never meets it.",
  },
];

const plain = (column: string, unit: string, description: string): FilterableField => ({
  name: column.toLowerCase(),
  unit,
  description,
  column,
});

const GAIA_FIELDS: readonly FilterableField[] = [
  plain('parallax', 'mas', 'Parallax'),
  plain('parallax_error', 'mas', 'Standard error of the parallax'),
  plain('pmra', 'mas/yr', 'Proper motion in right ascension, times cos(declination)'),
  plain('pmdec', 'mas/yr', 'Proper motion in declination'),
  plain('ruwe', 'dimensionless', 'Renormalised unit weight error'),
  plain('classprob_dsc_combmod_star', 'probability', 'Probability of being a single star'),
  plain('classprob_dsc_combmod_galaxy', 'probability', 'Probability of being a galaxy'),
  plain('classprob_dsc_combmod_quasar', 'probability', 'Probability of being a quasar'),
  {
    name: 'parallax_over_error',
    unit: 'dimensionless',
    description:
      'Parallax divided by its standard error, signed, computed from the stored values; ' +
      'never met when either is missing or the error is 0',
    column: null,
    derivedFrom: { numerator: 'parallax', denominator: 'parallax_error' },
  },
];

const GOLD_FIELDS: readonly FilterableField[] = [
  plain('DNF_Z', 'dimensionless', 'DNF photometric redshift'),
  plain('DNF_ZSIGMA', 'dimensionless', 'Uncertainty of the DNF photometric redshift'),
  plain('EXT_MASH', 'class code (0-4)', 'Star-galaxy class, from 0 (star) to 4 (galaxy)'),
];

const BOUNDS = ['min', 'max'] as const;

/** In configured order; derived fields follow plain ones. */
export const FILTERABLE_FIELDS: Readonly<Record<CatalogName, readonly FilterableField[]>> = {
  gaia_dr3: GAIA_FIELDS,
  des_y6_gold: GOLD_FIELDS,
  delve_dr3_gold: GOLD_FIELDS,
  skymapper_dr4: [],
};

/** The names of a field's two filters: `_min`, then `_max`. */
export function fieldFilterNames(catalog: CatalogName, field: FilterableField): string[] {
  return BOUNDS.map(bound => `${catalog}.${field.name}_${bound}`);
}

function fieldFilters(catalog: CatalogName, field: FilterableField): Filter[] {
  const names = fieldFilterNames(catalog, field);
  return BOUNDS.map((bound, i) => ({
    name: names[i]!,
    kind: 'property',
    bound,
    unit: field.unit,
    isMatchFilter: true,
    description: `At ${bound === 'min' ? 'least' : 'most'} this (inclusive). ${field.description}.`,
    catalog,
    field: field.name,
    column: field.column,
    ...(field.derivedFrom && { derivedFrom: field.derivedFrom }),
  }));
}

/** All 34, in documented order. */
export const FILTERS: readonly Filter[] = [
  ...GENERIC,
  ...(Object.entries(FILTERABLE_FIELDS) as [CatalogName, readonly FilterableField[]][]).flatMap(([catalog, fields]) =>
    fields.flatMap(field => fieldFilters(catalog, field)),
  ),
];

/** The filters that name no catalog property. */
export const GENERIC_FILTERS: readonly Filter[] = GENERIC;
