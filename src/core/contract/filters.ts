/** The filters of the API (docs/contract.md, Filters and counts), in documented order. */
import type { CatalogDefinition } from './catalog.ts';
import { type ObjectField, WORTH_FIELDS, type Worth } from './object_fields.ts';

export interface Filter {
  readonly name: string;
  readonly kind: 'catalog' | 'separation' | 'reliability' | 'worth' | 'property';
  /** Whether the filter sets a minimum or a maximum, both inclusive; null for `catalog`. */
  readonly bound: 'min' | 'max' | null;
  readonly unit: string | null;
  /** Whether the filter is about a source; otherwise it is about the object. */
  readonly isMatchFilter: boolean;
  readonly description: string;
  /** The statistic of the match, for `worth`. */
  readonly worth?: keyof Worth;
  /** The catalog of a property. */
  readonly catalog?: string;
  /** The lowercased name of a property: the payload's key, unless the property is derived. */
  readonly field?: string;
  /** The column of a property, in the catalog's own case; null if derived. */
  readonly column?: string | null;
  /** The payload keys of the numerator and the denominator of a derived property. */
  readonly derivedFrom?: { readonly numerator: string; readonly denominator: string };
}

/** A property of a catalog that match filters can limit, by a minimum and a maximum. */
export interface FilterableField {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly column: string | null;
  readonly derivedFrom?: { readonly numerator: string; readonly denominator: string };
}

/** The statistics of a match that filters limit, each by one bound. */
const WORTH_FILTERS: readonly Filter[] = Object.entries<ObjectField>(WORTH_FIELDS).flatMap(([name, field]) => {
  const { filterBound: bound, quantity, description } = field;
  if (!bound) return [];
  return {
    name: `${name}_${bound}`,
    kind: 'worth',
    bound,
    unit: quantity!,
    isMatchFilter: true,
    description: `${atBound(bound)} ${description}. A source whose value is not known never meets it.`,
    worth: name as keyof Worth,
  };
});

/** The filters that concern no catalog property: those of the specification, then ours. */
export const GENERIC_FILTERS: readonly Filter[] = [
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
      "The object's stored LSST reliability is at least this (inclusive); an object without a reliability never meets it.",
  },
  {
    name: 'reliability_max',
    kind: 'reliability',
    bound: 'max',
    unit: 'probability',
    isMatchFilter: false,
    description:
      "The object's stored LSST reliability is at most this (inclusive); an object without a reliability never meets it.",
  },
  ...WORTH_FILTERS,
];

const BOUNDS = ['min', 'max'] as const;

/** The catalog's properties that match filters can limit, in documented order. */
export function filterableFields({ columns, filterable }: CatalogDefinition): FilterableField[] {
  return filterable.map(({ name, unit, description, quotientOf }) => {
    const known = columns.find(column => column.name === name)?.description ?? '';
    const field = { name: name.toLowerCase(), unit, description: description ?? known };
    return quotientOf ? { ...field, column: null, derivedFrom: quotientOf } : { ...field, column: name };
  });
}

/** The names of a field's two filters: `_min`, then `_max`. */
export function fieldFilterNames(catalog: string, field: FilterableField): string[] {
  return BOUNDS.map(bound => `${catalog}.${field.name}_${bound}`);
}

function fieldFilters(catalog: string, field: FilterableField): Filter[] {
  const names = fieldFilterNames(catalog, field);
  return BOUNDS.map((bound, i) => ({
    name: names[i]!,
    kind: 'property',
    bound,
    unit: field.unit,
    isMatchFilter: true,
    description: `${atBound(bound)} ${field.description}.`,
    catalog,
    field: field.name,
    column: field.column,
    ...(field.derivedFrom && { derivedFrom: field.derivedFrom }),
  }));
}

/** All filters, in documented order. */
export function filtersOf(catalogs: readonly CatalogDefinition[]): Filter[] {
  return [
    ...GENERIC_FILTERS,
    ...catalogs.flatMap(catalog => filterableFields(catalog).flatMap(field => fieldFilters(catalog.name, field))),
  ];
}

function atBound(bound: 'min' | 'max'): string {
  return `At ${bound === 'min' ? 'least' : 'most'} this (inclusive).`;
}
