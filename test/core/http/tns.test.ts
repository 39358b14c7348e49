/** GET /api/tns/{name}, and names in the other operations (docs/contract.md, Objects; Registry names). */

import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTime } from '../../../src/core/base/times.ts';
import { delivery, eventually, type Json, loadRegistry, NOW_US, type Running, startApp, withApp } from './support.ts';

const epochUs = Date.now() * 1000 - 60e6 + 7;

const test = suite<{ running: Running }>('http/tns');

test.before(async context => {
  context.running = await startApp(async world => {
    await world.writer.ingest(
      [1n, 2n, 3n].map(id => delivery(id, { position: { ra: 150 + 0.0005 * Number(id - 1n), dec: 2 } })),
      NOW_US,
    );
    await loadRegistry(world, epochUs, [
      { name: '2026Abc', objid: 77, namePrefix: 'SN', ra: 150, dec: 2, classification: 'SN Ia', redshift: 0.03 },
      { name: '2026twice', objid: 12, ra: 10, dec: -10 },
      { name: '2026TWICE', objid: 11, ra: 150.0005, dec: 2 },
      { name: '2026void', ra: 20, dec: -20, namePrefix: null },
      { name: '20260102A', ra: 150.0005, dec: 2, namePrefix: 'FRB' },
    ]);
  });
});

test.after(({ running }) => running.close());

test('a name with the prefix that its own row has [P13]', async ({ running: { app } }) => {
  for (const name of ['FRB20260102A', 'frb 20260102a', '20260102A']) {
    const { status, tns, normalized } = await app.result(`/api/tns/${encodeURIComponent(name)}`);
    assert.equal([status, tns.name_prefix, normalized.name], ['objects_found', 'FRB', '20260102a'], name);
  }
  const { status, tns } = (await app.lookup([{ kind: 'tns', name: 'FRB 20260102A' }])).results[0];
  assert.equal([status, tns.name], ['objects_found', '20260102A']);
  // The registry has objects with these names, which look like other inputs.
  for (const name of ['FRB2026abc', 'TDE20260102A'])
    assert.is((await app.result(`/api/tns/${name}`)).status, 'tns_name_not_found', name);
  assert.is((await app.get('/api/tns/ZTF20260102A')).status, 400);
});

test('a name: the record, the epoch, the objects around [Objects; Registry names]', async ({ running: { app } }) => {
  const { status, body } = await app.get('/api/tns/SN%202026abc?radius_arcsec=2&detail=position');
  assert.is(status, 200);
  assert.equal(Object.keys(body), ['provenance', 'detail', 'count', 'provenance_sets', 'truncated', 'results']);
  assert.equal([body.detail, body.count, body.truncated], ['position', 1, false]);
  const { objects, ...result } = body.results[0];
  assert.equal(Object.entries(result), [
    ['index', 0],
    ['kind', 'tns'],
    ['input', 'SN 2026abc'],
    ['normalized', { kind: 'tns', name: '2026abc', radius_arcsec: 2 }],
    ['status', 'objects_found'],
    ['total', 2],
    ['truncated', false],
    ['truncation', null],
    ['tns', result.tns],
    ['tns_snapshot_epoch', formatTime(epochUs)],
  ]);
  assert.equal(Object.entries(result.tns), [
    ['objid', 77],
    ['name', '2026Abc'],
    ['classification', 'SN Ia'],
    ['redshift', 0.03],
    ['url', 'https://www.wis-tns.org/object/2026Abc'],
    ['name_prefix', 'SN'],
    ['ra', 150],
    ['dec', 2],
  ]);
  assert.equal(
    objects.map((object: Json) => [object.diaObjectId, object.separation_arcsec]),
    [
      [1, 0],
      [2, separationArcsec(150, 2, 150.0005, 2)],
    ],
  );
});

test('the default radius; page_size and cursor are ignored', async ({ running: { app } }) => {
  const { normalized, total } = await app.result('/api/tns/2026abc?page_size=zzz&cursor=&ra=x');
  assert.equal([normalized.radius_arcsec, total], [1, 1]);
});

test('however it is written', async ({ running: { app } }) => {
  const ways = ['2026abc', 'SN2026abc', 'at 2026ABC', '  At%09 2026 a b c ', 'sN%C2%A02026abc', '2026%E2%80%83abc'];
  for (const way of ways) {
    const { normalized, status } = await app.result(`/api/tns/${way.replaceAll(' ', '%20')}`);
    assert.equal([normalized.name, status], ['2026abc', 'objects_found'], way);
  }
});

test('of several rows of a name the lowest objid counts [Registry names]', async ({ running: { app } }) => {
  const { tns, total } = await app.result('/api/tns/AT2026twice');
  assert.equal([tns.objid, tns.name, total], [11, '2026TWICE', 1]);
});

