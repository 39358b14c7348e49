/**
 * Everything that the OpenAPI document says about answers occurs in one: no property, value, null or alternative is
 * documented in vain. A capability has its part in `occurs.ts` among its tests.
 */

import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { API } from '../../capabilities.ts';
import { eventually, putBytes, withApp } from '../http/support.ts';
import { Client, parseAnswer, text, withServer } from '../server/support.ts';
import { documentedBy, startNoting } from './coverage.ts';
import {
  CONE,
  EVERYTHING,
  expectStatus,
  ids,
  inSources,
  inWorld,
  LEVELS,
  lookup,
  names,
  position,
  RECENT,
  test,
} from './occurring.ts';
import { configWith, withoutDatabase } from './support.ts';
import { assertDocumented } from './validate.ts';
import { IDS, NAMES } from './world.ts';

const seen = startNoting();

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
    await expectStatus(app, 200, '/api/cone?ra=1&dec=-80&radius_arcsec=5');
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

test('cones over catalogs that are searched, left out, missing, and cannot be read', () =>
  inSources(async app => {
    for (const level of LEVELS) await expectStatus(app, 200, `${CONE}&detail=${level}`);
  }));

const FILTERED = [CONE, `/api/objects/${IDS.matched}?`, `/api/tns/${NAMES.found}?`];

test('errors', async () => {
  await inWorld(60, {}, async app => {
    await expectStatus(app, 400, ...[...FILTERED, `${RECENT}?`].map(path => `${path}&detail=none`));
    await lookup(app, { inputs: [] }, 400);
    const hours = Array.from({ length: 12 }, (_, i) => ({ kind: 'position', ra: 2 * i, dec: 5 * i, radius_arcsec: 1 }));
    for (const search of ['', '?ra_unit=deg', '?ra_unit=h'])
      assert.is((await app.post(`/api/lookup${search}`, { inputs: hours })).status, 200);
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
    for (const path of [...FILTERED, RECENT, '/api/lookup']) {
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

const parts = globSync('../../capabilities/*/occurs.ts', { cwd: fileURLToPath(new URL('.', import.meta.url)) });
for (const part of parts.sort()) await import(part);

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
  const documented = documentedBy(openApiDocument(API, configWith()));
  const isNeeded = (item: string) => !Object.keys(NEVER_NEEDED).some(place => item.endsWith(place));
  const missing = [...documented].filter(item => !seen.has(item) && isNeeded(item));
  assert.is(missing.join('\n'), '', `${missing.length} of ${documented.size} documented things were not seen`);
});

test.run();
