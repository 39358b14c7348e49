/**
 * Checks responses against the OpenAPI document: `assertDocumented` for any test that has a request and its response.
 * It is stricter than the document: even if a schema allows unknown keys, our own answers must only have described
 * ones.
 */

import { hash } from 'node:crypto';
import { inspect } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import type { Config } from '../../../src/core/config/config.ts';
import type { Schema } from '../../../src/core/documents/openapi/schema.ts';
import { API, configWith } from '../../capabilities.ts';
import { bodyPointer, Coverage, isNoting, responsePointer, schemaAt } from './coverage.ts';

/** Paths that are served but are not operations of the API. */
const BESIDE_THE_API = new Set(
  (
    '/favicon.ico / /healthz /readyz /metrics /mcp /vo/tap/ /mcp/archive /llms.txt /api-docs /api-docs.md /api/task ' +
    '/search /recent /area /crossmatch /sample /validation /query /catalogs /help /brokers /consuming /status /vo /docs'
  ).split(' '),
);
const BESIDE = /^\/(?:objects|assets|clients|docs)\//;
/** The paths of standards that describe themselves: cone searches and VOSI. */
const OF_ANOTHER_STANDARD = /^\/vo\/(?!tap\/|jobs|samples)/;

/** Statuses and methods of HTTP itself that OpenAPI cannot describe, or describes elsewhere. */
const OF_HTTP = new Set('connection content-length content-type date keep-alive trailer transfer-encoding'.split(' '));

const MAX_ID = 2n ** 63n - 1n;

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers?: Headers;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
}

/**
 * @param text the response's body
 * @param config that of the app, where it differs from the default
 * @throws Error that says what the document does not allow
 */
