/** Several threads that serve: one service, whichever of them a connection comes to. */
import { Agent, request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type Server, startServer } from '../../e2e/support.ts';
import { delivery, eventually, NOW_US, withDirectory } from '../http/support.ts';
import { Client } from './support.ts';

const test = suite('server/server_threads');

const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=10&detail=ids';
/** The number of connections. That one of three threads gets none of them is less likely than 1 in 10^9. */
const CONNECTIONS = 60;

/** Sends requests over separate connections. Returns the answers and the threads that sent them. */
async function askAll(url: string, init: Parameters<typeof request>[1] = {}) {
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const { statusCode, headers, body } = await request(url, { ...init, dispatcher: new Agent({ pipelining: 0 }) });
      const [thread] = String(headers['x-request-id']).split('-');
      return { status: statusCode, thread, text: await body.text() };
    }),
  );
  return { answers, threads: new Set(answers.map(({ thread }) => thread)) };
}

async function withThreads(
  body: (server: Server, writer: Writer) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  await withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    await writer.ingest([delivery(5n)], NOW_US);
    const server = await startServer(
      ['serve', '--data', directory, '--port', '0', '--no-crossmatch', '--workers', '3'],
      settings,
    );
    try {
      await body(server, writer);
      const { code, stderr } = await server.stop();
      assert.is(code, 0, stderr);
    } finally {
      // Deno would wait forever for a store that is left open.
      await store.close();
    }
  });
}

test('all of them answer, and are watched as one', () =>
  withThreads(async ({ url }) => {
    const { answers, threads } = await askAll(`${url}/api/objects/5`);
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.is(threads.size, 3);
    const ready = await askAll(`${url}/readyz`);
    assert.equal(
      [ready.threads.size, new Set(ready.answers.map(({ text }) => text))],
      [3, new Set(['{"status": "ready"}'])],
    );
    const scraped = await askAll(`${url}/metrics`);
    assert.is(scraped.threads.size, 3);
    for (const { text } of scraped.answers) {
      assert.match(text, `nearsky_http_requests_total{operation="get_object",code="200"} ${CONNECTIONS}\n`);
      assert.match(text, 'nearsky_server_threads 3\n');
    }
  }));

test('the map of the sky is the same for all of them', () =>
  withThreads(async ({ url }) => {
    await eventually('the objects are counted', async () => (await fetch(`${url}/api/sky-map`)).ok || undefined);
    const { answers, threads } = await askAll(`${url}/api/sky-map`);
    assert.is(threads.size, 3);
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.is(new Set(answers.map(({ text }) => text)).size, 1);
    assert.match(answers[0]!.text, '"total": 1,');
    const { headers } = await fetch(`${url}/api/sky-map`);
    const again = await askAll(`${url}/api/sky-map`, { headers: { 'If-None-Match': headers.get('ETag')! } });
    assert.equal(new Set(again.answers.map(({ status, text }) => `${status} ${text}`)), new Set(['304 ']));
  }));

test('what is stored is found by all of them', () =>
  withThreads(async ({ url }, writer) => {
    const totals = async () => {
      const { answers, threads } = await askAll(url + CONE);
      return threads.size === 3 && answers.every(({ text }) => JSON.parse(text).results[0].total === 2)
        ? true
        : undefined;
    };
    await writer.ingest([delivery(6n)], NOW_US);
    await eventually('all of them find it', totals);
  }));

test('the limits of the connector hold for all of them together', () =>
  withThreads(
    async ({ url }) => {
      const params = { name: 'describe_crossmatch_service', arguments: {} };
      const { answers, threads } = await askAll(`${url}/mcp`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      });
      assert.is(threads.size, 3);
      const limited = answers.filter(({ text }) => text.includes('rate_limited'));
      assert.is(answers.length - limited.length, 4, answers[0]!.text);
      const large = await request(`${url}/mcp`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.alloc(3_000_000, ' '),
      });
      assert.match(await large.body.text(), /at most 131072 bytes/);
    },
    { MCP_IP_RATE: '0.0001/s burst 4', MCP_MAX_CONCURRENT: '1000', MCP_MAX_CONCURRENT_PER_KEY: '1000' },
  ));

test('a client that goes while another thread is to have its request is no fault of the service', () =>
  withThreads(async server => {
    const crowd = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => Client.connected(Number(new URL(server.url).port))),
    );
    for (const client of crowd)
      client.send('POST /mcp HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 99', '', '{');
    await new Promise(resolve => setTimeout(resolve, 200));
    for (const { socket } of crowd) socket.resetAndDestroy();
    await eventually('they are gone', async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /nearsky_http_requests_open 1\n/.test(text) || undefined;
    });
    const { stderr } = await server.stop();
    assert.not.match(stderr, /internal_error/);
  }));

test('SIGTERM under load: whole answers or none, and exit status 0', () =>
  withThreads(async server => {
    let answered = 0;
    const unexpected: string[] = [];
    const client = async () => {
      const dispatcher = new Agent({ connections: 1 });
      for (;;) {
        try {
          const { statusCode, body } = await request(server.url + CONE, { dispatcher });
          const text = await body.text();
          if (statusCode !== 503) assert.equal([statusCode, JSON.parse(text).results[0].total], [200, 1]);
          answered++;
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (!['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code ?? ''))
            unexpected.push(`${error}`);
          return;
        }
      }
    };
    const clients = Array.from({ length: 30 }, client);
    await eventually('they are busy', async () => answered > 300 || undefined);
    const { code, stderr } = await server.stop();
    await Promise.all(clients);
    assert.equal([code, unexpected], [0, []], stderr);
    assert.is(
      stderr
        .trim()
        .split('\n')
        .filter(line => !/"index_ready"|"stopping"|"slow_request"|"open_files_unknown"/.test(line))
        .join(),
      '',
    );
  }));

test.run();
