/** When the service cannot answer: what clients see, and that it recovers (docs/contract.md, Errors; Time budget; decisions P1, P3, P4). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import {
  delivery,
  eventually,
  match,
  NOW_US,
  PROVENANCE,
  putBytes,
  searched,
  TestApp,
  withApp,
  withDirectory,
} from './support.ts';

const test = suite('http/trouble');

const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=10';

async function assertUnavailable(app: TestApp): Promise<void> {
  const inputs = [{ kind: 'id', diaObjectId: 5 }];
  const paths = ['/api/objects/5', CONE, '/api/tns/2026abc', '/api/recent-crossmatches', '/api/lookup'];
  for (const path of paths) {
    const { status, headers, body, text } = await (path === '/api/lookup' ? app.post(path, { inputs }) : app.get(path));
    assert.equal([status, headers.get('Retry-After')], [503, '30'], path);
    assert.equal([body.code, body.retryable, body.param], ['service_unavailable', true, undefined]);
    assert.not.match(text, /mdb|lmdb|tmp/i, 'nothing of the machine in the message');
    assert.is((await app.get(path, { method: 'DELETE' })).status, 405, 'the method comes first');
  }
  const { status, headers, body } = await app.get('/api/status');
  assert.equal([status, headers.get('Retry-After')], [200, null]);
  assert.equal([body.database, body.tns_resolution, body.tns_snapshot_epoch], ['unavailable', 'unavailable', null]);
  assert.is((await app.get('/healthz')).status, 200);
  assert.equal([(await app.get('/readyz')).status, (await app.get('/readyz')).headers.get('Retry-After')], [503, '30']);
}

test('without a database all is 503 but status and health; when it appears, it is served [P1; Headers; Status and descriptions]', () =>
  withDirectory(async directory => {
    const app = new TestApp(directory);
    await assertUnavailable(app);
    const store = openStore(directory, 'write');
    await new Writer(store).ingest([delivery(5n)], NOW_US);
    await app.ready();
    assert.is((await app.result('/api/objects/5')).status, 'crossmatch_pending');
    assert.is((await app.result(CONE)).total, 1);
    assert.equal([(await app.get('/api/status')).body.database, (await app.get('/readyz')).status], ['ok', 200]);
    await app.app.close();
    await store.close();
  }));

test('a database that cannot be read is one that is not there [Time budget]', () =>
  withDirectory(async directory => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'nearsky.mdb'), Buffer.alloc(100_000, 'no database '));
    const app = new TestApp(directory);
    await assertUnavailable(app);
    await eventually(
      'the log says why',
      async () => app.logged.some(([event]) => event === 'index_failed') || undefined,
    );
    await app.app.close();
  }));

test('a fault of our own is a 500 without detail, in the log with it [P3]', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(5n), delivery(6n)], NOW_US);
    },
    async (app, { store }) => {
      putBytes(store, 7n, Buffer.from([0xc1, 1, 2]));
      const { status, body, headers } = await app.get('/api/objects/7');
      assert.equal([status, headers.get('Retry-After')], [500, null]);
      const message = 'Cannot answer because of an internal error, which is logged: try again';
      assert.equal(body, { error: message, code: 'internal_error', message, retryable: true });
      const [, fields] = app.logged.find(([event]) => event === 'internal_error')!;
      assert.match(JSON.stringify(fields), /msgpack|unpack|decode/i);
      assert.is((await app.result('/api/objects/6')).status, 'crossmatch_pending', 'others are answered');
    },
  ));

test('an object of the index that the database lacks: 503, and the index is built anew', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(5n), delivery(6n)], NOW_US);
    },
    async (app, { store }) => {
      assert.is((await app.result(CONE)).total, 2);
      putBytes(store, 5n, undefined);
      const { status, body, headers } = await app.get(CONE);
      assert.equal([status, body.code, headers.get('Retry-After')], [503, 'service_unavailable', '30']);
      await app.ready();
      const { total, objects } = await app.result(CONE);
      assert.equal([total, objects[0].diaObjectId], [1, 6]);
      assert.ok(app.logged.some(([event]) => event === 'index_stale'));
    },
  ));

test('a spent budget is 400 query_too_expensive, without Retry-After; a bad parameter stays one [Time budget]', () =>
  withApp(
    async world => {
      const ids = Array.from({ length: 2000 }, (_, i) => BigInt(i));
      await world.writer.ingest(
        ids.map(id => delivery(id)),
        NOW_US,
      );
      const results = ids.map(diaObjectId => ({
        diaObjectId,
        catalogOutcomes: searched('gaia_dr3'),
        matches: [match('gaia_dr3', '1')],
      }));
      await world.writer.recordCrossmatches(results, PROVENANCE, NOW_US);
    },
    async app => {
      const position = { kind: 'position', ra: 150, dec: 2, radius_arcsec: 5 };
      const requests = [
        () => app.get(`${CONE}&page_size=2000&detail=full`),
        () => app.get(`${CONE}&response=count`),
        () => app.get('/api/recent-crossmatches?start=2026-09-21&end=2026-09-22&page_size=2000&detail=full'),
        () => app.post('/api/lookup', { inputs: Array(20).fill(position) }),
      ];
      for (const request of requests) {
        // While the thread is starting or busy with the previous query, a query waits in vain.
        const { status, body, headers } = await eventually('a thread takes it', async () => {
          const answer = await request();
          return answer.status === 503 ? undefined : answer;
        });
        assert.equal([status, body.code, body.retryable, body.param], [400, 'query_too_expensive', false, undefined]);
        assert.is(headers.get('Retry-After'), null);
      }
      assert.is((await app.get(`${CONE}&page_size=0`)).body.param, 'page_size');
      assert.is((await app.post('/api/lookup', { inputs: [] })).body.param, 'inputs');
      assert.is((await app.get('/api/status')).status, 200);
    },
    { API_REQUEST_BUDGET_SECONDS: '0.003' },
  ));

test('after the app is closed, requests are answered 503', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const app = await new TestApp(directory).ready();
    await app.app.close();
    assert.is((await app.get('/api/objects/5')).status, 503);
    assert.is((await app.get('/api/status')).body.database, 'unavailable');
    await store.close();
  }));

test.run();
