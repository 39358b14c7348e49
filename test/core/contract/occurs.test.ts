/**
 * Everything that the OpenAPI document says about answers occurs in one: no property, value, null or alternative is
 * documented in vain.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CATALOGS, PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { LISTED_STATUSES } from '../../../src/core/contract/enums.ts';
import { MATCH_FORMATS, TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { openApiDocument } from '../../../src/core/documents/openapi/document.ts';
import { API } from '../../capabilities.ts';
import { importLines } from '../../commands/lines.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { registrationOf } from '../catalogs/registration.ts';
import { inWorld as inCatalogs } from '../crossmatch/world.ts';
import { eventually, putBytes, type Settings, TestApp, withApp } from '../http/support.ts';
import { writeUniqFits } from '../http/uniq_fits.ts';
import { Client, parseAnswer, text, withServer } from '../server/support.ts';
import { Coverage, startNoting } from './coverage.ts';
import { configWith, withoutDatabase } from './support.ts';
import { assertDocumented, newAjv } from './validate.ts';
import { IDS, NAMES, worldLines } from './world.ts';

const test = suite('contract/occurs');

const seen = startNoting();

const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';
const RECENT = '/api/recent-crossmatches';
const MAP = '/api/sky-map';
const STREAM = '/api/stream/matches';
const OBJECT_STREAM = '/api/stream/objects';
const SOURCES = '/api/sources?ra=150&dec=2';
const OBJECTS = '/api/objects';
/** A busy machine must not fail the test. */
const PATIENT = { API_REQUEST_BUDGET_SECONDS: '120' };
const LEVELS = ['ids', 'position', 'matches', 'full'];

