/** No secret in any answer, log or output, whatever fails; no path of the machine in any answer; the headers of every kind of answer. */
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Asked } from '../core/facts.ts';
import { REQUESTS } from './requests.ts';
import {
  eventually,
  type Finished,
  nearsky,
  root,
  sample,
  send,
  start,
  startServer,
  withDirectory,
} from './support.ts';

const SECRETS = {
  TNS_BOT_API_KEY: 'hush/tns+key==',
  MCP_SESSION_SECRET: 'hush-mcp-session',
  ANTARES_API_KEY: 'hush-antares-name',
  ANTARES_API_SECRET: 'hush-antares-word',
};
const ENVIRONMENT = { ...SECRETS, NEARSKY_DEBUG: '1', TNS_BOT_ID: '5', TNS_BOT_NAME: 'bot' };

/** A secret may also be found as a form or as JSON has it. */
const SPELLINGS = Object.values(SECRETS).flatMap(value => [value, encodeURIComponent(value), btoa(value)]);

function assertNoSecret(text: string, where: string): void {
  for (const spelling of SPELLINGS) assert.not.ok(text.includes(spelling), `${where}: ${spelling} in ${text}`);
}

function assertQuiet({ stdout, stderr }: Finished, where: string): void {
  assertNoSecret(stdout, where);
  assertNoSecret(stderr, where);
}

const test = suite('e2e/secrets');

