/** Random requests from the OpenAPI document, each with the answers that it may have. */

import type { OpenApiDocument } from '../../../../src/capabilities/documents/openapi_document.ts';
import { TASK_PATH } from '../../../../src/capabilities/tasks/tasks.ts';
import { TABLE_FORMATS } from '../../../../src/core/contract/formats.ts';
import type { DocumentedParameter as Parameter } from '../../../../src/core/documents/openapi/parameters.ts';
import { API } from '../../../capabilities.ts';
import { ANYTHING, randomBody, spoil } from './bodies.ts';
import { HOSTILE_TEXTS, isDigits, type Random, type Value, valueFor } from './values.ts';

/** The facts about the answer that the tests know before they see it. */
export interface Expected {
  /** Parameters that a refusal may blame. */
  readonly suspects: ReadonlySet<string>;
  /** Whether the request must be refused. */
  readonly refused: boolean;
  /** The codes that a refusal may have. */
  readonly codes: ReadonlySet<string>;
  /** Whether each input of a lookup is malformed; undefined if it may be either. */
  readonly malformed?: readonly (boolean | undefined)[];
}

export interface HostileRequest extends Expected {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Cursors by the path of their operation. */
export type Cursors = Readonly<Record<string, readonly string[]>>;

const SPECIFIED = API.operations
  .filter(({ isSpecified }) => isSpecified)
  .map(({ path }) => path.replace(/:(\w+)/, '{$1}'));
const hasHead = (template: string) => template === TASK_PATH || !SPECIFIED.includes(template);

const NO_NAMES: ReadonlySet<string> = new Set();
const refusal = (code: string) => ({ suspects: NO_NAMES, refused: true, codes: new Set([code]) });

const OTHER_METHODS = [
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'POST',
  'GET',
  'PROPFIND',
  'X-EVIL',
  'get',
  'QUERY',
];

/** Nothing exists at these paths, whatever the method. */
const NO_PATHS = [
  ...['/api', '/api/', '//', '/api//cone', '/api/cone/', '/API/cone', '/api/Cone', '/api/objects/', '/api/objects/1/2'],
  ...[
    '/api/objects/a%2Fb',
    '/api/tns/%2F',
    '/api/tns/',
    '/api/lookup/',
    '/openapi.json/',
    '/openapi',
    '/__proto__',
    '/constructor',
  ],
  ...[
    '/api/%63one/',
    '/%',
    '/%00',
    '/%ff%fe',
    '/api/task/x',
    '/api/status/%20',
    `/${'a'.repeat(5000)}`,
    '/.env',
    '/api/;/cone',
    '/*',
  ],
];

/** Parameters of a query string that mean nothing to any operation. */
const JUNK = [
  '',
  '%',
  '%zz=%',
  '%ff=%fe',
  '=x',
  '=',
  '&&',
  'a',
  '__proto__=1',
  'constructor',
  'x=%00',
  '?',
  '#',
  'x[]=1',
  'RA=x',
  'é=é',
];

export function randomRequest(random: Random, document: OpenApiDocument, cursors: Cursors): HostileRequest {
  if (random.chance(0.06)) {
    const target = random.pick(NO_PATHS);
    // With an encoded slash it is a path of ours to any other method.
    const method = random.pick(target.includes('%2F') ? ['GET'] : ['GET', 'POST', 'DELETE', 'OPTIONS']);
    return { method, target, headers: {}, ...refusal('not_found') };
  }
  // Errors of the Virtual Observatory have no codes.
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('/vo/'));
  const [template, methods] = random.pick(paths);
  if (random.chance(0.08)) {
    const method = random.pick(OTHER_METHODS);
    const like = method === 'HEAD' && hasHead(template) ? 'GET' : method;
    if (!(like.toLowerCase() in methods)) {
      const target = template.replace(/\{\w+\}/g, '7');
      return { method, target: `${target}?${randomJunk(random)}`, headers: {}, ...refusal('method_not_allowed') };
    }
  }
  const method = random.pick(Object.keys(methods));
  const parameters = (methods[method]!.parameters ?? []).filter(({ name }) => name !== 'X-Log-Position');
  if (template === '/api/area') {
    if (random.chance(0.3)) {
      const body = random.chance(0.5) ? spoil(random, random.pick(GOOD_AREAS)) : random.pick(BAD_AREAS);
      const query = random.pick(['', 'response=count', 'response=table', 'level=0.5', 'format=csv']);
      // A client may have only a few tables at once, and the requests of the test run concurrently.
      const codes = new Set(['invalid_parameter', ...(query === 'response=table' ? ['service_unavailable'] : [])]);
      return {
        method: 'POST',
        target: `${template}?${query}`,
        headers: {},
        body,
        suspects: ANYTHING,
        refused: false,
        codes,
      };
    }
    return { method: 'POST', headers: {}, ...new QueryBuilder(random, template, parameters, cursors).build() };
  }
  if (method === 'post' && template === '/api/lookup')
    return { method: 'POST', target: `${template}?${randomJunk(random)}`, ...randomBody(random, document) };
  if (method === 'post' && !template.startsWith('/api/stream/')) {
    const { headers, body } = randomBody(random, document);
    // The body of a lookup may suit these operations, or be a table; few tables have positions.
    const codes = new Set(['invalid_parameter']);
    return { method: 'POST', target: template, headers, body: body!, suspects: ANYTHING, refused: false, codes };
  }
  return {
    method: method === 'get' && hasHead(template) && random.chance(0.1) ? 'HEAD' : method.toUpperCase(),
    headers: {},
    ...new QueryBuilder(random, template, parameters, cursors).build(),
  };
}

