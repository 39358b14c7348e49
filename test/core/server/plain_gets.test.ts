/**
 * Plain GET requests are answered like those that `node:http` reads: the same bytes, whatever is sent, and however it
 * is cut. TEST_REQUESTS=10000000 sets the number of requests, TEST_SEED their seed.
 */
import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { StreamedBody } from '../../../src/core/answers/body.ts';
import type { IncomingRequest } from '../../../src/core/http/incoming.ts';
import type { Answer } from '../../../src/core/http/respond.ts';
import type { ListenOptions } from '../../../src/core/server/http_server.ts';
import { PlainConnection, PlainResponse } from '../../../src/core/server/plain_connection.ts';
import { findPlainGet } from '../../../src/core/server/plain_get.ts';
import { serverLimits } from '../../../src/core/server/server_limits.ts';
import { REQUESTS } from '../../e2e/requests.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { withApp } from '../http/support.ts';
import { Client, exchange, OF_THE_MOMENT, type Serving, text, withServer } from './support.ts';

const test = suite('server/plain_gets');
const SENT = Number(process.env.TEST_REQUESTS ?? 2500);
const random = seededRandom(Number(process.env.TEST_SEED ?? 1));
const below = (n: number) => Math.floor(random() * n);
const one = <T>(of: readonly T[]): T => of[below(of.length)]!;

const owner = { limits: serverLimits(10, 5, 1), handle: () => {}, handOver: () => {} };

/** Answers with the request as the app sees it. */
function echo({ method, url, headers, body }: IncomingRequest): Answer | Promise<Answer> {
  const answer = text(JSON.stringify([method, url, [...headers].sort()]), url.includes('missing') ? 404 : 200);
  if (body && method !== 'GET')
    return readAll(body).then(
      size => text(`${answer.body} ${size}`),
      () => text('the client has left'),
    );
  return url.includes('later') ? new Promise(resolve => setImmediate(resolve, answer)) : answer;
}

async function readAll(body: NonNullable<IncomingRequest['body']>): Promise<number> {
  let size = 0;
  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.length;
  return size;
}

/** When a client has received nothing for so long, it ends. */
const QUIET_MS = 200;

/** Two servers with the same app: one reads plain GETs itself, the other leaves all to `node:http`. */
const withBoth = (answer: ListenOptions['answer'], body: (plain: Serving, node: Serving) => Promise<void>) =>
  withServer(answer, plain => withServer(answer, node => body(plain, node), {}, { plainGets: false }));

const TARGETS = [
  '/',
  '/api/objects/1',
  '/a?b=c&d=%20',
  '/later',
  '/missing',
  '/a/../b',
  '/./',
  '/%2e%2E/x',
  '/a b',
  '//x',
  '/é',
  '/a#b',
  '/a"b',
  '/a|b',
  '/a\\b',
  '*',
  'http://other/x',
  'x',
  `/${'y'.repeat(300)}`,
];
const NAMES = [
  'Host',
  'host',
  'Accept',
  'ACCEPT',
  'User-Agent',
  'Accept-Encoding',
  'X-Request-Id',
  'Cookie',
  'X-Forwarded-For',
  'X-Unknown',
  '__proto__',
  'Connection',
  'Content-Length',
  'Transfer-Encoding',
  'Upgrade',
  'Expect',
  'Keep-Alive',
  'TE',
  'Hos t',
  'Accept ',
  ' Accept',
  '',
  'a:b',
  'Ac\u0000pt',
];
const VALUES = [
  'x',
  'localhost:8000',
  'a b',
  '',
  ' ',
  '\t',
  ' a ',
  'a\tb',
  'a\u0001b',
  'é',
  '0',
  '5',
  '-1',
  'chunked',
  'gzip',
  'close',
  'keep-alive',
  'Keep-Alive',
  'close, x',
  'upgrade',
  'websocket',
  '100-continue',
  '[::1]:80',
  'x/y',
  'a\r\n b',
  'a\rb',
  'a\nb',
];