test('a registry that refuses the login, and says what it was sent', () =>
  withDirectory(async directory => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', data => (body += data));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(401, 'Unauthorized', { 'x-echo': encodeURIComponent(body) });
        response.end(`wrong key: ${body}`);
      });
    }).listen(0, '127.0.0.1');
    await eventually('it listens', async () => server.address() ?? undefined);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/files/`;
    const environment = { ...ENVIRONMENT, TNS_OBJECTS_BASE_URL: url };
    const finished = await start(['tns', 'refresh', '--data', join(directory, 'data')], environment).finished;
    server.close();
    assert.is(finished.code, 1, finished.stderr);
    assert.ok(bodies.length > 0 && bodies[0]!.includes(encodeURIComponent(SECRETS.TNS_BOT_API_KEY)));
    assertQuiet(finished, 'tns refresh');
  }));

test('a Kafka cluster that cannot be reached, with a password', () =>
  withDirectory(async directory => {
    const environment = {
      ...ENVIRONMENT,
      ANTARES_KAFKA_SERVERS: '127.0.0.1:1',
      ANTARES_TOPICS: 'a',
      ANTARES_GROUP_ID: 'g',
      ANTARES_KAFKA_TLS: 'no',
    };
    const { child, finished } = start(['consume', 'antares', '--data', join(directory, 'data')], environment);
    let log = '';
    child.stderr!.on('data', data => (log += data));
    await eventually('it has failed', async () => /fail|ECONNREFUSED/i.test(log) || undefined);
    send(child, 'SIGTERM');
    assertQuiet(await finished, 'consume antares');
  }));

test('impossible settings, in the environment and in the file', () =>
  withDirectory(async directory => {
    const file = join(directory, 'nearsky.json');
    const word = SECRETS.MCP_SESSION_SECRET;
    for (const content of [
      `{"MCP_SESSION_SECRET": ["${word}"]}`,
      `{"MCP_SESSION_SECRET": ${word}}`,
      `{"NEARSKY_PORT": "${word}"`,
    ]) {
      writeFileSync(file, content);
      const finished = await start(['stats', '--config', file]).finished;
      assert.is(finished.code, 2);
      assertQuiet(finished, content);
    }
  }));

interface Request extends Asked {
  readonly method?: string;
}

interface Seen {
  readonly what: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function ask(url: string, { path, body, headers, method = body === undefined ? 'GET' : 'POST' }: Request) {
  const init: RequestInit = { method, ...(headers && { headers }) };
  if (body !== undefined) {
    init.headers = { 'Content-Type': 'application/json', ...headers };
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const response = await fetch(url + path, init);
  return { what: `${method} ${path}`, status: response.status, headers: response.headers, text: await response.text() };
}

/** The requests of every operation, and hostile ones. */
const ASKED: readonly Request[] = [
  ...REQUESTS,
  { path: '/../../etc/passwd' },
  { path: '/%00' },
  { path: '/%ff' },
  { path: '/api/lookup', body: '{' },
  { path: '/api/area', body: 'SIMPLE  = nothing' },
  { path: '/api/crossmatch', body: 'ra,dec\n1,x\n' },
  { path: '/api/lookup', body: '{"ids": [1], "positions": 5}' },
  { path: '/api/lookup', body: `{"ids": [${'1,'.repeat(5000)}1]}` },
  { path: '/api/status', method: 'DELETE' },
  { path: '/mcp', body: '{', headers: { Origin: 'https://evil.example' } },
  { path: '/mcp', body: '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}}' },
];

function assertPrivate({ what, headers, text }: Seen, paths: readonly string[]): void {
  const all = `${[...headers].join('\n')}\n${text}`;
  assertNoSecret(all, what);
  for (const path of paths) assert.not.ok(all.includes(path), `${what}: ${path} in ${all}`);
  // Documents name the program of a checkout.
  assert.not.match(all, /file:\/\/|node_modules(?!\/\.bin\/node\b)|\.ts:\d+/, what);
}

function assertHeaders({ what, headers, status }: Seen): void {
  assert.is(headers.get('X-Content-Type-Options'), 'nosniff', what);
  assert.is(headers.get('Referrer-Policy'), 'same-origin', what);
  for (const name of ['Server', 'X-Powered-By', 'Set-Cookie']) assert.is(headers.get(name), null, `${what} ${name}`);
  const type = headers.get('Content-Type') ?? '';
  if (type.startsWith('text/html')) {
    assert.match(headers.get('Content-Security-Policy') ?? '', /^default-src 'none';.*frame-ancestors 'none'/, what);
  } else if (status >= 400) {
    assert.match(type, /^(application\/(json|x-votable\+xml)|text\/(plain|xml))/, what);
  }
}

test('answers of every kind, also where the data directory is gone', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data-of-ours');
    const catalog = join(directory, 'catalog-of-ours');
    mkdirSync(catalog);
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'), '--data', data);
    const server = await startServer(['serve', '--port', '0', '--data', data], ENVIRONMENT);
    const paths = [directory, data, catalog, root.replace(/\/$/, ''), 'nearsky.mdb'];
    const statuses = new Set<number>();
    for (const gone of [false, true]) {
      if (gone) renameSync(data, `${data}-moved`);
      for (const request of ASKED) {
        const seen = await ask(server.url, request);
        assertPrivate(seen, paths);
        assertHeaders(seen);
        statuses.add(seen.status);
      }
    }
    renameSync(`${data}-moved`, data);
    for (const status of [200, 400, 403, 404, 405]) assert.ok(statuses.has(status), `${status} of ${[...statuses]}`);
    assertQuiet(await server.stop(), 'the log of serve');
  }));

test('an unreadable catalog and a damaged database are told without a secret', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const add = ['catalog', 'add', 'gaia_dr3', join(directory, 'absent'), '--data', data];
    assertQuiet(await start(add, ENVIRONMENT).finished, 'catalog add');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'nearsky.mdb'), 'damaged');
    const finished = await start(['serve', '--port', '0', '--data', data], ENVIRONMENT).finished;
    assert.is(finished.code, 1);
    assertQuiet(finished, 'serve');
  }));

test('the data directory is for its user alone; one that is open to others is named in the log', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const first = await startServer(['serve', '--port', '0', '--data', data]);
    await ask(first.url, { path: '/api/status' });
    assert.not.match((await first.stop()).stderr, /data_directory_open_to_others/);
    for (const name of ['.', ...readdirSync(data, { recursive: true, encoding: 'utf8' })])
      assert.is(statSync(join(data, name)).mode & 0o077, 0, name);
    chmodSync(data, 0o755);
    const second = await startServer(['serve', '--port', '0', '--data', data]);
    const { stderr } = await second.stop();
    assert.match(stderr, /"event":"data_directory_open_to_others","mode":"755","mend":"chmod 700/);
    assert.is(statSync(data).mode & 0o777, 0o755);
  }));

test.run();