/** Runs a test with an app over the world. */
async function inWorld(
  registryAgeSeconds: number | undefined,
  settings: Settings,
  body: (app: TestApp) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-occurs-'));
  try {
    await importLines(join(directory, 'data'), worldLines(registryAgeSeconds));
    const app = await new TestApp(join(directory, 'data'), { ...PATIENT, ...settings }).ready();
    try {
      await body(app);
    } finally {
      await app.app.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function expectStatus(app: TestApp, status: number, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await app.get(path);
    assert.is(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`);
  }
}

async function lookup(app: TestApp, body: object, status = 200) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await app.get('/api/lookup', { method: 'POST', headers, body: JSON.stringify(body) });
  assert.is(answer.status, status, answer.text.slice(0, 300));
  return answer.body;
}

const ids = Object.values(IDS).map(diaObjectId => ({ kind: 'id', diaObjectId }));
const position = { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 };
const nowhere = { ...position, dec: -80 };
const names = Object.values(NAMES).map(name => ({ kind: 'tns', name, radius_arcsec: 5 }));
const EVERYTHING = [...ids, position, nowhere, ...names, { kind: 'unheard of' }, 17];

test('objects, cones, names, lookups and recent crossmatches at every level', () =>
  inWorld(60, {}, async app => {
    for (const level of LEVELS) {
      const detail = `detail=${level}`;
      await expectStatus(app, 200, ...Object.values(IDS).map(id => `/api/objects/${id}?${detail}`));
      await expectStatus(
        app,
        200,
        `${CONE}&${detail}`,
        `${CONE}&${detail}&page_size=1`,
        `${RECENT}?${detail}&page_size=1`,
      );
      await expectStatus(app, 200, `${RECENT}?${detail}`, `${RECENT}?${detail}&time_field=event_time`);
      await expectStatus(app, 200, ...Object.values(NAMES).map(name => `/api/tns/${name}?radius_arcsec=5&${detail}`));
      await lookup(app, { inputs: EVERYTHING, detail: level });
    }
    await expectStatus(
      app,
      200,
      ...API.operations.filter(({ isDiscovery }) => isDiscovery).map(({ path }) => path),
      '/api/task/',
    );
    await expectStatus(app, 200, '/api/cone?ra=1&dec=-80&radius_arcsec=5', MAP);
    assert.is((await app.post('/api/sample', { inputs: EVERYTHING })).status, 200);
  }));

/** A value that the filter takes. */
const FILTER_VALUES = [...PROJECT_CATALOGS.filters.values()].map(
  ({ name, kind }) => [name, kind === 'catalog' ? 'gaia_dr3' : 1] as const,
);

test('every filter, with objects and with counts', () =>
  inWorld(60, {}, async app => {
    for (const [name, value] of FILTER_VALUES) {
      await lookup(app, { inputs: EVERYTHING, filters: { [name]: value } });
      await lookup(app, { inputs: EVERYTHING, filters: { [name]: value }, response: 'count' });
      await expectStatus(app, 200, `${CONE}&${name}=${value}`, `/api/objects/${IDS.matched}?${name}=${value}`);
      await expectStatus(app, 200, `/api/tns/${NAMES.found}?${name}=${value}`);
    }
    for (const catalog of ['des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4']) {
      await expectStatus(app, 200, `/api/objects/${IDS.matched}?catalog=${catalog}`);
    }
    await lookup(app, { inputs: EVERYTHING, filters: { reliability_min: 7 } });
    for (const path of [CONE, `/api/objects/${IDS.matched}?`, `/api/tns/${NAMES.found}?`]) {
      await expectStatus(app, 200, `${path}&response=count`, `${path}&response=count&reliability_min=0.5`);
    }
  }));

test('listings that are cut by the limits', () =>
  inWorld(60, { API_MAX_OBJECTS_PER_POSITION: '3', API_MAX_OBJECTS_PER_REQUEST: '4' }, async app => {
    const tns = names[0]!;
    const first = (await lookup(app, { inputs: [position, tns] })).results;
    assert.equal(
      first.map((result: { truncation: unknown }) => result.truncation),
      ['per_input_limit', 'per_request_limit'],
    );
    const second = (await lookup(app, { inputs: [tns, position] })).results;
    assert.equal(
      second.map((result: { truncation: unknown }) => result.truncation),
      ['per_input_limit', 'per_request_limit'],
    );
  }));

test('a registry that is stale, and one that is not there', async () => {
  for (const age of [100_000, undefined]) {
    await inWorld(age, {}, async app => {
      await expectStatus(
        app,
        200,
        '/api/status',
        `/api/tns/${NAMES.found}`,
        `/api/tns/${NAMES.found}?reliability_min=0`,
      );
      await lookup(app, { inputs: names, filters: { reliability_min: 0 } });
    });
  }
});

test('the coverage of every catalog', () =>
  withApp(
    async ({ writer }) => {
      for (const definition of CATALOGS) await writer.putCatalog(registrationOf(definition));
    },
    app => expectStatus(app, 200, `${MAP}?layer=coverage&resolution=0`),
    PATIENT,
  ));

test('sources of catalogs that are searched, left out, missing, and cannot be read', () =>
  inCatalogs(async catalogs => {
    const place = { ra: 150, dec: 2 };
    const further = Array.from({ length: 8 }, (_, i) => ({ ra: 150, dec: 2.1 + i / 60 }));
    await catalogs.addCatalog(
      'gaia_dr3',
      [place, { ra: 150, dec: 2.0001 }, ...further],
      {},
      Array.from({ length: 10 }, (_, i) => BigInt(5 + i)),
    );
    await catalogs.addCatalog('des_y6_gold', [{ ra: 10, dec: -60 }]);
    const { location } = await catalogs.addCatalog('delve_dr3_gold', [place]);
    await catalogs.writer.keepHistory(true);
    await catalogs.ingest([place, place]);
    const since = catalogs.store.lastSequence();
    await catalogs.crossmatch({ properMotion: true });
    const near = `${SOURCES}&radius_arcsec=1`;
    // A single source has no density.
    const whole = await new TestApp(join(catalogs.directory, 'data'), PATIENT).ready();
    await expectStatus(whole, 200, near);
    await whole.app.close();
    rmSync(location, { recursive: true });
    const app = await new TestApp(join(catalogs.directory, 'data'), PATIENT).ready();
    await expectStatus(app, 200, near, `${near}&limit=1`);
    await expectStatus(app, 400, SOURCES);
    for (const level of LEVELS) await expectStatus(app, 200, `${CONE}&detail=${level}`);
    assert.is((await app.get(near, { method: 'DELETE' })).status, 405);
    const ofSource = '/api/sources/gaia_dr3/5';
    await expectStatus(app, 200, ofSource, `${ofSource}?limit=1`);
    await expectStatus(app, 400, '/api/sources/gaia_dr3/x');
    const sample = {
      inputs: [
        { kind: 'position', ra: 150, dec: 2 },
        { kind: 'position', ra: 150, dec: 2.002 },
      ],
    };
    assert.is((await app.post('/api/sample', { inputs: [{ kind: 'id', diaObjectId: 1 }] })).status, 200);
    for (const { name } of TABLE_FORMATS)
      assert.is((await app.post(`/api/sample?format=${name}`, sample)).status, 200, name);
    const labelled = [
      { kind: 'position', ...place },
      { kind: 'position', ...place, label: 'a' },
    ];
    const { body: changed } = await app.post('/api/sample', { inputs: labelled, since });
    assert.is(changed.changes.length, 2);
    assert.is((await app.post('/api/sample', sample)).status, 200);
    assert.is((await app.post('/api/sample', {})).status, 400);
    await expectStatus(app, 405, '/api/sample');
    for (const { name } of TABLE_FORMATS)
      assert.is((await app.post(`/api/crossmatch?format=${name}`, 'ra,dec\n150,2\n')).status, 200, name);
    assert.is((await app.post('/api/crossmatch', 'x\n1\n')).status, 400);
    await expectStatus(app, 405, '/api/crossmatch');
    assert.is((await app.get('/api/sources/gaia_dr3/1', { method: 'DELETE' })).status, 405);
    await app.app.close();
    await expectStatus(app, 503, near, '/api/sources/gaia_dr3/1');
    assert.is((await app.post('/api/crossmatch', 'ra,dec\n150,2\n')).status, 503);
  }));

test('areas of every kind, and the objects by time', () =>
  inWorld(60, {}, async app => {
    const area = async (query: string, body: string | Uint8Array, status = 200) => {
      const answer = await app.post(`/api/area?${query}`, body, null);
      assert.is(answer.status, status, `${query}: ${answer.text.slice(0, 300)}`);
      return answer.body;
    };
    const map = writeUniqFits({
      cells: Array.from({ length: 12 }, (_, cell) => cell),
      order: 0,
      density: Array(12).fill(1),
    });
    const window = 'start=2000-01-01&end=2100-01-01';
    for (const level of LEVELS) await area(`detail=${level}&${window}&time_field=event_time&level=1`, map);
    for (const kind of ['CIRCLE 150 2 1', 'POLYGON 149 1 151 1 150 3', 'BOX 150 2 2 2', 'RANGE 149 151 1 3', '0/0-11'])
      for (const query of ['catalog=gaia_dr3', 'response=count']) await area(query, kind);
    const { next_cursor } = await area('page_size=1', '0/0-11');
    await area(`cursor=${next_cursor}`, '0/0-11');
    await area(`response=count&level=1&${window}&time_field=event_time&reliability_min=0`, map);
    await area('response=table&detail=ids', '0/0-11');
    await area('', 'nothing', 400);
    assert.is((await app.get('/api/area', { method: 'DELETE' })).status, 405);
    for (const level of LEVELS)
      await expectStatus(app, 200, `${OBJECTS}?detail=${level}&${window}&time_field=event_time&reliability_min=0`);
    await expectStatus(app, 200, OBJECTS, `${OBJECTS}?page_size=1`);
    for (const { name } of LISTED_STATUSES) {
      await expectStatus(app, 200, `${OBJECTS}?status=${name}`, `${OBJECTS}?response=count&status=${name}`);
      for (const response of ['objects', 'count']) await area(`response=${response}&status=${name}`, '0/0-11');
    }
    await expectStatus(app, 200, `${OBJECTS}?response=count`);
    await expectStatus(app, 200, `${OBJECTS}?response=count&${window}&time_field=event_time&reliability_min=0`);
    await expectStatus(app, 400, `${OBJECTS}?start=x`);
    assert.is((await app.get(OBJECTS, { method: 'DELETE' })).status, 405);
    await app.app.close();
    await area('', '0/0-11', 503);
    await expectStatus(app, 503, OBJECTS);
  }));

const FILTERED = [CONE, `/api/objects/${IDS.matched}?`, `/api/tns/${NAMES.found}?`];

test('errors', async () => {
  await inWorld(60, {}, async app => {
    await expectStatus(
      app,
      400,
      ...[...FILTERED, `${RECENT}?`].map(path => `${path}&detail=none`),
      `${MAP}?layer=stars`,
      `${STREAM}?from=x`,
      `${OBJECT_STREAM}?from=x`,
    );
    await lookup(app, { inputs: [] }, 400);
    for (const path of [STREAM, OBJECT_STREAM])
      assert.is((await app.post(path, 'CIRCLE 1 2', 'text/plain')).status, 400);
    const two = 'gaia_dr3.ruwe_max=1&des_y6_gold.dnf_z_min=1';
    await expectStatus(app, 400, ...FILTERED.map(path => `${path}&${two}`), `${RECENT}?${two}&response=count`);
    await expectStatus(app, 404, '/api/nothing', '/api/objects/1%2F2');
    for (const path of [
      '/api/lookup',
      '/api/task/',
      '/api/status',
      '/api/describe',
      '/openapi.json',
      RECENT,
      MAP,
      STREAM,
      ...FILTERED,
    ]) {
      assert.is((await app.get(path, { method: 'DELETE' })).status, 405, path);
    }
    assert.is((await app.get('/api/task/', { method: 'OPTIONS' })).status, 200);
  });
  await withApp(
    async () => {},
    async (app, { store }) => {
      putBytes(store, 5n, Buffer.from([0xc1, 1, 2]));
      await expectStatus(app, 500, '/api/objects/5');
    },
  );
  await inWorld(60, { API_REQUEST_BUDGET_SECONDS: '0.002' }, async app => {
    // One that is quick from the start is begun at once: ten positions are the most that counts as such.
    const inputs = Array.from({ length: 10 }, () => ({ ...position, radius_arcsec: 60 }));
    await eventually('its budget is spent while it runs', () =>
      lookup(app, { inputs, detail: 'full' }, 400).then(
        () => true,
        () => undefined,
      ),
    );
  });
  await withoutDatabase({}, async ask => {
    for (const path of [...FILTERED, RECENT, MAP, STREAM, '/api/lookup']) {
      const post = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ inputs: ids }),
      };
      assert.is((await ask(path, path === '/api/lookup' ? post : {})).status, 503, path);
    }
    assert.is((await ask('/api/status')).status, 200);
  });
});

test('errors of what is no request that an operation sees [Errors]', async () => {
  const config = configWith();
  await withServer(
    async () => text(''),
    async ({ port }) => {
      const requests: [status: number, ...lines: string[]][] = [
        [400, 'no request'],
        [408, 'GET /api/objects/1 HTTP/1.1'],
        [431, 'GET /api/objects/1 HTTP/1.1', `X: ${'x'.repeat(20_000)}`, '', ''],
        [501, 'POST /api/objects/1 HTTP/1.1', 'Host: x', 'Transfer-Encoding: gzip, chunked', '', '0', '', ''],
        [505, 'GET /api/objects/1 HTTP/2.0', 'Host: x', 'Connection: close', '', ''],
      ];
      for (const [expected, ...lines] of requests) {
        const client = new Client(port);
        client.socket.write(lines.join('\r\n'));
        await client.ended;
        const { status, headers, body } = parseAnswer(client.received);
        assert.is(status, expected);
        const asked = { method: 'GET', url: `http://nearsky.test/api/${status === 400 ? 'status' : 'objects/1'}` };
        assertDocumented(asked, { status, headers: new Headers([...headers]) }, body, config);
      }
    },
    // Under Deno a connection counts as idle after an answer that came before the end of its request.
    { headersMs: 200, requestMs: 200, keepAliveMs: 200 },
  );
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

function send(app: TestApp, path: string, fields: Readonly<Record<string, string>>) {
  return app.get(path, { method: 'POST', headers: FORM, body: new URLSearchParams(fields).toString() });
}

/** Every resource of a job, read and changed: for a finished job, and for a missing one. */
async function everyResource(app: TestApp, job: string): Promise<void> {
  await eventually('the job is done', async () => (await app.get(`${job}/phase`)).text === 'COMPLETED' || undefined);
  const parts = [
    '',
    ...['phase', 'executionduration', 'destruction', 'quote', 'owner', 'error'].map(part => `/${part}`),
  ];
  const reads = [...parts, '/parameters', '/results', '/results/result'];
  for (const part of reads) {
    await expectStatus(app, 200, `${job}${part}`);
    assert.is((await app.get(`${job}${part}`, { method: 'HEAD' })).status, 200);
    const { status, headers } = await app.get(`${job}${part}`, { method: 'PUT' });
    assert.is(status, 405);
    assert.match(headers.get('Allow') ?? '', /^GET, HEAD/);
  }
  const none = job.replace(/[^/]+$/, 'none');
  await expectStatus(app, 404, ...reads.map(part => `${none}${part}`));
  for (const [part, good, bad] of [
    ['phase', 'ABORT', 'STOP'],
    ['destruction', '2030-01-01T00:00:00Z', 'never'],
    ['executionduration', '60', 'x'],
  ] as const) {
    for (const [at, value, status] of [
      // Only the removal time of a finished job can be changed.
      [job, good, part !== 'destruction' ? 400 : 303],
      [job, bad, 400],
      [none, good, 404],
    ] as const)
      assert.is((await send(app, `${at}/${part}`, { [part]: value })).status, status, `${part}=${value}`);
  }
  assert.is((await send(app, job, { ACTION: 'KEEP' })).status, 400);
  assert.is((await send(app, none, { ACTION: 'DELETE' })).status, 404);
  assert.is((await app.get(none, { method: 'DELETE' })).status, 404);
}

test('jobs of tables', () =>
  inWorld(60, {}, async app => {
    const make = async () => {
      const headers = { Prefer: 'respond-async', 'Content-Type': 'text/csv' };
      const made = await app.get('/api/crossmatch?x=y', { method: 'POST', headers, body: 'ra,dec\n150,2\n' });
      assert.is(made.status, 202, made.text);
      return new URL(made.headers.get('Location')!).pathname;
    };
    const [job, other] = [await make(), await make()];
    await everyResource(app, job);
    assert.is((await app.get(job, { method: 'DELETE' })).status, 303);
    assert.is((await send(app, other, { ACTION: 'DELETE' })).status, 303);
    await expectStatus(app, 200, '/vo/jobs');
    await expectStatus(app, 400, '/vo/jobs?LAST=0');
    assert.is((await app.get('/vo/jobs', { method: 'PUT' })).status, 405);
  }));

test('jobs of samples', () =>
  inWorld(60, {}, async app => {
    const make = async (format: string) => {
      const headers = { Prefer: 'respond-async', 'Content-Type': 'text/csv' };
      const path = `/api/sample?format=${format}&x=y`;
      const made = await app.get(path, { method: 'POST', headers, body: 'ra,dec\n150,2\n' });
      assert.is(made.status, 202, made.text);
      return new URL(made.headers.get('Location')!).pathname;
    };
    const [job, other] = [await make('json'), await make('csv')];
    await everyResource(app, job);
    assert.is((await app.get(job, { method: 'DELETE' })).status, 303);
    assert.is((await send(app, other, { ACTION: 'DELETE' })).status, 303);
    await expectStatus(app, 200, '/vo/samples');
    await expectStatus(app, 400, '/vo/samples?LAST=0');
    assert.is((await app.get('/vo/samples', { method: 'PUT' })).status, 405);
    for (const { name } of MATCH_FORMATS)
      assert.is((await app.post(`/api/sample?format=${name}`, 'ra,dec\n150,2\n', 'text/csv')).status, 200, name);
  }));

/** More rows than the answer may have. */
const CUT = { QUERY: 'SELECT ra FROM objects', MAXREC: '1' };

const whyNoQueries = duckdbObstacle();

needs(test, whyNoQueries)('queries, at once and as jobs [Status and descriptions]', () =>
  inWorld(60, {}, async app => {
    const query = { LANG: 'ADQL', QUERY: 'SELECT TOP 1 diaObjectId, ra FROM objects', FORMAT: 'json' };
    const sync = '/vo/tap/sync';
    await eventually('the tables are made', async () => (await send(app, sync, query)).status === 200 || undefined);
    for (const top of ['TOP 1', ''])
      await expectStatus(
        app,
        200,
        `${sync}?${new URLSearchParams({ ...query, QUERY: `SELECT ${top} ra FROM objects`, MAXREC: '1' })}`,
      );
    for (const format of ['votable', 'csv', 'tsv', 'fits', 'parquet', 'arrow', 'ndjson'])
      await expectStatus(app, 200, `${sync}?${new URLSearchParams({ ...query, FORMAT: format })}`);
    await expectStatus(app, 400, `${sync}?LANG=x`);
    assert.is((await send(app, sync, { ...query, ...CUT })).status, 200);
    assert.is((await send(app, sync, { LANG: 'x' })).status, 400);
    assert.is((await app.get(sync, { method: 'PUT' })).status, 405);
    const documents = ['capabilities', 'availability', 'tables', 'tables/nearsky.objects', 'examples'];
    for (const name of documents) {
      await expectStatus(app, 200, `/vo/tap/${name}`);
      await expectStatus(app, 404, '/vo/tap/tables/none');
      assert.is((await app.get(`/vo/tap/${name}`, { method: 'PUT' })).status, 405);
    }
    const make = async (more = {}) => {
      const made = await send(app, '/vo/tap/async', { ...query, ...more });
      assert.is(made.status, 303, made.text);
      return new URL(made.headers.get('Location')!).pathname;
    };
    const job = await make({ PHASE: 'RUN' });
    await everyResource(app, job);
    await everyResource(app, await make({ PHASE: 'RUN', ...CUT }));
    const [waiting, wrong] = [await make(), await make({ QUERY: 'x', PHASE: 'RUN' })];
    assert.is((await send(app, `${waiting}/parameters`, { MAXREC: '7' })).status, 303);
    assert.is((await send(app, `${waiting}/executionduration`, { EXECUTIONDURATION: '60' })).status, 303);
    assert.is((await send(app, `${await make()}/phase`, { PHASE: 'ABORT' })).status, 303);
    await expectStatus(app, 200, '/vo/tap');
    assert.is((await app.get('/vo/tap', { method: 'PUT' })).status, 405);
    assert.is((await app.get(`${waiting}/parameters`, { method: 'POST' })).status, 400);
    assert.is((await send(app, '/vo/tap/async/none/parameters', {})).status, 404);
    await eventually('it fails', async () => (await app.get(`${wrong}/phase`)).text === 'ERROR' || undefined);
    await expectStatus(app, 200, `${wrong}/error`, '/vo/tap/async');
    await expectStatus(app, 400, '/vo/tap/async?LAST=0');
    assert.is((await send(app, '/vo/tap/async', { ...query, PHASE: 'STOP' })).status, 400);
    assert.is((await app.get('/vo/tap/async', { method: 'PUT' })).status, 405);
    assert.is((await send(app, job, { ACTION: 'DELETE' })).status, 303);
    assert.is((await app.get(waiting, { method: 'DELETE' })).status, 303);
  }),
);

/** The parts of the contract's schemas that this service never needs, with the reason. Ends of the places. */
const NEVER_NEEDED: Readonly<Record<string, string>> = {
  'coverage_map/properties/footprint_moc_order=null': 'every catalog has a coverage map',
  'coverage_map/properties/resolution_arcmin=null': 'every catalog has a coverage map',
  'Provenance/properties/crossmatch_radius_arcsec=null': 'the radius is always set',
  ...Object.fromEntries(
    ['normalized_separation', 'match_probability', 'any_match_probability'].map(key => [
      `sources/items/properties/${key}`,
      'the error of a position that is asked for is not known',
    ]),
  ),
};

test('everything documented was seen [Status and descriptions]', () => {
  const documented = new Coverage(openApiDocument(API, configWith()), newAjv()).documented();
  const isNeeded = (item: string) => !Object.keys(NEVER_NEEDED).some(place => item.endsWith(place));
  const missing = [...documented].filter(item => !seen.has(item) && isNeeded(item));
  assert.is(missing.join('\n'), '', `${missing.length} of ${documented.size} documented things were not seen`);
});

test.run();