/** Nearly always a GET that is plain but for one thing, if that. */
function request(): string {
  const isOdd = () => random() < 0.04;
  const method = isOdd() ? one(['POST', 'HEAD', 'get', 'GETT', 'OPTIONS', 'CONNECT', 'G\u0000T', '']) : 'GET';
  const target = isOdd() || random() < 0.1 ? one(TARGETS) : one(TARGETS.slice(0, 5));
  const version = isOdd() ? one(['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', '']) : 'HTTP/1.1';
  const headers = isOdd() ? [] : ['Host: x'];
  while (random() < 0.6)
    headers.push(
      random() < 0.2
        ? `${one(NAMES)}:${one([' ', ' ', '', '  ', '\t'])}${one(VALUES)}`
        : one([
            'Accept: */*',
            'User-Agent: t/1 (a; b)',
            'Connection: keep-alive',
            'X-Request-Id: r1',
            'Accept-Language: de, en;q=0.5',
          ]),
    );
  const end = isOdd() ? one(['\n', '\r', '\r\r\n', '\n\r']) : '\r\n';
  let whole =
    [`${method}${isOdd() ? one(['  ', '\t']) : ' '}${target} ${version}`, ...headers].join(end) +
    end +
    (isOdd() ? one(['', '\n', '\r', ' \r\n']) : '\r\n');
  if (isOdd()) {
    const at = below(whole.length);
    whole = whole.slice(0, at) + one(['', '\r\n', '\u0000', ' ', ':', whole[at] ?? '']) + whole.slice(at + below(2));
  }
  return whole;
}

interface Answers {
  /** The bytes of all answers, but for the time. */
  readonly bytes: string;
  /** A client that still sends when its connection ends may lose the last answers. */
  readonly isReset: boolean;
}

async function answers(port: number, parts: readonly Buffer[]): Promise<Answers> {
  const client = new Client(port);
  let isReset = false;
  client.socket.on('error', () => (isReset = true));
  for (const part of parts) {
    client.socket.write(part);
    if (parts.length > 1) await new Promise(resolve => setImmediate(resolve));
  }
  client.socket.write('GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  // Some wait for a body that does not come. Whether a client that has ended is told of a mistake depends on time.
  const quiet = setInterval(() => client.socket.end(), QUIET_MS);
  client.socket.on('data', () => quiet.refresh());
  await client.ended;
  clearInterval(quiet);
  client.socket.destroy();
  return { bytes: client.received.replace(/Date: [^\r]*/g, 'Date: now'), isReset };
}

async function requireSame(plain: Serving, node: Serving, parts: readonly Buffer[]): Promise<string> {
  const [ours, theirs] = await Promise.all([answers(plain.port, parts), answers(node.port, parts)]);
  const [short, long] = [ours.bytes, theirs.bytes].sort((a, b) => a.length - b.length);
  const isSame = ours.isReset || theirs.isReset ? long!.startsWith(short!) : short === long;
  if (!isSame) assert.is(ours.bytes, theirs.bytes, JSON.stringify(Buffer.concat(parts).toString('latin1')));
  return long!;
}

test('whatever is sent, pipelined and mutated: the answers of node:http, byte for byte', () =>
  withBoth(echo, async (plain, node) => {
    let answered = 0;
    for (let sent = 0; sent < SENT; ) {
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          // Long runs of plain requests, and few requests with something else: what follows it must be read, too.
          const many = one([1, 2, 5, 20, 200]);
          const all = Array.from({ length: many }, () =>
            many > 20 ? `GET ${one(TARGETS.slice(0, 5))} HTTP/1.1\r\nHost: x\r\n\r\n` : request(),
          );
          sent += many;
          const bytes = Buffer.from(all.join(''), 'latin1');
          const cuts =
            many > 20 ? [] : Array.from({ length: below(3) }, () => below(bytes.length)).sort((a, b) => a - b);
          const parts = [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i]));
          answered += (await requireSame(plain, node, parts)).split('HTTP/1.1 200 OK').length - 1;
        }),
      );
    }
    assert.ok(answered > SENT / 4, `${answered} of ${SENT} answered`);
  }));

test('split at every byte', () =>
  withBoth(echo, async (plain, node) => {
    const two =
      'GET /later HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const bytes = Buffer.from(two);
    for (let at = 1; at < bytes.length; at++)
      assert.match(await requireSame(plain, node, [bytes.subarray(0, at), bytes.subarray(at)]), /"http:\/\/x\/2"/);
  }));

