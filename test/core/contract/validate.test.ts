/**
 * `assertDocumented` accepts valid answers, and rejects answers with a single fault. A validator that accepts
 * everything would be useless.
 */

import { toJson } from '@nearsky/astrotables/json';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { currentProvenance } from '../../../src/core/store/provenance.ts';
import { configWith, DECLARED } from './support.ts';
import { assertDocumented } from './validate.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are changed in every place
type Json = any;

const test = suite('contract/validate');

const BIG = 9_223_372_036_854_775_807n;
const TIME = '2026-10-07T09:15:00.004210+00:00';
const SET = 'ab'.repeat(32);
const provenance = currentProvenance(configWith(DECLARED));
const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = provenance;

const summary = {
  catalog_name: 'gaia_dr3',
  catalog_source_id: '123',
  separation_arcsec: 0.25,
};
const published = {
  diaObjectId: BIG,
  ra: 1.5,
  dec: -2,
  ...summary,
  separation_at_epoch_arcsec: 0.2,
  catalog_release: 'Gaia DR3',
  statistics: {
    chance_probability: 0.001,
    source_density: 12.3,
    sources_within_radius: 1,
    normalized_separation: 1.25,
  },
  catalog_payload: { ruwe: 1.1, flags: 9_007_199_254_740_993n, parallax: null },
  catalogs_skipped: [],
  partial: false,
  tns_checked: true,
  tns_snapshot_epoch: TIME,
  tns: { objid: 7, name: '2026A', classification: null, redshift: 0.1, separation_arcsec: 0.5, url: 'https://x/2026A' },
};
const object = {
  diaObjectId: BIG,
  diaObjectId_str: `${BIG}`,
  status: 'coincident_sources',
  ra: 1.5,
  dec: null,
  reliability: 0.75,
  ingest_time: TIME,
  event_time: '2026-10-07T09:15:00+00:00',
  brokers: ['antares'],
  crossmatch: {
    provenance: 'recorded',
    match_version: 3,
    crossmatched_at: TIME,
    provenance_set: SET,
    brokers_at_crossmatch: ['antares'],
    catalog_outcomes: { gaia_dr3: 'searched', old_catalog: 'outside_footprint' },
  },
  matches: [{ ...summary, provenance_set: SET }],
  tns: {
    checked: true,
    snapshot_epoch: TIME,
    name: '2026A',
    name_prefix: 'SN',
    classification: 'SN Ia',
    redshift: 0.1,
    separation_arcsec: 0.5,
    url: 'https://x/2026A',
  },
  separation_arcsec: 0.1,
  qualifies: false,
  qualifies_reason: 'no_source_meets_filters',
};
const unknown = { diaObjectId: 5, diaObjectId_str: '5', status: 'not_in_service' };
const notRecorded = {
  ...unknown,
  status: 'not_searched',
  crossmatch: {
    provenance: 'not_recorded',
    match_version: null,
    crossmatched_at: null,
    provenance_set: null,
    brokers_at_crossmatch: null,
    catalog_outcomes: { gaia_dr3: 'not_recorded' },
    recording_release: '0.15.0',
    best_guess_provenance_set: 'best_guess_current_settings',
  },
  matches: [{ ...published, provenance_set: null }],
  tns: null,
};

