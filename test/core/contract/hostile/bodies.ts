/** Random bodies of a lookup, from the schema of the OpenAPI document. */

import type { OpenApiDocument } from '../../../../src/capabilities/documents/openapi_document.ts';
import { INPUT_KINDS } from '../../../../src/core/contract/enums.ts';
import type { Expected } from './requests.ts';
import { BROKEN_BODIES, HOSTILE_JSON, type Random, type Value } from './values.ts';

export interface Body extends Expected {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

const GOOD_TYPES = ['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json;x=y'];
const BAD_TYPES = [
  'text/plain',
  'application/xml',
  'application/jsonp',
  'multipart/form-data',
  'application/json, text/plain',
  'é',
];

const INVALID = new Set(['invalid_parameter']);
const refusal = (param: string) => ({ suspects: new Set([param]), refused: true, codes: INVALID });

export function randomBody(random: Random, document: OpenApiDocument): Body {
  const headers = { 'Content-Type': random.pick(GOOD_TYPES) };
  if (random.chance(0.08)) return { headers, body: random.pick(BROKEN_BODIES), ...refusal('body') };
  const { text, ...expected } = randomLookup(random, document);
  if (random.chance(0.06)) {
    return { headers: { 'Content-Type': random.pick(BAD_TYPES) }, body: text, ...refusal('Content-Type') };
  }
  if (random.chance(0.06)) {
    // Whatever it has become.
    return { headers, body: spoil(random, text), suspects: ANYTHING, refused: false, codes: SPOILT_CODES };
  }
  return { headers, body: text, ...expected };
}

/** Stands for every name. */
export const ANYTHING: ReadonlySet<string> = new Set(['*']);
const SPOILT_CODES = new Set(['invalid_parameter', 'filters_span_catalogs']);

/** The text cut short, or with one byte changed. */
export function spoil(random: Random, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.from(text));
  if (random.chance(0.5)) return bytes.slice(0, random.below(bytes.length));
  bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

type Schema = { readonly [keyword: string]: unknown };

function properties(document: OpenApiDocument, name: 'LookupRequest' | 'Filters'): Readonly<Record<string, Schema>> {
  return document.components.schemas[name].properties as Record<string, Schema>;
}

function randomLookup(random: Random, document: OpenApiDocument): Expected & { readonly text: string } {
  const suspects = new Set<string>();
  const codes = new Set(INVALID);
  let refused = false;
  const members = new Map<string, string>();
  const add = (name: string, { text, verdict }: Value) => {
    members.set(name, text);
    if (verdict !== 'good') suspects.add(name);
    refused ||= verdict === 'bad';
  };
  const inputs = randomInputs(random);
  if (random.chance(0.03))
    add('inputs', {
      text: random.pick([...HOSTILE_JSON.filter(text => text !== '[1]' && !text.startsWith('[[')), 'null']),
      verdict: 'bad',
    });
  else if (random.chance(0.98)) members.set('inputs', `[${inputs.map(({ text }) => text).join(', ')}]`);
  if (!members.has('inputs')) {
    suspects.add('inputs');
    refused = true;
  }
  if (random.chance(0.3)) add('radius_arcsec', numberOrBad(random, [0.001, 60]));
  for (const field of ['detail', 'response']) {
    if (random.chance(0.3)) add(field, enumerated(random, properties(document, 'LookupRequest')[field]!));
  }
  if (random.chance(0.4)) {
    const filters = randomFilters(random, document);
    members.set('filters', filters.text);
    for (const name of filters.suspects) suspects.add(name);
    for (const code of filters.codes) codes.add(code);
    refused ||= filters.refused;
  }
  if (random.chance(0.04))
    add(random.pick(['x', 'Inputs', 'cursor', 'toString', 'page_size']), { text: '1', verdict: 'bad' });
  const pairs = shuffled(random, [...members]).map(([name, text]) => `${JSON.stringify(name)}: ${text}`);
  return {
    text: `{${pairs.join(', ')}}`,
    suspects,
    refused,
    codes,
    malformed: inputs.map(({ verdict }) => malformedOf(verdict)),
  };
}

const malformedOf = (verdict: Value['verdict']) => (verdict === 'open' ? undefined : verdict === 'bad');

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map(item => [random.below(1e9), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

const NO_NUMBERS = HOSTILE_JSON.filter(text => text !== '-1');

type Range = readonly [min: number, max: number];

/** A number of `range`, or another value of `allowed`. */
function numberOrBad(random: Random, range: Range, allowed: Range = range): Value {
  const [min, max] = allowed;
  if (random.chance(0.1))
    return { text: random.pick([...NO_NUMBERS, `${max + 1}`, `${min - 1000}`, '1e300']), verdict: 'bad' };
  return { text: JSON.stringify(random.between(...range)), verdict: 'good' };
}

/** Filters accept any finite number, except for separations. */
function filterValue(random: Random): Value {
  if (random.chance(0.1)) return { text: random.pick(NO_NUMBERS), verdict: 'bad' };
  return { text: random.pick(['0', '0.5', '1e2', '5.0', `${random.between(0, 10)}`]), verdict: 'good' };
}

function enumerated(random: Random, schema: Schema): Value {
  const names = (JSON.stringify(schema).match(/"enum":(\[[^\]]*\])/)?.[1] ?? '[]') as string;
  if (random.chance(0.1)) return { text: random.pick([...HOSTILE_JSON, '"IDS"', '5']), verdict: 'bad' };
  const good = (JSON.parse(names) as (string | null)[]).filter(name => name !== null);
  return { text: random.chance(0.1) ? 'null' : JSON.stringify(random.pick(good)), verdict: 'good' };
}

function randomFilters(random: Random, document: OpenApiDocument): Expected & { readonly text: string } {
  if (random.chance(0.05)) return { text: random.pick(['[]', '"x"', 'true', '7']), ...refusal('filters') };
  const known = properties(document, 'Filters');
  const suspects = new Set<string>();
  const catalogs = new Set<string>();
  let refused = false;
  const members = new Map<string, string>();
  for (let n = random.below(4); n > 0; n--) {
    const isUnknown = random.chance(0.05);
    const name = isUnknown ? random.pick(['x', 'a.b', 'toString', 'constructor']) : random.pick(Object.keys(known));
    if (members.has(name)) continue;
    const value = name === 'catalog' ? enumeratedCatalog(random, known[name]!) : filterValue(random);
    if (isUnknown || value.verdict === 'bad') suspects.add(name);
    refused ||= suspects.has(name);
    members.set(name, value.text);
    if (name === 'catalog') catalogs.add(value.text);
    else if (name.includes('.')) catalogs.add(`"${name.split('.')[0]}"`);
  }
  const pairs = [...members].map(([name, text]) => `${JSON.stringify(name)}: ${text}`);
  const spans = catalogs.size > 1;
  const codes = spans ? new Set(['filters_span_catalogs']) : new Set<string>();
  return { text: `{${pairs.join(', ')}}`, suspects, refused: refused || spans, codes };
}

/** A catalog, which unlike other names may not be null. */
function enumeratedCatalog(random: Random, schema: Schema): Value {
  const value = enumerated(random, schema);
  return value.text === 'null' ? { ...value, verdict: 'bad' } : value;
}

function randomInputs(random: Random): Value[] {
  return Array.from({ length: 1 + random.below(random.chance(0.05) ? 150 : 5) }, () => randomInput(random));
}

const REQUIRED = { id: ['diaObjectId'], position: ['ra', 'dec'], tns: ['name'] } as const;

/** An input with the fields that its kind has, sometimes with one more or less. */
function randomInput(random: Random): Value {
  if (random.chance(0.08)) return { text: random.pick([...HOSTILE_JSON, 'null', '7']), verdict: 'bad' };
  const kind = random.pick(INPUT_KINDS).name;
  const isKnown = random.chance(0.97);
  const kindText = isKnown ? `"${kind}"` : random.pick(['"ID"', '7', 'null', '"__proto__"']);
  const values = fieldsOf(random, kind);
  if (random.chance(0.04)) values.set(random.pick(['x', 'Kind', 'toString', 'detail']), { text: '1', verdict: 'bad' });
  if (random.chance(0.04)) values.delete(random.pick([...values.keys()]));
  const isWhole = REQUIRED[kind].every(name => values.has(name));
  const isBad = !isKnown || !isWhole || values.values().some(({ verdict }) => verdict === 'bad');
  // The request's own radius may replace a position's radius.
  const isOpen = kind === 'position' && !values.has('radius_arcsec');
  const members = [`"kind": ${kindText}`, ...values.entries().map(([name, { text }]) => `"${name}": ${text}`)];
  return { text: `{${shuffled(random, members).join(', ')}}`, verdict: isBad ? 'bad' : isOpen ? 'open' : 'good' };
}

const GOOD_IDS = ['7', '"7"', '170055002004914002', '"170055002004914002"', '9223372036854775807', '"00"', '0', '-0'];
const BAD_IDS = [
  '1.0',
  '1e3',
  '-1',
  '9223372036854775808',
  '" 1"',
  '"+1"',
  '"1.0"',
  '"0x1"',
  '"²"',
  `"${'9'.repeat(5000)}"`,
];
const GOOD_NAMES = ['"2026abc"', '" sn 2026crd"', '"AT2026zzz"', '"2026q\\u0071q"'];
const BAD_NAMES = [
  '""',
  '"SN"',
  '"2026"',
  '"x2026abc"',
  '"2026abc\\u0000"',
  `"2026${'a'.repeat(61)}"`,
  '7',
  'null',
  '["2026abc"]',
];

const RA: Range = [0, 360];
const DEC: Range = [-90, 90];

function fieldsOf(random: Random, kind: 'id' | 'position' | 'tns'): Map<string, Value> {
  const either = (good: readonly string[], bad: readonly string[]): Value =>
    random.chance(0.15) ? { text: random.pick(bad), verdict: 'bad' } : { text: random.pick(good), verdict: 'good' };
  const radius = () => numberOrBad(random, [0.001, 60]);
  switch (kind) {
    case 'id':
      return new Map([['diaObjectId', either(GOOD_IDS, BAD_IDS)]]);
    case 'position': {
      const isSomewhere = random.chance(0.5);
      return new Map([
        ['ra', numberOrBad(random, isSomewhere ? RA : [150, 150.001], RA)],
        ['dec', numberOrBad(random, isSomewhere ? DEC : [2, 2.001], DEC)],
        ['radius_arcsec', radius()],
      ]);
    }
    case 'tns':
      return new Map([
        ['name', either(GOOD_NAMES, BAD_NAMES)],
        ['radius_arcsec', radius()],
      ]);
  }
}