export function assertDocumented(asked: Asked, answered: Answered, text: string, config = defaultConfig): void {
  const path = new URL(asked.url).pathname;
  if (OF_ANOTHER_STANDARD.test(path)) return;
  // For an unknown path, a browser gets a page, or is redirected to a similar path.
  if (
    /text\/html/.test(asked.headers?.get('Accept') ?? '') &&
    /^text\/html|^$/.test(answered.headers.get('Content-Type') ?? '')
  )
    return;
  if (BESIDE_THE_API.has(path) || (BESIDE.test(path) && answered.status !== 404) || answered.status === 204) return;
  try {
    contractOf(config).check(asked.method, path, answered, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${asked.method} ${asked.url} gave ${answered.status}, which is not documented: ${why}\n${text.slice(0, 2000)}`,
    );
  }
}

const defaultConfig = configWith();
/** By configuration, its values, and the document's text: most configurations have the same one. */
const contracts = new WeakMap<Config, Contract>();
const contractsByValues = new Map<string, Contract>();
const contractsByText = new Map<string, Contract>();

function contractOf(config: Config): Contract {
  let contract = contracts.get(config);
  if (!contract) {
    // No document has the data directory, which each test has for itself.
    const values = inspect({ ...config, NEARSKY_DATA: '' }, WHOLE);
    contract = contractsByValues.get(values) ?? contractWith(config);
    contractsByValues.set(values, contract);
    contracts.set(config, contract);
  }
  return contract;
}

const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null };

function contractWith(config: Config): Contract {
  const document = openApiDocument(API, config);
  const text = JSON.stringify(document);
  const contract = contractsByText.get(text) ?? new Contract(document);
  contractsByText.set(text, contract);
  return contract;
}

/** One for all documents, because its own schemas take longer to compile than most answers. */
const ajv = newAjv();
/** Whether the schemas of a document were checked. */
let isChecked = false;
/** By the text of the schema and of those that it refers to, because documents hardly differ in them. */
const validators = new Map<string, ValidateFunction>();

type Response = { readonly headers?: Record<string, Schema>; readonly content?: Schema };
type Document = ReturnType<typeof openApiDocument>;

class Contract {
  readonly #document: Document;
  readonly #name = `openapi${contractsByText.size}`;
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #templates: readonly (readonly [template: string, path: RegExp])[];
  /** The hashes of the bodies that are valid: tests repeat many answers. */
  readonly #valid = new Set<string>();
  readonly #coverage: Coverage;

  constructor(document: Document) {
    this.#document = document;
    this.#templates = Object.keys(document.paths).map(template => [template, pathsOf(template)]);
    this.#coverage = new Coverage(document, pointer => this.#compile(pointer));
  }

  check(method: string, path: string, { status, headers }: Answered, text: string): void {
    const found = this.#response(method.toLowerCase(), path, status);
    if (method === 'HEAD' && text !== '') throw new Error('it has a body');
    if (found === undefined) {
      if (method !== 'HEAD') this.#checkBody('/components/schemas/ServerError', headers, text);
      return;
    }
    const documented = Object.entries(found.response.headers ?? {});
    for (const [name, header] of documented) {
      if (this.#at<Schema>(header).required && !headers.has(name)) throw new Error(`the header ${name} is missing`);
    }
    const names = new Set(documented.map(([name]) => name.toLowerCase()));
    for (const name of headers.keys())
      if (!names.has(name) && !OF_HTTP.has(name)) throw new Error(`the header ${name} is not documented`);
    if (method === 'HEAD') return;
    if (!found.response.content) {
      if (text !== '') throw new Error('it has a body');
    } else if (isTable(found.response.content, headers)) {
      return;
    } else {
      this.#checkBody(found.pointer, headers, text);
    }
  }

  /** The document's schema of that answer; undefined if the document only describes it as an error. */
  #response(method: string, path: string, status: number): { response: Response; pointer: string } | undefined {
    const template = this.#templates.find(([, known]) => known.test(path))?.[0];
    if (template === undefined) {
      if (status !== 404) throw new Error('there is no such path');
      return undefined;
    }
    // A path of the API whose parameter contains an encoded slash is unknown; jobs, tables and kept samples may be missing.
    if (status === 404 && /^\/api\/(?!samples\/)/.test(path) && !/%2f/i.test(path))
      throw new Error('the path is documented');
    const methods = this.#document.paths[template]!;
    if (methods[method]) return this.#of(template, method, status);
    const [other] = Object.keys(methods) as [string];
    if (method === 'head' && methods.get) return this.#of(template, 'get', status);
    // If the path does not exist, or the service cannot answer, the method does not matter.
    if (status < 404) throw new Error('there is no such method');
    return this.#of(template, other, status);
  }

  #of(template: string, method: string, status: number): { response: Response; pointer: string } {
    const listed = this.#document.paths[template]![method]!.responses[status];
    if (!listed) throw new Error(`the status is not among those of ${method} ${template}`);
    const response: Response = this.#at(listed);
    const pointer =
      listed.$ref === undefined ? responsePointer(template, method, status) : `${bodyPointer(`${listed.$ref}`)}`;
    return { response, pointer };
  }

  /** The target of a reference, or the value itself if it is not a reference. */
  #at<T>(value: Schema): T {
    if (typeof value.$ref !== 'string') return value as T;
    const keys = value.$ref.slice('#/'.length).split('/');
    return keys.reduce((each, key) => each[key] as Schema, this.#document as unknown as Schema) as T;
  }

  #checkBody(pointer: string, headers: Headers, text: string): void {
    const type = headers.get('Content-Type');
    if (type !== 'application/json') throw new Error(`the content type is ${type}`);
    const hashed = hash('sha1', `${pointer}\n${text}`);
    if (this.#valid.has(hashed) && !isNoting()) return;
    const body = JSON.parse(text);
    if (!pointer.includes('openapi.json')) checkIds(text);
    const validate = this.#validator(pointer);
    if (!validate(body)) throw new Error(ajv.errorsText(validate.errors, { dataVar: 'body', separator: '\n' }));
    this.#coverage.see(pointer, body);
    this.#valid.add(hashed);
  }

  #validator(pointer: string): ValidateFunction {
    let validate = this.#validators.get(pointer);
    if (!validate) {
      const text = this.#textOf(pointer);
      validate = validators.get(text) ?? this.#compile(pointer, { unevaluatedProperties: false });
      validators.set(text, validate);
      this.#validators.set(pointer, validate);
    }
    return validate;
  }

  #compile(pointer: string, keywords: Schema = {}): ValidateFunction {
    if (!ajv.schemas[this.#name]) {
      // Other documents have the same schemas, and checking them takes longer than many tests.
      ajv.addSchema(strictly(this.#document as unknown as Schema, false), this.#name, false, !isChecked);
      isChecked = true;
    }
    return ajv.compile({ $ref: `${this.#name}#${pointer}`, ...keywords });
  }

  /** The text of a schema, and of those that it refers to. */
  #textOf(pointer: string): string {
    const texts = new Map<string, string>();
    const add = (at: string) => {
      if (texts.has(at)) return;
      const text = JSON.stringify(schemaAt(this.#document, at));
      texts.set(at, text);
      for (const [, reference] of text.matchAll(/"\$ref":"#([^"]+)"/g)) add(reference!);
    };
    add(pointer);
    return [...texts].join('\n');
  }
}

/** Whether it has a documented media type without a schema for its text. */
function isTable(content: Schema, headers: Headers): boolean {
  const type = headers.get('Content-Type')?.split(';')[0] ?? '';
  return type !== 'application/json' && type in content;
}

function pathsOf(template: string): RegExp {
  const escaped = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** An Ajv that knows the keywords and formats of the document. */
export function newAjv(): Ajv2020 {
  // Most validators check a few answers: optimised, they would take longer to compile than they save.
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, code: { optimize: false } });
  ajv.addVocabulary(['x-unit', 'openapi', 'info', 'paths', 'components']);
  ajv.addFormat('int64', true);
  ajv.addFormat('binary', true);
  ajv.addFormat('date', isDate);
  ajv.addFormat('date-time', text => {
    const parts = /^(.{10})T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)$/.exec(text);
    return parts !== null && isDate(parts[1]!) && +parts[2]! < 24 && +parts[3]! < 60 && +parts[4]! < 60;
  });
  return ajv;
}

/** The dates that were seen: answers repeat few of them. */
const dates = new Map<string, boolean>();

function isDate(text: string): boolean {
  let isValid = dates.get(text);
  if (isValid === undefined) {
    const date = new Date(`${text}T00:00:00Z`);
    isValid = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
    dates.set(text, isValid);
  }
  return isValid;
}

/**
 * The schema in which no object may have undescribed keys. @param place whether a complete value is validated here, and
 * not a part of one
 */
function strictly(schema: Schema, place: boolean): Schema {
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) strict[keyword] = strictKeyword(keyword, value);
  const describesKeys = ['$ref', 'properties', 'allOf', 'anyOf', 'oneOf'].some(keyword => keyword in schema);
  if (place && describesKeys && !('additionalProperties' in schema)) strict.unevaluatedProperties = false;
  return strict;
}

