/** Writes the sections of the reference that come from the OpenAPI document. */

import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { DocumentedOperation, DocumentedParameter } from '../../core/documents/openapi/parameters.ts';
import { ref, type Schema } from '../../core/documents/openapi/schema.ts';
import { type Block, heading, list, paragraph, table } from './blocks.ts';
import type { ComponentName, OpenApiDocument } from './openapi_document.ts';
import { filterRules } from './prose.ts';

/** The method and the path of an operation: `GET /api/cone`. */
export function operationTitle(method: string, path: string): string {
  return `${method.toUpperCase()} ${path}`;
}

/** @param level 3 if the section is part of a group */
export function operationSection(
  level: 2 | 3,
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: DocumentedOperation,
  catalogs: Catalogs,
): Block[] {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const blocks = [
    heading(level, operationId),
    paragraph(`\`${operationTitle(method, path)}\``),
    paragraph(`${summary} ${description}`),
  ];
  if (parameters.length > 0) blocks.push(...parameterBlocks(parameters, catalogs));
  if (requestBody) blocks.push(...bodySection(requestBody, document));
  blocks.push(
    paragraph('Answers:'),
    list(Object.entries(responses).map(([status, response]) => `${status}: ${response.description}`)),
  );
  return blocks;
}

/** The parameters of an operation. Filters are only mentioned, because they have their own section. */
function parameterBlocks(parameters: readonly DocumentedParameter[], catalogs: Catalogs): Block[] {
  const isFilter = ({ name }: DocumentedParameter) => catalogs.filters.has(name);
  const filters = parameters.filter(isFilter).map(({ name }) => `\`${name}\``);
  return [
    table(
      ['Parameter', 'In', 'Value', 'Meaning'],
      parameters.filter(parameter => !isFilter(parameter)).map(parameterRow),
    ),
    ...(filters.length > 0 ? [paragraph(`[Filters](#filters): ${filters.join(', ')}.`)] : []),
  ];
}

/** The effect of each filter, and the rules for combining filters. */
export function filterSection({ filters }: Catalogs): Block[] {
  return [
    heading(2, 'Filters'),
    list(filterRules()),
    table(
      ['Filter', 'Unit', 'Meaning'],
      [...filters.values()].map(({ name, unit, description }) => [`\`${name}\``, unit ?? '', description]),
    ),
  ];
}

function parameterRow({ name, in: place, description, schema }: DocumentedParameter): string[] {
  return [`\`${name}\``, place, valueNotes(schema), description];
}

/** The body of a request: the fields of a lookup or a form, or the media types. */
function bodySection({ content }: Schema, { components: { schemas } }: OpenApiDocument): Block[] {
  const types = Object.keys(content as Schema);
  const [{ schema }] = Object.values(content as Record<string, { schema: Schema }>) as [{ schema: Schema }];
  const typed = types.map(type => `\`${type}\``).join(', ');
  if (schema.properties) return [paragraph(`The body is a form (${typed}):`), fieldTable(schema)];
  if (schema.$ref !== ref('LookupRequest').$ref) return [paragraph(`The body has one of the types ${typed}.`)];
  const parts: readonly (readonly [string, ComponentName])[] = [
    ['The body is one JSON object (`Content-Type: application/json`):', 'LookupRequest'],
    ['An input by identifier:', 'IdInput'],
    ['An input by position:', 'PositionInput'],
    ['An input by registry name:', 'TnsInput'],
  ];
  return parts.flatMap(([says, name]) => [paragraph(says), fieldTable(schemas[name])]);
}

function fieldTable({ properties, required = [] }: Schema): Block {
  const rows = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => [
    `\`${name}\``,
    (required as readonly string[]).includes(name) ? 'required' : 'optional',
    valueNotes(schema),
    `${schema.description ?? ''}`,
  ]);
  return table(['Field', 'Required', 'Value', 'Meaning'], rows);
}

/** The format of a value, in a few words. */
function valueNotes(schema: Schema): string {
  const { type, format, default: fallback } = schema;
  const unit = schema['x-unit'];
  const types = [type ?? 'string'].flat().filter(name => name !== 'null');
  const kind = schema.anyOf || schema.$ref ? referenceNames(schema) : types.join(' or ');
  const parts = [unit === undefined ? kind : `${kind}, ${unit}`];
  if (format !== undefined) parts.push(`${format}`);
  parts.push(...bounds(schema));
  if (fallback !== undefined) parts.push(`default ${fallback}`);
  return parts.filter(part => part !== '').join('; ');
}

function referenceNames(schema: Schema): string {
  const alternatives = (schema.anyOf ?? [schema]) as readonly Schema[];
  return alternatives
    .filter(({ $ref }) => $ref !== undefined)
    .map(({ $ref }) => `${$ref}`.split('/').at(-1))
    .join(' or ');
}

function bounds({ minimum, exclusiveMinimum, maximum, maxLength, const: constant }: Schema): string[] {
  return [
    constant === undefined ? '' : `\`${constant}\``,
    minimum === undefined ? '' : `>= ${minimum}`,
    exclusiveMinimum === undefined ? '' : `> ${exclusiveMinimum}`,
    maximum === undefined ? '' : `<= ${maximum}`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
  ];
}
