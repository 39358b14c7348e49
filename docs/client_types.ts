/**
 * Writes the types of the TypeScript client that follow from the contract: enumerations, formats and the parts of answers.
 *
 *   node docs/client_types.ts
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { type ComponentName, openApiDocument } from '../src/capabilities/documents/openapi_document.ts';
import { CAPABILITIES, SETTINGS } from '../src/capabilities.ts';
import { programFile } from '../src/core/base/program_files.ts';
import { loadConfig } from '../src/core/config/config.ts';
import {
  CATALOG_OUTCOMES,
  DETAIL_LEVELS,
  INPUT_STATUSES,
  LISTED_STATUSES,
  namesOf,
  OBJECT_STATUSES,
  QUALIFIES_REASONS,
  TIME_FIELDS,
} from '../src/core/contract/enums.ts';
import { MATCH_FORMATS, TABLE_FORMATS } from '../src/core/contract/formats.ts';
import { AREA_PATH } from '../src/core/contract/limits.ts';
import { FINDS, ROWS_KEPT } from '../src/core/contract/table_match.ts';
import type { Schema, Schemas } from '../src/core/documents/openapi/schema.ts';
import { loadApi } from '../src/core/loaded.ts';

export const CLIENT_TYPES = programFile('clients/typescript/nearsky.d.ts');
const BEGIN = '// The next types are made by docs/client_types.ts from the contract.\n';
const END = '// End of the types that docs/client_types.ts makes.\n';
const MAX_WIDTH = 120;

const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  DetailLevel: namesOf(DETAIL_LEVELS),
  ObjectStatus: namesOf(OBJECT_STATUSES),
  InputStatus: namesOf(INPUT_STATUSES),
  CatalogOutcome: namesOf(CATALOG_OUTCOMES),
  QualifiesReason: namesOf(QUALIFIES_REASONS),
  TimeField: namesOf(TIME_FIELDS),
  ListedStatus: namesOf(LISTED_STATUSES),
  Find: namesOf(FINDS),
  RowsKept: namesOf(ROWS_KEPT),
  TableFormat: namesOf(TABLE_FORMATS),
  MatchFormat: namesOf(MATCH_FORMATS),
};

interface Declared {
  readonly about: string;
  /** The alternatives. A property that one of them lacks is optional. */
  readonly of: readonly Schema[];
  /** The names of interfaces for properties that are objects. */
  readonly nested?: Readonly<Record<string, string>>;
}

const { components, paths } = openApiDocument(await loadApi(CAPABILITIES), loadConfig({}, SETTINGS));
const { schemas } = components;
const areaAnswer = paths[AREA_PATH]!.post!.responses[200]!.content as Record<string, { schema: Schema }>;
const [areaPage] = areaAnswer['application/json']!.schema.oneOf as [Schema];
const results = [schemas.IdResult, schemas.PositionResult, schemas.TnsResult, schemas.InvalidInputResult];
const [, ofLookups] = schemas.LookupMatchSummary.allOf as [Schema, Schema];
const { catalogs_skipped: _, partial: __, ...published } = schemas.PublishedMatch.properties as Schemas;

const INTERFACES: Readonly<Record<string, Declared>> = {
  PublishedTns: { about: 'The associated registry object.', of: [published.tns!] },
  MatchStatistics: { about: aboutOf(published.statistics!), of: [published.statistics!] },
  Match: {
    about: 'A coincident source: the nearest of its catalog. Most optional keys come with `full`.',
    of: [
      schemas.MatchSummary,
      { ...schemas.PublishedMatch, properties: { ...published, ...(ofLookups.properties as Schemas) } },
    ],
    nested: { tns: 'PublishedTns', statistics: 'MatchStatistics' },
  },
  ObjectTns: { about: aboutOf(schemas.ObjectTns), of: [schemas.ObjectTns] },
  TnsRecord: { about: aboutOf(schemas.TnsRecord), of: [schemas.TnsRecord] },
  Crossmatch: { about: aboutOf(schemas.Crossmatch), of: [schemas.Crossmatch] },
  LookupObject: {
    about: aboutOf(schemas.LookupObject),
    of: [schemas.LookupObject, itemsOf(property(areaPage, 'objects'))],
  },
  NormalizedInput: { about: 'An input as understood.', of: results.map(result => property(result, 'normalized')) },
  LookupResult: {
    about: 'The result of one input; which keys it has depends on its kind.',
    of: results,
    nested: { normalized: 'NormalizedInput' },
  },
  RecentObject: { about: aboutOf(schemas.RecentObject), of: [schemas.RecentObject] },
};

/** The components that have another name, or a type of the language, here. */
const NAMES: Partial<Record<ComponentName, string>> = {
  DiaObjectId: 'bigint',
  DiaObjectIdStr: 'string',
  LookupMatch: 'Match',
  PublishedMatch: 'Match',
  MatchSummary: 'Match',
};