function randomJunk(random: Random): string {
  return random.chance(0.2) ? random.pick(JUNK) : '';
}

const GOOD_NAMES = ['2026abc', 'SN 2026crd', 'at2026zzz', '2026qqq', ' 2026 TIE '];
const GOOD_SEGMENTS: Readonly<Record<string, readonly string[]>> = { name: GOOD_NAMES, catalog: ['gaia_dr3'] };
const GOOD_TIMES = [
  '2026-03-01',
  '2026-03-01T00:00:00Z',
  '20260302T120000+02:00',
  '2026-03-01 06:00',
  '2026-W10-1',
  '2026-061',
];
const UNKNOWN_FILTERS = [
  'a.b',
  '.',
  'x_min',
  '_max',
  'gaia_dr3.ruwe',
  '__proto__.x',
  'toString_min',
  'skymapper_dr4.x_max',
  'é.é',
];
const GOOD_AREAS = [
  'CIRCLE 150 2 1',
  "POLYGON('ICRS', 0, 0, 90, 0, 0, 90)",
  '0/0-11',
  '{"3": [1, 2]}',
  '29/0',
  'circle 0 90 180',
];
const BAD_AREAS = [
  '',
  'CIRCLE',
  'CIRCLE 1 2',
  'POLYGON 1 2 3 4',
  'POLYGON 0 0 180 0 0 0',
  '3',
  '30/1',
  '3/768',
  '3/2-1',
  '{"3": 1}',
  '{',
  '[]',
  'SIMPLE  =',
  'CIRCLE 1 2 nan',
  'BOX 1 89 3 4',
  'RANGE 1 2 4 3',
  '\0',
];
const PINNED = ['ra', 'dec', 'radius_arcsec', 'start', 'end', 'time_field'];
const REQUIRED = ['ra', 'dec', 'radius_arcsec'];
const DISC = ['ra', 'dec', 'radius_deg'];

class QueryBuilder {
  readonly #random: Random;
  readonly #template: string;
  readonly #parameters: readonly Parameter[];
  readonly #cursors: Cursors;
  /** The last value of each name counts. */
  readonly #sent = new Map<string, Value>();
  readonly #pairs: string[] = [];
  /** Of `catalog` all values are read, not only the last one. */
  readonly #catalogs = new Set<string>();

  constructor(random: Random, template: string, parameters: readonly Parameter[], cursors: Cursors) {
    this.#random = random;
    this.#template = template;
    this.#parameters = parameters;
    this.#cursors = cursors;
  }