test('a plain request is a request of the strict grammar, with the headers that it has', () => {
  const found = (bytes: string) => findPlainGet(bytes, undefined);
  const whole = 'GET /a?b HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip, br\r\n\r\n';
  const { target, head, length } = found(`${whole}GET`)!;
  assert.equal([target, head.origin, head.keepsAlive, length], ['/a?b', 'http://x', true, whole.length]);
  assert.equal(
    [...head.headers],
    [
      ['host', 'x'],
      ['accept-encoding', 'gzip, br'],
    ],
  );
  const again = findPlainGet(whole, head)!;
  assert.is(again.head, head, 'equal headers are the same headers');
  const longer = whole.replace('br', 'brr');
  assert.is(findPlainGet(longer, head)!.head.headers.get('Accept-Encoding'), 'gzip, brr');
  for (let at = 0; at < whole.length; at++) assert.is(found(whole.slice(0, at)), undefined, whole.slice(0, at));
  for (const other of [
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Upgrade: websocket',
    'Expect: 100-continue',
    'Connection: upgrade',
    'Host: y',
    'Accept : a',
    ' folded',
    'X-Odd: 1',
    'Accept:a',
    'Accept: ',
    'Accept: é',
  ])
    assert.is(found(`GET / HTTP/1.1\r\nHost: x\r\n${other}\r\n\r\n`), undefined, other);
});

test('a body of any kind, and one in parts', async () => {
  const bodies: Answer['body'][] = [
    '',
    'a',
    'é€😀',
    new Uint8Array([0, 255, 13, 10]),
    new Uint8Array(100_000).fill(7),
    'é'.repeat(70_000),
    null,
  ];
  const hash = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
  const answer = ({ url }: IncomingRequest): Answer => {
    const [, status, index] = /\/(\d+)\/(\d+)$/.exec(url)!;
    return { status: Number(status), headers: { 'Content-Type': 'x/y' }, body: bodies[Number(index)]!, requestId: 'r' };
  };
  await withBoth(answer, async (plain, node) => {
    for (const status of [200, 204, 304, 400, 503])
      for (const index of bodies.keys()) {
        const lines = [
          `GET /${status}/${index} HTTP/1.1`,
          'Host: x',
          '',
          'GET /200/1 HTTP/1.1',
          'Host: x',
          'Connection: close',
        ];
        const received = [await exchange(plain.port, ...lines), await exchange(node.port, ...lines)].map(all =>
          all.replace(/Date: [^\r]*/g, ''),
        );
        assert.equal(received.map(hash)[0], received.map(hash)[1], `${status}/${index}`);
      }
  });
});

test('a body that is written in parts, with its length and without', async () => {
  const parts = ['one ', 'é€ ', 'x'.repeat(100_000)].map(part => new TextEncoder().encode(part));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const answer = ({ url }: IncomingRequest): Answer => {
    const stream: StreamedBody = {
      begin: ({ write, end }) => {
        for (const part of parts) write(part);
        setTimeout(end, 100);
      },
      written: () => {},
      gone: () => {},
    };
    const headers = url.endsWith('/sized') ? { 'Content-Length': `${length}` } : { 'Content-Type': 'x/y' };
    return { status: 200, headers, body: null, stream };
  };
  await withBoth(answer, async (plain, node) => {
    for (const path of ['/sized', '/other']) {
      const lines = [`GET ${path} HTTP/1.1`, 'Host: x'];
      const [ours, theirs] = await Promise.all([plain, node].map(({ port }) => exchange(port, ...lines)));
      assert.is(ours!.replace(OF_THE_MOMENT, ''), theirs!.replace(OF_THE_MOMENT, ''), path);
      assert.is(/Content-Length/.test(ours!), path === '/sized');
      const found = await fetch(`http://127.0.0.1:${plain.port}${path}`);
      assert.is((await found.arrayBuffer()).byteLength, length, path);
    }
  });
});

