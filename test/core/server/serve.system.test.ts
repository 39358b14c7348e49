/** `nearsky serve` as a process: how it starts, refuses to, and stops. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { get, start, startServer, withDirectory } from '../../e2e/support.ts';
import { delivery } from '../store/support.ts';

const test = suite('server/serve');

const OBJECTS = 20_000;

test('a data directory that does not exist is created, empty, and found there the next time', () =>
  withDirectory(async directory => {
    const data = join(directory, 'new');
    for (let round = 0; round < 2; round++) {
      const server = await startServer(['serve', '--data', data, '--port', '0']);
      assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
      assert.is((await get(`${server.url}/api/status`)).database, 'ok');
      const { code, stdout } = await server.stop();
      assert.equal([code, stdout], [0, `listening on ${server.url}\n`]);
    }
  }));

test('the log is one JSON object a line', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0']);
    const { code, stderr } = await server.stop();
    const lines = stderr.trim().split('\n');
    assert.ok(
      code === 0 && lines.every(line => line.startsWith('{"')),
      `exit status ${code}, and it wrote:\n${stderr}`,
    );
    assert.equal(
      // The other log fields depend on the system: Deno and macOS do not report the limit of open files.
      lines
        .map(line => JSON.parse(line).event)
        .filter(event => event !== 'open_files_unknown' && event !== 'one_server_thread'),
      ['index_ready', 'stopping'],
    );
  }));

test('a port that is taken: one line that says so, and exit status 1', () =>
  withDirectory(async directory => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, stdout, stderr } = await start(['serve', '--data', directory, '--port', `${port}`]).finished;
    other.close();
    assert.equal([code, stdout], [1, '']);
    assert.match(
      stderr.trim().split('\n').at(-1)!,
      new RegExp(`^nearsky serve: Cannot listen on 127\\.0\\.0\\.1:${port} because .+: give another`),
    );
  }));

test('SIGTERM while a client is still reading: it gets the whole answer, and the exit status is 0', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    await new Writer(store).ingest(
      Array.from({ length: OBJECTS }, (_, i) => delivery(BigInt(i))),
      1_790_000_000_000_000,
    );
    await store.close();
    const limits = { API_MAX_OBJECTS_PER_REQUEST: `${OBJECTS}`, API_REQUEST_BUDGET_SECONDS: '60' };
    const server = await startServer(['serve', '--data', directory, '--port', '0', '--no-crossmatch'], limits);
    const { ra, dec } = delivery(0n).position!;
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `GET /api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1&page_size=${OBJECTS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    const stopped = server.stop();
    const chunks = [first];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    assert.ok(text.trimEnd().includes('"next_cursor": null}'), 'the end of the body');
    assert.is(text.match(/"diaObjectId": /g)?.length, OBJECTS);
    assert.is((await stopped).code, 0);
  }));

test.run();
