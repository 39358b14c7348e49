/** Describes parameters and kinds of values in the document. */
import type { Catalogs } from '../../contract/catalogs.ts';
import type { Filter } from '../../contract/filters.ts';
import type { Kind } from '../../contract/kind.ts';
import { catalogNames, type Parameter, type Parameters } from '../parameters.ts';
import { number, oneOfNames, ref, type Schema } from './schema.ts';

export type DocumentedParameter = ReturnType<typeof inDocument>;

/** The part of the document about one operation, except the operation's name. */
export interface OperationObject {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: Schema;
  readonly responses: Readonly<Record<string, Schema>>;
  /** Set if the operation answers in any state of the service, so that it documents no 5xx. */
  readonly neverFails?: true;
}

export interface DocumentedOperation extends OperationObject {
  readonly operationId: string;
}

export type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

/** The parameters, in the order of their table. */
export function documentedParameters(parameters: Parameters, catalogs: Catalogs): DocumentedParameter[] {
  return Object.entries(parameters).flatMap(([name, parameter]) =>
    'areFilters' in parameter
      ? [...catalogs.filters.values()].map(filter => inDocument(filter.name, filterSchema(filter, catalogs)))
      : inDocument(name, schemaOf(parameter), parameter),
  );
}

function inDocument(name: string, schema: Schema, parameter?: Parameter) {
  const { place = 'query', required, component, default: fallback } = parameter ?? {};
  const usual = parameter?.usual ?? fallback;
  const { description, ...bare } = schema;
  // The description of an enumeration explains the values.
  const shown = component ? ref(component) : schema.enum ? schema : bare;
  return {
    name,
    in: place,
    required: place === 'path' || required === 'always',
    description: `${description}`,
    schema: usual === undefined ? shown : { ...shown, default: usual },
  };
}

/** The schema of a parameter's values. Bodies and answers use it, too. */
export function schemaOf({ kind, title, description }: Parameter): Schema {
  return { ...(title !== undefined && { title }), ...kindSchema(kind, description) };
}

export function kindSchema({ schema, values, unit }: Kind<unknown>, description: string): Schema {
  if (values) return oneOfNames(values, description);
  const { type, ...keywords } = schema;
  return { type, ...(unit !== undefined && { 'x-unit': unit }), description, ...keywords };
}

export function filterSchema({ kind, unit, description }: Filter, catalogs: Catalogs): Schema {
  if (kind === 'catalog') return oneOfNames(catalogNames(catalogs), description);
  return number(unit!, description, kind === 'separation' ? { minimum: 0 } : {});
}
