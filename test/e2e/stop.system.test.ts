/** Stopping a server whose clients misbehave. */
import { once } from 'node:events';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { serveFiles } from '../core/catalogs/range_server.ts';
import { eventually, nearsky, sample, send, start, startServer, withDirectory } from './support.ts';

const test = suite('e2e/stop');

test('a client that sends half a body gets its answer, and the server still ends when it is told to', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0'], {
      API_REQUEST_BUDGET_SECONDS: '0.2',
    });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'POST /api/lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    );
    const [answer] = await once(socket, 'data');
    assert.match(`${answer}`, /^HTTP\/1.1 408/);
    socket.destroy();
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
  }));

test('SIGTERM while it starts: exit status 0', () =>
  withDirectory(async directory => {
    const { child, finished } = start(['serve', '--data', directory, '--port', '0', '--workers', '2']);
    // The first thing that it writes to disk; it can answer only later.
    await eventually('the database is there', async () => existsSync(join(directory, 'nearsky.mdb')) || undefined);
    send(child, 'SIGTERM');
    const { code, stderr } = await finished;
    assert.is(code, 0, stderr);
    assert.match(stderr, '"stopping"');
  }));

test('SIGTERM while a client reads nothing, and while a catalog does not answer: exit status 0, and in time', () =>
  withDirectory(async directory => {
    cpSync(join(sample, 'catalogs'), join(directory, 'catalogs'), { recursive: true });
    const host = await serveFiles(join(directory, 'catalogs'));
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'), '--data', data);
    await nearsky('catalog', 'add', 'gaia_dr3', `${host.url}/gaia_dr3/`, '--data', data);
    rmSync(join(data, 'catalog-cache'), { recursive: true });
    host.asked.length = 0;
    host.fault = () => 'silent';
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
    await eventually('the catalog is being read', async () => host.asked.length > 0 || undefined);
    const ready = await fetch(`${server.url}/readyz`);
    assert.is(ready.status, 200);
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
    assert.not.match(stderr, /stopped_early|crossmatch_failed/);
    socket.destroy();
    await host.close();
  }));

test('a second SIGTERM does not end the wait for the requests that are under way', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0']);
    const body = '{"inputs": [{"kind": "id", "diaObjectId": 7}]}';
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', chunk => {
      received += chunk;
    });
    socket.write(
      `POST /api/lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await eventually('the request has begun', async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      // The other one is this question.
      return /^nearsky_http_requests_open 2$/m.test(metrics) || undefined;
    });
    send(server.child, 'SIGTERM');
    await eventually('it takes no more connections', async () => {
      const answer = await fetch(`${server.url}/healthz`).catch(() => undefined);
      return answer === undefined || undefined;
    });
    send(server.child, 'SIGTERM');
    socket.end(body);
    await once(socket, 'close');
    assert.match(received, /^HTTP\/1\.1 200/);
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
  }));

test.run();