/** A keyword's value. Parts of the document that are not JSON Schemas are only traversed. */
function strictKeyword(keyword: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || keyword === 'examples' || keyword === 'dependentSchemas')
    return value;
  if (keyword === 'items' || keyword === 'additionalProperties') return strictly(value as Schema, true);
  if (keyword === 'properties') return mapValues(value as Schema, schema => strictly(schema as Schema, true));
  if (Array.isArray(value)) {
    return value.map(item => (typeof item === 'object' && item !== null ? strictly(item as Schema, false) : item));
  }
  return mapValues(value as Schema, (inner, key) => strictKeyword(key, inner));
}

function mapValues(object: Schema, change: (value: unknown, key: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** A `diaObjectId` that is an integer literal. */
const ID_LITERAL = /("diaObjectId":\s*)(\d+)(?=\s*[,}])/g;

/** Every id is an integer literal, fits 64 bits, and equals its string. Values that a client sent are only echoed. */
function checkIds(text: string): void {
  if (!text.includes('"diaObjectId"')) return;
  // JSON.parse would round literals. (A reviver that sees their text takes ten times as long.)
  checkMarkedIds(JSON.parse(text.replace(ID_LITERAL, '$1"#$2"')));
}

function checkMarkedIds(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) if (key !== 'input') checkMarkedIds(member);
  if (!('diaObjectId' in value)) return;
  const { diaObjectId, diaObjectId_str: text } = value as Record<string, unknown>;
  const literal = /^#(\d+)$/.exec(`${diaObjectId}`)?.[1];
  const isExact = literal !== undefined && BigInt(literal) <= MAX_ID && (text ?? literal) === literal;
  if (!isExact) throw new Error(`the diaObjectId ${diaObjectId} is not the 64-bit integer that its text ${text} is`);
}