function property({ properties }: Schema, name: string): Schema {
  return (properties as Schemas)[name]!;
}

function itemsOf({ items }: Schema): Schema {
  return items as Schema;
}

/** The first sentence of a description. */
function aboutOf({ description = '' }: Schema): string {
  const [first] = /^.*?(?:\.|:|;)(?= |$)/.exec(`${description}`) ?? [''];
  return first.replace(/[:;]$/, '.');
}

/** The alternatives of a type. An enumeration is written as its name. */
function typesOf(schema: Schema): string[] {
  const { $ref, enum: values, type } = schema;
  if ($ref !== undefined) {
    const name = `${$ref}`.split('/').at(-1) as ComponentName;
    return [NAMES[name] ?? name];
  }
  if (values) return (values as unknown[]).map(literal);
  if ('const' in schema) return [literal(schema.const)];
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (alternatives) return alternatives.flatMap(typesOf);
  if (Array.isArray(type)) return type.flatMap(each => typesOf({ ...schema, type: each }));
  switch (type) {
    case undefined:
      return ['unknown'];
    case 'integer':
      return [schema.format === 'int64' ? 'bigint' : 'number'];
    case 'array': {
      const items = unionOf(typesOf(itemsOf(schema)));
      return [`readonly ${items.includes('|') ? `(${items})` : items}[]`];
    }
    case 'object':
      return [objectType(schema)];
    default:
      return [`${type}`];
  }
}

function objectType({ properties, additionalProperties: others, ...schema }: Schema): string {
  if (properties) {
    const all = propertiesOf({ of: [{ ...schema, properties }] }).map(({ text }) => text);
    return `{ ${all.join('; ')} }`;
  }
  const values = typeof others === 'object' ? unionOf(typesOf(others as Schema)) : 'unknown';
  return `Readonly<Record<string, ${values}>>`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : `${value}`;
}

/** A type without alternatives that others include. */
function unionOf(types: readonly string[]): string {
  const all = new Set(types);
  if (all.has('unknown')) return 'unknown';
  if (all.has('string')) for (const type of all) if (type.startsWith("'")) all.delete(type);
  for (const [name, values] of Object.entries(ENUMERATIONS)) {
    if (values.every(value => all.has(`'${value}'`))) all.add(name);
    if (all.has(name)) for (const value of values) all.delete(`'${value}'`);
  }
  const isNullable = all.delete('null');
  return [...all, ...(isNullable ? ['null'] : [])].join(' | ');
}

function propertiesOf({
  of,
  nested = {},
}: Omit<Declared, 'about'>): { readonly about: string; readonly text: string }[] {
  const objects = of.filter(({ properties }) => properties);
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties as Schemas)));
  return [...names].map(name => {
    const found = objects
      .map(({ properties }) => (properties as Partial<Schemas>)[name])
      .filter(schema => schema !== undefined);
    const isRequired = objects.every(({ required = [] }) => (required as readonly string[]).includes(name));
    const types = found.flatMap(schema => (schema.properties ? nested[name] : undefined) ?? typesOf(schema));
    return {
      about: commonest(found.map(aboutOf)),
      text: `readonly ${name}${isRequired ? '' : '?'}: ${unionOf(types)}`,
    };
  });
}

function commonest(texts: readonly string[]): string {
  const groups = [...Map.groupBy(texts, text => text).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]![0]!;
}

function enumeration(name: string, values: readonly string[]): string {
  const line = `export type ${name} = ${values.map(literal).join(' | ')};\n`;
  return line.length <= MAX_WIDTH
    ? line
    : `export type ${name} =${values.map(value => `\n  | ${literal(value)}`).join('')};\n`;
}

function declaration(name: string, { about, ...of }: Declared): string {
  const lines = propertiesOf(of).flatMap(({ about, text }) => [
    ...(about === '' ? [] : [`/** ${about} */`]),
    `${text};`,
  ]);
  return `/** ${about} */\nexport interface ${name} {\n${lines.map(line => `  ${line}\n`).join('')}}\n`;
}

/** Replaces the types between the marks with the current types of the contract. */
export function withContractTypes(text: string): string {
  const made = [
    ...Object.entries(ENUMERATIONS).map(([name, values]) => enumeration(name, values)),
    ...Object.entries(INTERFACES).map(([name, declared]) => declaration(name, declared)),
  ];
  const [before, rest] = text.split(BEGIN) as [string, string];
  return `${before}${BEGIN}\n${made.join('\n')}\n${END}${rest.split(END)[1]}`;
}

if (import.meta.main) writeFileSync(CLIENT_TYPES, withContractTypes(readFileSync(CLIENT_TYPES, 'utf8')));