test('every operation and page: the same status and headers', () =>
  withApp(
    async () => {},
    ({ app }) =>
      withBoth(app.answer, async (plain, node) => {
        for (const { path, body } of REQUESTS) {
          if (body !== undefined) continue;
          const lines = [`GET ${path} HTTP/1.1`, 'Host: x', 'Accept-Encoding: gzip', 'Connection: close'];
          const [ours, theirs] = await Promise.all([plain, node].map(({ port }) => exchange(port, ...lines)));
          const head = (received: string) => received.split('\r\n\r\n')[0]!.replace(OF_THE_MOMENT, '');
          assert.is(head(ours!), head(theirs!), path);
          assert.match(ours!, /^HTTP\/1\.1 [2-5]\d\d /, path);
        }
      }),
  ));

test('a header that would end the headers is not sent', () => {
  const response = new PlainResponse(new PlainConnection(new Socket(), owner), true, 1000);
  const answer = (value: string) => ({ status: 302, headers: { Location: value }, body: null });
  response.writeHead(answer('/a'), 0);
  assert.throws(() => response.writeHead(answer('/a\r\nb: c'), 0), /Location/);
});

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

async function nothingOpen({ connections }: Serving['server'], what = ''): Promise<void> {
  for (let i = 0; i < 100 && connections.open > 0; i++) await sleep(10);
  assert.is(connections.open, 0, what);
}

test('a connection that is idle after a slow answer ends, and one whose answer never comes', () =>
  withServer(
    ({ url }) =>
      new Promise(resolve => {
        if (url.endsWith('slow')) setTimeout(resolve, 300, text('slow'));
      }),
    async ({ server, port }) => {
      for (const path of ['/slow', '/never']) {
        const client = new Client(port);
        client.socket.write(get(path));
        await Promise.race([client.ended, sleep(3000)]);
        assert.ok(client.socket.readableEnded, path);
        assert.is(client.received.endsWith('slow'), path === '/slow');
        client.socket.destroy();
      }
      await nothingOpen(server);
    },
    { keepAliveMs: 100, inactivityMs: 400 },
  ));

test('an empty line after a request is no request that comes too slowly', () =>
  withServer(
    () => text('a'),
    async ({ port }) => {
      const client = new Client(port);
      client.socket.write(`${get('/')}\r\n`);
      await sleep(1800);
      client.socket.write(get('/', 'Connection: close\r\n'));
      await client.ended;
      assert.equal(client.received.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
    },
    { headersMs: 300 },
  ));

test('the client of a stream leaves, whatever it has sent after its request', async () => {
  let gone = 0;
  const stream: StreamedBody = {
    isEndless: true,
    begin: client => client.write(new Uint8Array([97])),
    written: () => {},
    gone: () => gone++,
  };
  await withServer(
    () => new Promise(resolve => setImmediate(resolve, { status: 200, headers: {}, body: null, stream })),
    async ({ server, port }) => {
      for (const more of ['', '\r\n', get('/b'), get('/b').repeat(10_000)]) {
        const client = new Client(port);
        client.socket.write(get('/a') + more);
        await client.until(received => received.includes('chunked'));
        client.socket.end();
        await Promise.race([client.ended, sleep(3000)]);
        await nothingOpen(server, JSON.stringify(more.slice(0, 20)));
      }
      assert.is(gone, 4);
    },
  );
});

test('an idle connection does not hold what it has received', async () => {
  const received = get('/', 'Accept: text/html, application/json\r\n') + get('/').repeat(500);
  const heads = Array.from({ length: 1000 }, (_, i) => {
    const bytes = Buffer.from(received.replace('json', `json, x/${i}`)).toString('latin1');
    return findPlainGet(bytes, undefined)!.head;
  });
  const { gc } = globalThis;
  setFlagsFromString('--expose-gc');
  // What other tests have left goes in several steps.
  const collect = async () => {
    for (let i = 0; i < 3; i++) {
      (gc ?? runInNewContext('gc'))();
      await new Promise(resolve => setImmediate(resolve));
    }
  };
  await collect();
  const before = process.memoryUsage().heapUsed;
  assert.is(heads.length, 1000);
  heads.length = 0;
  await collect();
  const each = (before - process.memoryUsage().heapUsed) / 1000;
  assert.ok(each < 4000, `${Math.round(each)} bytes`);
});

test.run();
