/** The database's file or directory is removed, renamed or replaced under a running service: nothing is answered from what is no longer there. */
import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type Server, start, startServer } from '../../e2e/support.ts';
import { FACTS } from '../facts.ts';
import { delivery, eventually, NOW_US, withDirectory } from '../http/support.ts';

const test = suite('server/database_gone');

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'lookup_rubin_transients', arguments: { identifiers: ['5'] } },
};
/** Whatever is answered from the database; each with its body, where it is a POST. */
const REQUESTS: readonly (readonly [path: string, body?: unknown])[] = [
  ['/api/objects/5'],
  ['/api/objects/5?format=csv'],
  ['/api/cone?ra=150&dec=2&radius_arcsec=10'],
  ['/api/cone?ra=150&dec=2&radius_arcsec=10&page_size=5000'],
  ['/api/lookup', { inputs: [{ kind: 'id', diaObjectId: 5 }] }],
  ['/api/recent-crossmatches'],
  ['/api/tns/2026abc'],
  ...FACTS.flatMap(({ fromDatabase = [] }) => fromDatabase.map(path => [path] as const)),
];

async function ask(server: Server, [path, body]: (typeof REQUESTS)[number]) {
  const {
    statusCode,
    headers,
    body: answer,
  } = await request(server.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'Content-Type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  });
  return { status: statusCode, retryAfter: headers['retry-after'], text: await answer.text() };
}

async function assertGone(server: Server): Promise<void> {
  await eventually('it is seen', async () => (await ask(server, ['/readyz'])).status === 503 || undefined);
  // Each several times, so that more than one thread is asked.
  for (const each of REQUESTS) {
    for (let i = 0; i < 6; i++) {
      const { status, retryAfter, text } = await ask(server, each);
      assert.equal([status, retryAfter], [503, '30'], `${each[0]}: ${text}`);
    }
  }
  assert.match((await ask(server, ['/mcp', CALL])).text, /service_unavailable/);
  assert.match((await ask(server, ['/api/status'])).text, '"database": "unavailable"');
  assert.is((await ask(server, ['/healthz'])).status, 200);
  assert.match((await ask(server, ['/metrics'])).text, 'nearsky_database_up 0');
}

async function assertBack(server: Server): Promise<void> {
  await eventually('it is seen', async () => (await ask(server, ['/readyz'])).status === 200 || undefined);
  for (const each of REQUESTS.filter(([path]) => !path.includes('tns'))) {
    // The map of the sky looks again after half a second.
    await eventually(`${each[0]} is answered`, async () => (await ask(server, each)).status === 200 || undefined);
  }
  assert.match((await ask(server, ['/api/objects/5'])).text, '"status": "crossmatch_pending"');
  assert.match((await ask(server, ['/api/status'])).text, '"database": "ok"');
}

async function filled(data: string, ids: readonly bigint[]): Promise<void> {
  const store = openStore(data, 'write');
  await new Writer(store).ingest(
    ids.map(id => delivery(id)),
    NOW_US,
  );
  await store.close();
}

function withServer(body: (server: Server, data: string, directory: string) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    const data = join(directory, 'data');
    await filled(data, [5n]);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--workers', '2']);
    await body(server, data, directory);
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
    assert.match(stderr, /"database_gone".*restart nearsky/);
  });
}

test('the file is renamed and comes back', () =>
  withServer(async (server, data) => {
    const file = join(data, 'nearsky.mdb');
    await assertBack(server);
    renameSync(file, `${file}.away`);
    await assertGone(server);
    writeFileSync(file, '');
    await assertGone(server);
    renameSync(`${file}.away`, file);
    await assertBack(server);
  }));

test('the directory is renamed and comes back', () =>
  withServer(async (server, data) => {
    await assertBack(server);
    renameSync(data, `${data}.away`);
    await assertGone(server);
    renameSync(`${data}.away`, data);
    await assertBack(server);
  }));

test('another database in its place is not read', () =>
  withServer(async (server, data, directory) => {
    const other = join(directory, 'other');
    await filled(other, [5n, 6n]);
    await assertBack(server);
    renameSync(data, `${data}.away`);
    cpSync(other, data, { recursive: true });
    await assertGone(server);
    assert.is((await ask(server, ['/api/objects/6'])).status, 503);
    rmSync(data, { recursive: true });
    renameSync(`${data}.away`, data);
    await assertBack(server);
  }));

test('a command that waits for input ends by name', () =>
  withDirectory(async directory => {
    const [data, pipe] = [join(directory, 'data'), join(directory, 'pipe')];
    execFileSync('mkfifo', [pipe]);
    // Opened for both, so that opening waits for nobody.
    const input = openSync(pipe, 'r+');
    const { child, finished } = start(['ingest', '--broker', 'lasair', pipe, '--data', data]);
    let log = '';
    child.stderr!.on('data', text => (log += text));
    await eventually('it has the database open', async () => {
      try {
        const reader = openStore(data, 'read');
        const isOpen = reader.livePids().has(child.pid!);
        await reader.close();
        return isOpen || undefined;
      } catch {
        return undefined;
      }
    });
    renameSync(data, `${data}.away`);
    const { signal } = await finished;
    closeSync(input);
    assert.equal([signal, /"database_gone".*its file was removed/.test(log)], ['SIGKILL', true], log);
  }));

test.run();