  build(): { readonly target: string } & Expected {
    const path = this.#path();
    const inQuery = this.#parameters.filter(({ in: place }) => place === 'query');
    const filters = inQuery.filter(({ name }) => isFilter(name));
    for (const parameter of inQuery) {
      // A stream without a fault would not end.
      const always = parameter.name === 'from' || parameter.name === 'area';
      const often = always ? 1 : REQUIRED.includes(parameter.name) ? 0.93 : isFilter(parameter.name) ? 0 : 0.2;
      if (this.#random.chance(often)) this.#add(parameter.name, this.#valueOf(parameter));
    }
    for (let n = this.#random.pick([0, 0, 0, 1, 1, 2, 4]); n > 0 && filters.length > 0; n--) {
      const filter = this.#random.pick(filters);
      this.#add(filter.name, this.#valueOf(filter));
    }
    if (this.#parameters.length > 0 && this.#random.chance(0.05))
      this.#add(this.#random.pick(UNKNOWN_FILTERS), { text: this.#random.pick(['1', '', 'x']), verdict: 'bad' });
    const unsupported = ['catalog', 'response', 'reliability_min', 'at'].filter(name => !this.#isKnown(name));
    if (this.#parameters.length > 0 && unsupported.length > 0 && this.#random.chance(0.05))
      this.#add(this.#random.pick(unsupported), { text: 'x', verdict: 'bad' });
    const query = [...this.#pairs, randomJunk(this.#random)].join('&');
    return { target: `${path}?${query}`, ...this.#expected() };
  }

  #isKnown(name: string): boolean {
    return this.#parameters.some(parameter => parameter.name === name);
  }

  #path(): string {
    return this.#template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const good = GOOD_SEGMENTS[name] ?? ['7', '170055002004914002', '0007', '9223372036854775807'];
      const bad = HOSTILE_TEXTS.filter(text => !/^\.*$|\//.test(text));
      const isBad = this.#random.chance(0.25);
      const text = this.#random.pick(isBad ? [...bad, '-1', '9223372036854775808', 'SN', '2026'] : good);
      // Some texts of the list are ids.
      const isId = isDigits(text) || (name === 'catalog_source_id' && text === '-1');
      const verdict = isBad && isId ? 'open' : isBad ? 'bad' : 'good';
      this.#sent.set(name, { text, verdict });
      return encode(text);
    });
  }

  /** Sends the request, sometimes with other values of the same name first. */
  #add(name: string, value: Value): void {
    const repeated = this.#random.chance(0.05) ? [this.#random.pick(HOSTILE_TEXTS), value.text] : [value.text];
    for (const text of repeated) this.#pairs.push(`${encode(name)}=${encode(text)}`);
    this.#sent.set(name, value);
    if (name === 'catalog') for (const text of repeated) this.#catalogs.add(text);
  }

  #valueOf({ name, schema }: Parameter): Value {
    if (name === 'cursor') return this.#cursor();
    // The service keeps no history.
    if (name === 'at') return { ...valueFor(this.#random, schema), verdict: 'bad' };
    // Neither is a map of probability.
    if (name === 'level') return { text: this.#random.pick(['0.5', '1', 'x', '-1', '0']), verdict: 'bad' };
    if (name === 'area') {
      const isBad = this.#random.chance(0.1);
      return { text: this.#random.pick(isBad ? BAD_AREAS : GOOD_AREAS), verdict: isBad ? 'bad' : 'good' };
    }
    if (name === 'from') return { text: this.#random.pick(['later', '1.2.3.4', '99999999', '5.']), verdict: 'bad' };
    if (name === 'until') {
      const isBad = this.#random.chance(0.3);
      return {
        text: this.#random.pick(isBad ? ['later', '1.2.3.4', '5.', '-1'] : ['0', '3', '1.2.3']),
        verdict: isBad ? 'bad' : 'good',
      };
    }
    if (name === 'start' || name === 'end') {
      const isBad = this.#random.chance(0.15);
      const text = this.#random.pick(
        isBad ? ['', '2026-13-01', '2026-02-30', 'now', '1772323200', ...HOSTILE_TEXTS] : GOOD_TIMES,
      );
      return { text, verdict: isBad ? 'bad' : 'good' };
    }
    return valueFor(this.#random, schema);
  }

  #cursor(): Value {
    const random = this.#random;
    const own = this.#cursors[this.#template]!;
    const token = random.pick(own);
    // A cursor for one area is refused with every other area.
    if (random.chance(0.5)) return { text: token, verdict: this.#template === '/api/area' ? 'open' : 'good' };
    if (random.chance(0.3)) return { text: random.pick(['', ...HOSTILE_TEXTS]), verdict: 'bad' };
    if (random.chance(0.3)) {
      const foreign = Object.values(this.#cursors).find(list => list !== own)!;
      return { text: random.pick(foreign), verdict: 'bad' };
    }
    return { text: forge(random, token), verdict: 'open' };
  }

  #expected(): Expected {
    const suspects = new Set<string>();
    const codes = new Set(['invalid_parameter']);
    let refused = false;
    const blame = (name: string, surely: boolean) => {
      suspects.add(name);
      refused ||= surely;
    };
    // A count has no pages, so the page size is not checked.
    const isCount = this.#sent.get('response')?.text === 'count';
    if (isCount && !['/api/area', '/api/objects'].includes(this.#template)) this.#sent.delete('page_size');
    // Counts are not a table.
    if (isCount && TABLE_FORMATS.some(({ name }) => name === this.#sent.get('format')?.text)) blame('format', true);
    for (const [name, { verdict }] of this.#sent) if (verdict !== 'good') blame(name, verdict === 'bad');
    const names = [...this.#sent.keys()];
    if (this.#catalogs.size > 1) {
      blame('catalog', false);
      if (!codes.has('unsupported_parameter')) codes.add('filters_span_catalogs');
    }
    if (['/api/area', '/api/objects'].includes(this.#template)) {
      // The end of the window may be before its start.
      if (names.includes('start') && names.includes('end')) for (const name of ['start', 'end']) blame(name, false);
      if (names.includes('cursor')) for (const name of ['time_field', 'status']) blame(name, false);
    }
    if (this.#sent.get('response')?.text === 'table') {
      codes.add('service_unavailable');
      // Not every format is one of tables.
      if (this.#sent.has('format')) blame('format', false);
    }
    const hasFilters = this.#isKnown('reliability_min');
    const isUnsupported = (name: string) =>
      !this.#isKnown(name) && (name === 'response' || name === 'at' || (!hasFilters && isFilter(name)));
    if (names.some(isUnsupported)) {
      codes.clear();
      codes.add('unsupported_parameter');
    }
    // None is kept, whatever else is asked.
    if (/^\/(?:api|feeds)\/samples\//.test(this.#template)) codes.add('not_found');
    if (this.#template === '/api/recent-crossmatches') {
      // The end of the window may be before its start, or the window may be too long.
      for (const name of ['start', 'end']) if (names.includes(name)) ['start', 'end'].map(end => blame(end, false));
    }
    if (this.#sent.has('cursor')) {
      for (const name of [...PINNED, 'detail']) if (names.includes(name)) blame(name, false);
      // A forged cursor can fix any value.
      if (this.#sent.get('cursor')!.verdict === 'open') for (const name of [...REQUIRED, 'detail']) blame(name, false);
      if (isCount) blame('cursor', true);
    } else if (['/api/cone', '/api/sources'].includes(this.#template)) {
      for (const name of REQUIRED) if (!names.includes(name)) blame(name, true);
    }
    if (this.#template === '/api/sky-map') {
      // Too fine for so large a part of the sky.
      blame('resolution', false);
      for (const name of DISC)
        if (!names.includes(name) && names.some(other => DISC.includes(other))) blame(name, true);
    }
    if (new Set(names.flatMap(name => catalogOf(name, this.#sent.get(name)!.text))).size > 1) {
      if (!codes.has('unsupported_parameter')) codes.add('filters_span_catalogs');
      refused = true;
    }
    return { suspects, refused, codes };
  }
}

/** The catalog that a filter names, if it does. */
function catalogOf(name: string, text: string): string[] {
  if (name === 'catalog') return [text];
  return name.includes('.') ? [name.split('.')[0]!] : [];
}

export function isFilter(name: string): boolean {
  return name === 'catalog' || name.includes('.') || /_(?:min|max)$/.test(name);
}

/** Percent-encoded; a text that is not well-formed as the replacement character. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27');
}

/** A cursor with a change: to a character, to its length, or to a value. */
function forge(random: Random, token: string): string {
  const at = random.below(token.length);
  if (random.chance(0.3)) return `${token.slice(0, at)}${random.pick([...'aZ0-_'])}${token.slice(at + 1)}`;
  if (random.chance(0.3)) return token.slice(0, at);
  const fields = JSON.parse(Buffer.from(token, 'base64url').toString());
  const values = [
    'x',
    '',
    null,
    true,
    7,
    -1,
    1.5,
    1e300,
    [],
    {},
    '2026-03-01',
    '0001-01-01',
    '9999-12-31T23:59:59.999999',
    'full',
    'event_time',
  ];
  const key = random.pick([...Object.keys(fields), 'extra', '__proto__']);
  if (random.chance(0.2)) delete fields[key];
  else Object.defineProperty(fields, key, { value: random.pick(values), enumerable: true, configurable: true });
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}
