/**
 * Functions that make JSON Schemas (2020-12). Calls of them look like the data that the schemas describe. Every number
 * has its unit in `x-unit`.
 */
import type { Named } from '../../contract/enums.ts';
import type { ObjectField } from '../../contract/object_fields.ts';

export type Schema = { readonly [keyword: string]: unknown };
export type Schemas = Readonly<Record<string, Schema>>;

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * A component, restricted to some of its values. Client generators ignore a type or an enumeration next to `$ref`, with
 * a warning; `allOf` avoids this.
 */
export function narrowed(name: string, { type: _, ...schema }: Schema): Schema {
  return { allOf: [ref(name)], ...schema };
}

export function orNull(schema: Schema): Schema {
  if (typeof schema.type === 'string') {
    // The schema that includes null has other values, so it must not have the same title.
    const { type, enum: values, title: _, ...rest } = schema;
    return { type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }), ...rest };
  }
  return { anyOf: [schema, { type: 'null' }] };
}

export function text(description: string, keywords: Schema = {}): Schema {
  return { type: 'string', description, ...keywords };
}

/** @param unit the value of `x-unit` */
export function number(unit: string, description: string, keywords: Schema = {}): Schema {
  return { type: 'number', 'x-unit': unit, description, ...keywords };
}

/** @param unit the value of `x-unit` */
export function integer(unit: string, description: string, keywords: Schema = {}): Schema {
  return { type: 'integer', 'x-unit': unit, description, ...keywords };
}

/** A count of things. */
export function count(description: string, keywords: Schema = {}): Schema {
  return integer('count', description, { minimum: 0, ...keywords });
}

export function bytes(description: string): Schema {
  return integer('byte', description, { minimum: 0 });
}

export function seconds(description: string): Schema {
  return number('s', description, { exclusiveMinimum: 0 });
}

export const maxRadius = number('arcsec', 'The largest radius of a search, inclusive.', { exclusiveMinimum: 0 });

export function boolean(description: string, keywords: Schema = {}): Schema {
  return { type: 'boolean', description, ...keywords };
}

/** A single allowed string. */
export function constant(value: string, description: string): Schema {
  return { type: 'string', const: value, description };
}

/**
 * A single allowed value that is not a string. The schema has no type, because client generators turn a constant
 * boolean into text, and do not support the type null.
 */
export function always(value: boolean | null, description: string): Schema {
  return { const: value, description };
}

/** One of these names. The description explains each of them. */
export function oneOfNames(list: readonly Named[], description: string): Schema {
  const meanings = list.map(({ name, meaning }) => `\`${name}\`: ${meaning}`).join('. ');
  return { type: 'string', enum: list.map(({ name }) => name), description: `${description} ${meanings}.` };
}

const UTC_TIME = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{6})?\\+00:00$';

export function time(description: string): Schema {
  return text(description, { format: 'date-time', pattern: UTC_TIME });
}

export function list(items: Schema, description: string, keywords: Schema = {}): Schema {
  return { type: 'array', items, description, ...keywords };
}

/** The schema of an object's field. For enumerations and identifiers, it refers to their components. */
export function fieldSchema({ type, unit, quantity, range, description, isNullable }: ObjectField): Schema {
  const sentence = `${description}.`;
  const bounds = { ...(range && { minimum: range.min, ...(range.max !== undefined && { maximum: range.max }) }) };
  const schemas: Readonly<Record<ObjectField['type'], () => Schema>> = {
    int64: () => integer(quantity!, sentence, bounds),
    int32: () => integer(quantity!, sentence, bounds),
    float64: () => number((unit ?? quantity)!, sentence, bounds),
    boolean: () => boolean(sentence),
    text: () => text(sentence),
    time: () => time(sentence),
    names: () => list({ type: 'string' }, sentence),
  };
  return isNullable ? orNull(schemas[type]()) : schemas[type]();
}

export function fieldSchemas(fields: Readonly<Record<string, ObjectField>>): Schemas {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]));
}

/** An object with any keys, whose values all have this schema. */
export function map(values: Schema, description: string, keywords: Schema = {}): Schema {
  return { type: 'object', additionalProperties: values, description, ...keywords };
}

/** An object that may have keys that are not described. Properties are required unless `optional` lists them. */
export function open(description: string, properties: Schemas, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter(name => !optional.includes(name));
  return { type: 'object', description, properties, ...(required.length > 0 && { required }) };
}

/** Like `open`, but other keys are not allowed. */
export function closed(description: string, properties: Schemas, optional: readonly string[] = []): Schema {
  return { ...open(description, properties, optional), additionalProperties: false };
}

/** The same schema for each name. */
export function each(names: readonly string[], schema: (name: string) => Schema): Schemas {
  return Object.fromEntries(names.map(name => [name, schema(name)]));
}