const position = {
  index: 1,
  kind: 'position',
  input: { kind: 'position', ra: 1, any: [1, { thing: null }] },
  normalized: { kind: 'position', ra: 1, dec: 2, radius_arcsec: 3 },
  status: 'objects_found',
  objects: [object],
  total: 2,
  truncated: true,
  truncation: 'per_input_limit',
};
const lookup = {
  provenance,
  detail: 'matches',
  count: 4,
  provenance_sets: {
    [SET]: { basis: 'recorded', crossmatch_radius_arcsec, catalogs, reliability_cuts },
    best_guess_current_settings: {
      basis: 'best_guess_current_settings',
      description: 'A best guess.',
      crossmatch_radius_arcsec,
      catalogs,
      reliability_cuts,
    },
  },
  truncated: false,
  results: [
    {
      index: 0,
      kind: 'id',
      input: '0005',
      normalized: { kind: 'id', diaObjectId: 5, diaObjectId_str: '5' },
      status: 'not_in_service',
      objects: [unknown],
    },
    position,
    {
      index: 2,
      kind: 'tns',
      input: { kind: 'tns', name: 'SN 2026A' },
      normalized: { kind: 'tns', name: '2026a', radius_arcsec: 1 },
      status: 'objects_found',
      objects: [notRecorded],
      total: 1,
      truncated: false,
      truncation: null,
      tns: {
        objid: 7,
        name: '2026A',
        classification: null,
        redshift: null,
        url: 'https://x',
        name_prefix: 'SN',
        ra: 1,
        dec: 2,
      },
      tns_snapshot_epoch: TIME,
      qualifying_total: 1,
      qualifies: true,
      qualifies_reason: 'meets_filters',
    },
    {
      index: 3,
      kind: null,
      input: 17,
      normalized: null,
      status: 'invalid_input',
      objects: [],
      error: { message: 'no object', param: 'inputs[3]' },
    },
  ],
  filters: { catalog: 'gaia_dr3', 'gaia_dr3.ruwe_max': 1.4 },
};
const zeros = (names: string) => Object.fromEntries(names.split(' ').map(name => [name, 0]));
const STATUSES = 'not_in_service crossmatch_pending coincident_sources no_coincident_source not_searched';
const counts = {
  provenance,
  response: 'count',
  filters: null,
  counts: {
    inputs: {
      total: 1,
      by_status: zeros(
        `${STATUSES} no_rubin_object objects_found tns_name_not_found resolver_unavailable invalid_input`,
      ),
      qualifying: null,
    },
    objects: {
      total: 1,
      by_status: zeros(STATUSES),
      qualifying: 0,
      by_qualifies_reason: zeros(
        `meets_filters object_filters_not_met no_source_meets_filters not_in_service crossmatch_pending no_coincident_source not_searched`,
      ),
    },
  },
};
const cone = {
  ...lookup,
  count: 1,
  results: [{ ...position, index: 0, truncated: false, truncation: null, input: { cursor: 'x' } }],
  as_of: TIME,
  page_size: 100,
  next_cursor: null,
};
const { provenance_set: _, ...recentMatch } = { ...published, provenance_set: null };
const recent = {
  provenance,
  window: { start: '2026-10-07T09:15:00+02:00', end: TIME },
  time_field: 'ingest_time',
  detail: 'full',
  page_size: 1000,
  count: 2,
  next_cursor: 'abc',
  objects: [
    { diaObjectId: BIG, diaObjectId_str: `${BIG}`, ra: 1, dec: 2, matches: [recentMatch] },
    { diaObjectId: 5, diaObjectId_str: '5', ra: null, dec: null, matches: [summary] },
  ],
  as_of: TIME,
};
const error = { error: 'no', code: 'invalid_parameter', message: 'no', param: 'ra', retryable: false };

const ANSWERS: readonly (readonly [method: string, path: string, status: number, body: Json])[] = [
  ['POST', '/api/lookup', 200, lookup],
  ['GET', '/api/objects/5', 200, counts],
  ['GET', '/api/cone?ra=1', 200, cone],
  ['GET', '/api/recent-crossmatches', 200, recent],
  ['GET', '/api/cone', 400, error],
];

const JSON_TYPE = { 'Content-Type': 'application/json' };

function check(
  method: string,
  path: string,
  status: number,
  text: string,
  headers: Record<string, string> = JSON_TYPE,
): void {
  assertDocumented({ method, url: `http://nearsky.test${path}` }, { status, headers: new Headers(headers) }, text);
}

function refused(what: string, run: () => void): void {
  assert.throws(run, /which is not documented/, what);
}

test('answers of every shape are taken', () => {
  for (const [method, path, status, body] of ANSWERS) check(method, path, status, toJson(body));
});

/** Every object in an answer, but those whose keys are free. */
function* objectsIn(value: Json, path = ''): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && !/(provenance_sets|catalog_outcomes)$/.test(path)) yield [path, value];
  for (const [key, member] of Object.entries(value)) {
    if (key !== 'input' && key !== 'catalog_payload') yield* objectsIn(member, `${path}/${key}`);
  }
}

/** Keys that an answer may lack. */
const OPTIONAL =
  /\/(filters|param|qualifies|qualifies_reason|qualifying_total|description|separation_arcsec|crossmatch|recording_release|best_guess_provenance_set|tns|separation_at_epoch_arcsec|statistics(\/\w+)?|gaia_dr3\.\w+|catalog)$|\/objects\/\d+\/(ra|dec|reliability|ingest_time|event_time|brokers|matches)$/;

