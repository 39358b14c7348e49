/** The parameters of a query string, read by the table of their operation (docs/contract.md, Query strings). */
import type { FilterValues } from '../answers/queries.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import type { Kind } from '../contract/kind.ts';
import type { FILTERS, Parameter } from '../documents/parameters.ts';
import { missingParameter } from './errors.ts';
import { parseFilters } from './filters.ts';
import { parameterOf, type Search } from './params.ts';

/** The value of a parameter; undefined only if the parameter is optional and has no default. */
type ValueOf<P> = P extends typeof FILTERS
  ? FilterValues | null
  : P extends { readonly kind: Kind<infer T> }
    ? P extends { readonly default: unknown } | { readonly required: unknown }
      ? T
      : T | undefined
    : never;

/** The state needed to read a parameter. */
type Readable = Pick<Parameter, 'kind' | 'default' | 'required' | 'give'> | typeof FILTERS;

/**
 * Makes a function that reads one parameter by name; The name `filters` reads all filters. Parameters are checked in
 * the order in which an operation reads them.
 * The function throws an ApiError for an invalid or missing value.
 */
export function readerOf<P extends Readonly<Record<string, Readable>>>(
  search: Search,
  parameters: P,
  catalogs: Catalogs,
) {
  return <N extends keyof P & string>(name: N): ValueOf<P[N]> => {
    const parameter = parameters[name]!;
    if ('areFilters' in parameter) return parseFilters(search, catalogs) as ValueOf<P[N]>;
    const text = search.get(name);
    if (text !== undefined) return parameterOf(parameter.kind, name, text) as ValueOf<P[N]>;
    if (parameter.required) throw missingParameter(name, parameter.give ?? `${name}=NUMBER`);
    return parameter.default as ValueOf<P[N]>;
  };
}
