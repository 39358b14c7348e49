/** Several threads that serve: one service, whichever of them a connection comes to. */
import { Agent, request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, eventually, NOW_US } from '../http/support.ts';
import { Client } from './support.ts';
import { askAll, CONNECTIONS, withThreads } from './three_threads.ts';

const test = suite('server/server_threads');

const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=10&detail=ids';

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