test('nothing there; no such name', async ({ running: { app } }) => {
  const nothing = await app.result('/api/tns/2026void');
  assert.equal([nothing.status, nothing.total, nothing.tns.name], ['no_rubin_object', 0, '2026void']);
  assert.is(nothing.tns.name_prefix, null);
  const { objects, ...unknown } = await app.result('/api/tns/2026zzz');
  assert.equal(objects, []);
  assert.equal(unknown, {
    index: 0,
    kind: 'tns',
    input: '2026zzz',
    normalized: { kind: 'tns', name: '2026zzz', radius_arcsec: 1 },
    status: 'tns_name_not_found',
    total: null,
    truncated: false,
    truncation: null,
    tns: null,
    tns_snapshot_epoch: formatTime(epochUs),
  });
});

test('a bad name is a 400 that names it, after detail, filters and response, before the radius', async ({
  running: { app },
}) => {
  const long = `2026${'a'.repeat(61)}`;
  const padded = `${'%20'.repeat(58)}2026abc`;
  for (const name of [
    '%20',
    'SN',
    '2026',
    '20261',
    'x2026abc',
    'SN%20SN2026abc',
    '2026ab-c',
    '202x',
    '%zz',
    long,
    padded,
  ]) {
    const { status, body } = await app.get(`/api/tns/${name}`);
    const isBare = name === '20261';
    assert.equal([status, body.param], isBare ? [200, undefined] : [400, 'name'], name);
  }
  assert.is((await app.get(`/api/tns/${'%20'.repeat(57)}2026abc`)).status, 200, '64 characters as received');
  const param = async (query: string) => (await app.get(`/api/tns/-?${query}`)).body.param;
  assert.is(await param('radius_arcsec=0&response=x&zzz_min=1&detail=x'), 'detail');
  assert.is(await param('radius_arcsec=0&response=x&zzz_min=1'), 'zzz_min');
  assert.is(await param('radius_arcsec=0&response=x'), 'response');
  assert.is(await param('radius_arcsec=0'), 'name');
  for (const radius of ['', '0', '-1', '60.01', 'x', 'nan'])
    assert.is((await app.get(`/api/tns/2026abc?radius_arcsec=${radius}`)).body.param, 'radius_arcsec', radius);
  assert.is((await app.get('/api/tns/2026abc?radius_arcsec=60')).status, 200);
});

test('the status of the service says that names can be resolved', async ({ running: { app } }) => {
  const { tns_resolution, tns_snapshot_epoch } = (await app.get('/api/status')).body;
  assert.equal([tns_resolution, tns_snapshot_epoch], ['available', formatTime(epochUs)]);
});

test('a snapshot that is absent or stale: unavailable, with 200, until there is a new one [Registry names]', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(1n)], NOW_US);
    },
    async (app, world) => {
      const unavailable = async () => {
        const { status, objects, total, tns, tns_snapshot_epoch } = await app.result('/api/tns/2026abc');
        assert.equal([status, objects, total], ['resolver_unavailable', [], null]);
        assert.equal([tns, tns_snapshot_epoch], [null, null]);
        const { results } = await app.lookup([
          { kind: 'tns', name: '2026abc' },
          { kind: 'id', diaObjectId: 1 },
        ]);
        assert.equal(
          results.map((result: Json) => result.status),
          ['resolver_unavailable', 'crossmatch_pending'],
          'others are answered',
        );
        const filtered = await app.result('/api/tns/2026abc?reliability_min=0');
        assert.equal(
          [filtered.qualifying_total, filtered.qualifies, filtered.qualifies_reason],
          [null, false, 'resolver_unavailable'],
        );
        const { body } = await app.get('/api/status');
        assert.equal([body.database, body.tns_resolution, body.tns_snapshot_epoch], ['ok', 'unavailable', null]);
      };
      await unavailable();
      await loadRegistry(world, Date.now() * 1000 - 101e6, [{ name: '2026abc' }]);
      await unavailable();
      await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc' }]);
      await eventually('it resolves again', async () => {
        const { status } = await app.result('/api/tns/2026abc');
        return status === 'objects_found' || undefined;
      });
    },
    { TNS_SNAPSHOT_MAX_AGE_SECONDS: '100' },
  ));

test('at most so many objects, by both limits', async () => {
  const fill = async (world: Parameters<typeof loadRegistry>[0]) => {
    await world.writer.ingest(
      [5n, 4n, 3n].map(id => delivery(id)),
      NOW_US,
    );
    await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc' }]);
  };
  for (const [perPosition, perRequest, listed, truncation, truncated] of [
    ['2', '9', [3, 4], 'per_input_limit', false],
    ['2', '1', [3], 'per_request_limit', true],
  ] as const) {
    await withApp(
      fill,
      async app => {
        const { body } = await app.get('/api/tns/2026abc');
        const [result] = body.results;
        assert.equal(
          result.objects.map((object: Json) => object.diaObjectId),
          listed,
        );
        assert.equal(
          [result.total, result.truncated, result.truncation, body.truncated],
          [3, true, truncation, truncated],
        );
      },
      { API_MAX_OBJECTS_PER_POSITION: perPosition, API_MAX_OBJECTS_PER_REQUEST: perRequest },
    );
  }
});

test.run();
