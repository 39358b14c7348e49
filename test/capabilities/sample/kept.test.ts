/** Kept samples: their links, limits and retention, and what survives. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KeptStore, type NewSample } from '../../../src/capabilities/sample/kept_store.ts';
import { configOf, TestApp } from '../../core/http/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { fillDisk, mountSmallDisk } from '../../small_disk.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { addSources } from './world.ts';

const test = suite('sample/kept');

async function withApp(world: World, use: (app: TestApp) => Promise<void>, settings = {}): Promise<void> {
  const app = await new TestApp(join(world.directory, 'data'), settings).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

const PLACE = { ra: 150, dec: -2 };

async function fill(world: World): Promise<bigint> {
  await addSources(world, 'gaia_dr3', [{ ...PLACE, id: 7n, payload: {} }]);
  await world.writer.keepHistory(true);
  const [id] = await world.ingest([PLACE]);
  return id!;
}

/** Answers requests on a socket, as another node does. */
async function listening(app: () => TestApp): Promise<{ readonly url: string; close(): Promise<unknown> }> {
  const server = createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    const answer = await app().app.fetch(
      new Request(`http://node${request.url}`, { method: request.method!, headers }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise(resolve => server.close(resolve));
  };
  return { url, close };
}

const position = { kind: 'position', ...PLACE, label: 'mine & "yours"' };

test('a list in JSON: its report is that of the list as it is now, of an earlier entry, and since one [Kept samples]', () =>
  inWorld(async world => {
    const id = await fill(world);
    await withApp(world, async app => {
      const list = { inputs: [{ kind: 'id', diaObjectId: id }, position], bright_mag: 12 };
      const made = await app.post('/api/samples', { title: 'SNe <Ia> ü', ...list });
      assert.is(made.status, 201, made.text);
      const { id: key, title, url, created, expires } = made.body;
      assert.match(key, /^[0-9a-f]{32}$/);
      assert.equal([title, made.headers.get('Location')], ['SNe <Ia> ü', url]);
      assert.is(Date.parse(expires) - Date.parse(created), 90 * 86_400_000);
      const path = `/api/samples/${key}`;
      const first = await app.get(path);
      assert.is(first.status, 200, first.text);
      const same = await app.post('/api/sample', list);
      assert.is(first.text, same.text);
      assert.is(decodeURIComponent(first.headers.get('X-Sample-Title')!), title);
      assert.ok(Math.abs(Date.parse(first.headers.get('Sunset')!) - Date.parse(expires)) < 1000);
      const entry = first.body.journal_entry;
      await world.crossmatch();
      const now = await eventuallyChanged(app, path, first.text);
      assert.is(now.rows[0].status, 'coincident_sources');
      assert.is((await app.get(`${path}?at=${entry}`)).text, first.text);
      const { changes } = (await app.get(`${path}?since=${entry}`)).body;
      assert.equal(
        changes.map((change: { index: number }) => change.index),
        [0, 1],
      );
      const page = await app.get(path, { headers: { Accept: 'text/html,*/*;q=0.8' } });
      assert.match(page.text, 'mine &amp; &quot;yours&quot;');
      assert.match((await app.get(`${path}?format=latex`)).text, "mine \\& ''yours''");
      const input = await app.get(`${path}/input`);
      assert.is(input.headers.get('Content-Type'), 'application/json');
      assert.equal(input.body.inputs, [{ kind: 'id', diaObjectId: id }, position]);
      assert.is(input.body.title, title);
      for (const [search, param] of [
        ['at=x', 'at'],
        ['since=-1', 'since'],
        ['format=pdf', 'format'],
      ]) {
        const refused = await app.get(`${path}?${search}`);
        assert.equal([refused.status, refused.body.param], [400, param]);
      }
      assert.is((await app.get(path, { method: 'DELETE' })).status, 204);
      for (const gone of [path, `${path}/input`, `/api/samples/${'0'.repeat(32)}`, '/api/samples/..%2f..%2flock'])
        for (const method of gone === path ? ['GET', 'DELETE'] : ['GET']) {
          const { status, body } = await app.get(gone, { method });
          assert.equal([status, body.code], [404, 'not_found']);
          assert.match(body.message, /expired, was deleted/);
        }
      assert.is((await app.get(path, { method: 'PUT' })).headers.get('Allow'), 'GET, HEAD, DELETE');
    });
  }));

async function eventuallyChanged(app: TestApp, path: string, before: string) {
  for (;;) {
    const { text, body } = await app.get(path);
    if (text !== before) return body;
    await sleep(20);
  }
}

test('a table, at once and as a job; what cannot be kept [Kept samples]', () =>
  inWorld(async world => {
    const id = await fill(world);
    await withApp(world, async app => {
      const table = `who,number\na,${id}\nb,12345678\n`;
      const made = await app.post('/api/samples?title=A%20table&id=number&name=who', table, 'text/csv');
      assert.is(made.status, 201, made.text);
      const path = `/api/samples/${made.body.id}`;
      const report = await app.get(path);
      assert.equal(
        report.body.rows.map((row: { label: string; diaObjectId_str: string }) => [row.label, row.diaObjectId_str]),
        [
          ['a', `${id}`],
          ['b', null],
        ],
      );
      assert.is((await app.get(`${path}/input`)).text, table);
      assert.match((await app.get(`${path}?format=csv`)).text, /^label,status,diaObjectId,.*\na,/);
      const begun = await app.get(`${path}?format=latex`, { headers: { Prefer: 'respond-async' } });
      assert.is(begun.status, 202);
      const job = new URL(begun.headers.get('Location')!).pathname;
      for (let phase = ''; phase !== 'COMPLETED'; await sleep(50)) {
        phase = (await app.get(`${job}/phase`)).text;
        assert.not.match(phase, /ERROR|ABORTED/);
      }
      assert.match((await app.get(`${job}/results/result`)).text, '\\startdata\na & ');
      assert.is((await app.get(job, { method: 'DELETE' })).status, 303);
      // The job's list was the sample's own.
      assert.is((await app.get(`${path}/input`)).text, table);
      assert.is((await app.get(`${path}?since=1`)).body.param, 'since');
      for (const [search, body, type, param] of [
        ['', table, 'text/csv', 'title'],
        ['?title=x', 'a,b\n1,2\n', 'text/csv', 'body'],
        ['?title=x', '', 'text/csv', 'body'],
        ['?title=x&id=nothing', table, 'text/csv', 'body'],
        ['?title=x&bright_mag=99', table, 'text/csv', 'bright_mag'],
        [`?title=${'x'.repeat(201)}`, table, 'text/csv', 'title'],
        ['', { inputs: [position] }, undefined, 'title'],
        ['', { title: '', inputs: [position] }, undefined, 'title'],
        ['', { title: 5, inputs: [position] }, undefined, 'title'],
        ['', { title: 'a\ud800b', inputs: [position] }, undefined, 'title'],
        ['', { title: 'x', inputs: [] }, undefined, 'inputs'],
        ['', { title: 'x', inputs: [position], catalogs: ['nothing'] }, undefined, 'catalogs'],
        ['', { title: 'x', inputs: [position], more: 1 }, undefined, 'more'],
        ['', { title: 'x', inputs: [position], since: 999 }, undefined, 'since'],
        ['', { title: 'x', inputs: [position], at: 999 }, undefined, 'at'],
        ['', '[1]', undefined, 'body'],
      ] as const) {
        const refused = await app.post(`/api/samples${search}`, body, type);
        assert.equal([refused.status, refused.body.param], [400, param], `${search} ${refused.text}`);
      }
      assert.equal(readdirSync(join(world.directory, 'data/samples')), [made.body.id]);
    });
    // Another process of the service reads the same.
    await withApp(world, async app => {
      const [key] = readdirSync(join(world.directory, 'data/samples'));
      assert.is((await app.get(`/api/samples/${key}?format=csv`)).status, 200);
    });
  }));

const sample = (client: string, text = 'x'): NewSample => ({ title: 't', client, bytes: text.length, body: { text } });

test('limits in all and of a client; retention; what a killed process leaves', () =>
  withDirectory(async directory => {
    let now = Date.UTC(2026, 0, 1);
    const config = (more = {}) =>
      configOf(directory, {
        SAMPLES_MAX: '5',
        SAMPLES_MAX_PER_CLIENT: '2',
        SAMPLES_MAX_MIB: '1',
        SAMPLES_DAYS: '10',
        ...more,
      });
    const store = new KeptStore(config(), () => now);
    const kept = [store.keep(sample('a')), store.keep(sample('a'))];
    assert.throws(() => store.keep(sample('a')), /of this client use all of their room/);
    now += 86_400_000;
    const others = ['b', 'b', 'c'].map(client => store.keep(sample(client)));
    assert.throws(() => store.keep(sample('d')), /the maximum number of samples is kept/);
    assert.is(new Set([...kept, ...others].map(({ id }) => id)).size, 5);
    // One second before the end, and at the end.
    now = kept[0]!.expiresMs - 1;
    assert.ok(store.read(kept[0]!.id));
    now++;
    assert.is(store.read(kept[0]!.id), undefined);
    assert.not.ok(store.remove(kept[0]!.id));
    assert.is(store.sweep().length, 3);
    assert.is(readdirSync(join(directory, 'samples')).length, 3);
    assert.ok(store.remove(others[0]!.id));
    assert.not.ok(store.remove(others[0]!.id));
    // Any client may use its share of the bytes, and one sample that is larger.
    const large = 'x'.repeat(600_000);
    store.keep(sample('e', large));
    assert.throws(() => store.keep(sample('e', large)), /of this client/);
    assert.throws(() => store.keep(sample('f', large)), /all disk space for kept samples/);
    for (const name of ['.', '..', 'x', `../samples/${others[1]!.id}`]) assert.is(store.read(name), undefined);
    const parts = ['old', 'new'].map(name =>
      join(directory, 'samples', `${randomBytes(16).toString('hex')}-${name}.part`),
    );
    for (const part of parts) mkdirSync(part);
    writeFileSync(join(parts[0]!, 'input'), 'half');
    utimesSync(parts[0]!, 0, 0);
    assert.is(store.sweep().length, 3);
    assert.equal(
      parts.map(part => existsSync(part)),
      [false, true],
    );
    assert.throws(() => new KeptStore(config({ SAMPLES_MAX: '0' })).keep(sample('a')), /keeps no samples/);
    rmSync(directory, { recursive: true });
    assert.throws(() => store.keep(sample('a')), /the data directory is gone/);
    assert.not.ok(existsSync(directory));
  }));

const disk = mountSmallDisk('8m');
disk?.unmount();
needs(test, disk ? undefined : 'this process may not mount a file system')(
  'on a full disk nothing is kept, and nothing half',
  () => {
    const small = mountSmallDisk('8m')!;
    try {
      const store = new KeptStore(configOf(small.directory));
      const { id } = store.keep(sample('a', 'x'.repeat(1000)));
      const filler = fillDisk(small.directory, 8192);
      assert.throws(() => store.keep(sample('a', 'x'.repeat(100_000))), /the disk of the service has no space left/);
      assert.equal(readdirSync(join(small.directory, 'samples')), [id]);
      rmSync(filler);
      assert.ok(store.keep(sample('a')));
    } finally {
      small.unmount();
    }
  },
);

test('a sample of another node: the same report, list and table; 503 while that node is away [Kept samples]', () =>
  inWorld(world =>
    inWorld(async other => {
      for (const each of [world, other]) await fill(each);
      const apps: TestApp[] = [];
      const nodes = await Promise.all([listening(() => apps[0]!), listening(() => apps[1]!)]);
      const settings = { NEARSKY_NODES: nodes.map(({ url }) => url).join() };
      await withApp(
        world,
        first =>
          withApp(
            other,
            async second => {
              apps.push(first, second);
              const kept = [
                await first.post('/api/samples', { title: 'SNe ü', inputs: [position] }),
                await first.post(
                  '/api/samples?title=Table&ra=x&dec=y&catalogs=gaia_dr3',
                  'x,y\n150,-2\n10,20\n',
                  'text/csv',
                ),
              ].map(({ body }) => `/api/samples/${body.id}`);
              for (const path of kept)
                for (const search of ['', '?format=csv', '/input']) {
                  const [own, same] = [await first.get(path + search), await second.get(path + search)];
                  assert.is(same.status, 200, same.text);
                  assert.is(same.text, own.text);
                  for (const name of ['Content-Type', 'Sunset', 'X-Sample-Title', 'X-Sample-Parameters', 'X-Row-Count'])
                    assert.is(same.headers.get(name), own.headers.get(name), name);
                }
              const job = await second.get(kept[1]!, { headers: { Prefer: 'respond-async' } });
              assert.is(job.status, 202, job.text);
              assert.is((await second.get(`/api/samples/${'0'.repeat(32)}`)).status, 404);
              assert.is((await second.get(kept[0]!, { method: 'DELETE' })).status, 204);
              for (const app of [first, second]) assert.is((await app.get(kept[0]!)).status, 404);
              assert.is((await second.get(kept[0]!, { method: 'DELETE' })).status, 404);
              assert.not(existsSync(join(other.directory, 'data', 'samples')));
              await nodes[0]!.close();
              assert.is((await second.get(kept[1]!)).status, 503);
              assert.is((await first.get(kept[1]!)).status, 200);
            },
            settings,
          ),
        settings,
      );
      await nodes[1]!.close();
    }),
  ));

test('a node whose answer breaks off: 503, no internal error', () =>
  inWorld(async world => {
    const node = createServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 100, 'X-Sample-Title': 'Half', Sunset: new Date().toUTCString() });
      response.write('{"inputs": [', () => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(node, 'listening');
    const { port } = node.address() as AddressInfo;
    await withApp(
      world,
      async app => {
        for (const path of ['', '/input']) {
          const { status, body } = await app.get(`/api/samples/${'0'.repeat(32)}${path}`);
          assert.equal([status, body.code], [503, 'service_unavailable']);
        }
      },
      { NEARSKY_NODES: `http://127.0.0.1:${port}` },
    );
    node.close();
  }));

test.run();
