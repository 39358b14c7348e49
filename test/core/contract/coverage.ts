/** Which parts of the OpenAPI document answers have shown: properties, enumerated values, nulls, both booleans, alternatives. */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import type { Schema } from '../../../src/core/documents/openapi/schema.ts';

type Document = ReturnType<typeof openApiDocument>;

let seen: Set<string> | undefined;

/** Begins to record what answers show, in the set. */
export function startNoting(): ReadonlySet<string> {
  seen = new Set();
  return seen;
}

export const isNoting = () => seen !== undefined;

/**
 * The schemas that apply to a value of this schema, each with its pointer; of the `alternatives`, any one may apply.
 */
function partsOf(
  schema: Schema,
  pointer: string,
): { whole: [Schema | null, string][]; alternatives: [Schema, string][] } {
  const listed = (keyword: string) =>
    ((schema[keyword] ?? []) as Schema[]).map((part, i): [Schema, string] => [part, `${pointer}/${keyword}/${i}`]);
  const reference = schema.$ref === undefined ? [] : [[null, `${schema.$ref}`.slice(1)] as [null, string]];
  return { whole: [...reference, ...listed('allOf')], alternatives: [...listed('anyOf'), ...listed('oneOf')] };
}

/** The schemas of a value's members. */
function membersOf(schema: Schema, pointer: string): { key: string | null; schema: Schema; pointer: string }[] {
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([key, member]) => ({
    key,
    schema: member,
    pointer: `${pointer}/properties/${key}`,
  }));
  const rest = ['items', 'additionalProperties'].flatMap(keyword => {
    const member = schema[keyword];
    return typeof member === 'object' && member !== null && schema.maxItems !== 0
      ? [{ key: null, schema: member as Schema, pointer: `${pointer}/${keyword}` }]
      : [];
  });
  return [...members, ...rest];
}

/** Whether a schema that is `not` one constant excludes the value. */
const isExcluded = ({ not }: Schema, value: boolean) => (not as Schema | undefined)?.const === value;

export class Coverage {
  readonly #document: Document;
  readonly #compile: (pointer: string) => ValidateFunction;
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param compile makes the validator of the schema at a pointer */
  constructor(document: Document, compile: (pointer: string) => ValidateFunction) {
    this.#document = document;
    this.#compile = compile;
  }

  /** Records the parts of the schema at the pointer that a valid body shows. */
  see(pointer: string, body: unknown): void {
    if (seen) this.#see(seen, schemaAt(this.#document, pointer), pointer, body);
  }

  #see(seen: Set<string>, schema: Schema, pointer: string, value: unknown): void {
    if (value === null && [schema.type].flat().length > 1) {
      seen.add(`${pointer}=null`);
      return;
    }
    seen.add(pointer);
    if (typeof value !== 'object') seen.add(`${pointer}=${value}`);
    const { whole, alternatives } = partsOf(schema, pointer);
    for (const [part, at] of whole) this.#see(seen, part ?? schemaAt(this.#document, at), at, value);
    for (const [part, at] of alternatives) if (this.#isValid(at, value)) this.#see(seen, part, at, value);
    if (typeof value !== 'object' || value === null) return;
    const entries = Object.entries(value);
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    for (const member of membersOf(schema, pointer)) {
      const mine = entries.filter(([key]) => (member.key === null ? !(key in properties) : key === member.key));
      for (const [, inner] of mine) this.#see(seen, member.schema, member.pointer, inner);
    }
  }

  #isValid(pointer: string, value: unknown): boolean {
    let validate = this.#validators.get(pointer);
    if (!validate) this.#validators.set(pointer, (validate = this.#compile(pointer)));
    return validate(value) as boolean;
  }
}

/** The schema at a pointer into the document. */
export function schemaAt(document: Document, pointer: string): Schema {
  const keys = pointer
    .slice(1)
    .split('/')
    .map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce((value, key) => value?.[key] as Schema, document as unknown as Schema);
}

/** Everything that answers can show according to the document. */
export function documentedBy(document: Document): Set<string> {
  const all = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const [status, { content, $ref }] of Object.entries(responses)) {
        const body = typeof $ref === 'string' && bodyPointer($ref);
        if (body && schemaAt(document, body)) list(document, body, all);
        if ((content as Schema | undefined)?.['application/json'])
          list(document, responsePointer(path, method, status), all);
      }
    }
  }
  return all;
}

function list(document: Document, pointer: string, all: Set<string>, schema = schemaAt(document, pointer)): void {
  if (all.has(pointer)) return;
  all.add(pointer);
  const types = [schema.type ?? []].flat();
  if (types.includes('null') && types.length > 1) all.add(`${pointer}=null`);
  if (types.includes('boolean'))
    for (const value of [true, false]) if (!isExcluded(schema, value)) all.add(`${pointer}=${value}`);
  for (const value of (schema.enum ?? []) as unknown[]) all.add(`${pointer}=${value}`);
  const { whole, alternatives } = partsOf(schema, pointer);
  for (const [part, at] of [...whole, ...alternatives]) list(document, at, all, part ?? schemaAt(document, at));
  for (const member of membersOf(schema, pointer)) list(document, member.pointer, all, member.schema);
}

/** Finds the schema of the JSON of a response, for one that is a reference. */
export function bodyPointer(reference: string): string {
  return `${reference.slice(1)}/content/application~1json/schema`;
}

/** Finds the schema of an answer. */
export function responsePointer(path: string, method: string, status: number | string): string {
  const escaped = encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
  return bodyPointer(`#/paths/${escaped}/${method}/responses/${status}`);
}