test('a key too many is refused in every place', () => {
  let places = 0;
  for (const [method, path, status, body] of ANSWERS) {
    for (const [place, part] of objectsIn(body)) {
      part.unheard_of = 1;
      refused(`${path}${place}`, () => check(method, path, status, toJson(body)));
      delete part.unheard_of;
      places++;
    }
  }
  assert.ok(places > 60, `${places} places`);
});

test('a key missing is refused in every place that needs it', () => {
  let keys = 0;
  for (const [method, path, status, body] of ANSWERS) {
    for (const [place, part] of objectsIn(body)) {
      for (const [key, value] of Object.entries(part)) {
        if (OPTIONAL.test(`${place}/${key}`) && !(key === 'separation_arcsec' && 'catalog_name' in part)) continue;
        delete part[key];
        refused(`${path}${place} without ${key}`, () => check(method, path, status, toJson(body)));
        part[key] = value;
        keys++;
      }
    }
  }
  assert.ok(keys > 250, `${keys} keys`);
});

test('a value of another kind is refused', () => {
  const change = (from: string, to: string, body: Json = lookup) => {
    const text = toJson(body);
    assert.ok(text.includes(from), from);
    const [method, path, status] = ANSWERS.find(answer => answer[3] === body)!;
    refused(`${from} as ${to}`, () => check(method, path, status, text.replace(from, to)));
  };
  change(`"diaObjectId": ${BIG}`, `"diaObjectId": "${BIG}"`);
  change(`"diaObjectId": ${BIG}`, '"diaObjectId": 9223372036854775808');
  change(`"diaObjectId": ${BIG}`, '"diaObjectId": 9223372036854776000', recent);
  change('"diaObjectId": 5', '"diaObjectId": 5.0');
  change('"diaObjectId_str": "5"', '"diaObjectId_str": "05"');
  change('"status": "not_in_service"', '"status": "objects_found"');
  change('"status": "coincident_sources"', '"status": "unheard_of"');
  change('"gaia_dr3": "searched"', '"gaia_dr3": "found"');
  change(`"${SET}": {`, '"some_key": {');
  change('09:15:00.004210+00:00', '09:15:00.004210Z');
  change('09:15:00.004210+00:00', '09:15:00.00421+00:00');
  change('2026-10-07T', '2026-02-30T');
  change('"truncated": false', '"truncated": true', cone);
  change('"catalog": "gaia_dr3"', '"catalog": "sdss"');
  change('"as_of": "2026-10-01"', '"as_of": "2026-13-01"', recent);
  change('"response": "count"', '"response": "objects"', counts);
});

test('what surrounds the body is held to the document too [Status and descriptions]', () => {
  const unavailable = toJson({ ...error, code: 'service_unavailable', param: undefined, retryable: true });
  const notAllowed = toJson({ ...error, code: 'method_not_allowed', param: undefined });
  check('GET', '/api/cone', 503, unavailable, { ...JSON_TYPE, 'Retry-After': '30' });
  refused('no Retry-After', () => check('GET', '/api/cone', 503, unavailable));
  check('PUT', '/api/cone', 405, notAllowed, { ...JSON_TYPE, Allow: 'GET' });
  refused('no Allow', () => check('PUT', '/api/cone', 405, notAllowed));
  refused('content type', () => check('GET', '/api/cone', 400, toJson(error), { 'Content-Type': 'text/html' }));
  refused('status', () => check('GET', '/api/status', 422, toJson(error)));
  refused('header', () => check('GET', '/api/cone', 400, toJson(error), { ...JSON_TYPE, 'X-Row-Count': '1' }));
  refused('code', () => check('GET', '/api/cone', 400, toJson({ ...error, code: 'internal_error' })));
  refused('unknown path', () => check('GET', '/api/nothing', 200, '{}'));
  refused('404 of a known path', () => check('GET', '/api/objects/5', 404, toJson({ ...error, code: 'not_found' })));
  check('GET', '/api/objects/5%2F6', 404, toJson({ ...error, code: 'not_found', param: undefined }));
  check('GET', '/api/cone', 500, toJson({ ...error, code: 'internal_error', param: undefined, retryable: true }));
  check('GET', '/healthz', 200, '{"status": "ok"}');
});

test.run();
