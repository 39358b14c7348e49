/**
 * The load balancer's configuration, with services that hang: if one hangs, clients notice nothing; if all hang, they
 * get a JSON error. If all refuse late, the answer comes within the limit of one request.
 */
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePorts } from '../capabilities/consume/kafka_server.ts';
import { eventually, nearsky, type Server, sample, send, startServer } from '../e2e/support.ts';
import { startBalancer, ThreeNodes, whyNoBalancer, whyNoNodes } from '../e2e/three_nodes.ts';
import { needs } from '../needs.ts';

const test = suite('deploy/haproxy');
const real = needs(test, whyNoBalancer);
const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
/** The limits of a lookup: API_MAX_IDS and API_MAX_POSITIONS. */
const [IDS, POSITIONS] = [1000, 200];
/** The third node of the configuration does not run. */
const nodes: Server[] = [];
let balancer: ChildProcess | undefined;
let url = '';

test.before(async () => {
  if (whyNoBalancer) return;
  const ports = await freePorts(4);
  const data = [1, 2].map(i => join(directory, `${i}`));
  await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'), '--data', data[0]!);
  cpSync(data[0]!, data[1]!, { recursive: true });
  for (const [i, each] of data.entries())
    nodes.push(await startServer(['serve', '--data', each, '--port', `${ports[i]}`, '--no-crossmatch']));
  balancer = await startBalancer(
    directory,
    ports.slice(0, 3).map(port => `127.0.0.1:${port}`),
    ports[3]!,
  );
  url = `http://127.0.0.1:${ports[3]}`;
  await eventually('both are ready', async () => (await Promise.all(nodes.map(isReady))).every(Boolean) || undefined);
});
test.after(() => {
  for (const { child } of nodes) send(child, 'SIGKILL');
  balancer?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
});

async function isReady(node: Server): Promise<boolean> {
  const { statusCode, body } = await request(`${node.url}/readyz`);
  await body.dump();
  return statusCode === 200;
}

/** Stops nodes while `work` runs. A busy thread stops a moment after the signal, and would still answer. */
async function whileHanging<T>(hanging: readonly Server[], work: () => Promise<T>): Promise<T> {
  const threads = ({ child: { pid } }: Server) => readdirSync(`/proc/${pid}/task`).map(id => `/proc/${pid}/task/${id}`);
  const isStopped = (thread: string) => /\) T /.test(readFileSync(join(thread, 'stat'), 'utf8'));
  try {
    for (const { child } of hanging) send(child, 'SIGSTOP');
    await eventually('they hang', async () => hanging.flatMap(threads).every(isStopped) || undefined);
    return await work();
  } finally {
    for (const { child } of hanging) send(child, 'SIGCONT');
  }
}

async function ask(path: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode, headers, body } = await request(url + path, options);
  return { status: statusCode, headers, text: await body.text() };
}

/** The largest lookup that the documents allow, with ids of 19 digits and positions of all digits. */
function largestLookup() {
  const ids = Array.from({ length: IDS }, (_, i) => ({
    kind: 'id',
    diaObjectId: `${9_000_000_000_000_000_000n + BigInt(i)}`,
  }));
  const places = Array.from({ length: POSITIONS }, (_, i) => ({
    kind: 'position',
    ra: 359.123456789012 - i / 7,
    dec: -89.123456789012 + i / 7,
    radius_arcsec: 1.123456789012,
  }));
  const body = JSON.stringify({ inputs: [...ids, ...places] });
  return ask('/api/lookup', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

real('a node that hangs costs no client its answer: the largest lookup goes to the other node', async () => {
  const direct = await largestLookup();
  assert.is(direct.status, 200, direct.text.slice(0, 300));
  const answers = await whileHanging([nodes[0]!], () => Promise.all(Array.from({ length: 8 }, largestLookup)));
  assert.equal(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
});

real('where all nodes hang, a client gets a JSON error, and then an answer again', async () => {
  const asked = () => Promise.all([ask('/api/status'), largestLookup(), ask('/vo/tap/tables')]);
  for (const { status, text, headers } of await whileHanging(nodes, asked)) {
    assert.is(status, 503, text);
    assert.equal([JSON.parse(text).code, JSON.parse(text).retryable], ['service_unavailable', true]);
    assert.is(headers['content-type'], 'application/json');
    assert.ok(headers['retry-after']);
  }
  await eventually('it answers again', async () => (await ask('/api/status')).status === 200 || undefined);
});

real('queries, jobs and streams have their routes; a job is asked of the node that took it', async () => {
  const query = 'LANG=ADQL&QUERY=SELECT+TOP+1+*+FROM+nearsky.objects';
  const answered = await eventually('the tables are made', async () => {
    const got = await ask(`/vo/tap/sync?${query}`);
    return got.status === 200 ? got : undefined;
  });
  assert.match(answered.text, /VOTABLE/);
  for (let i = 0; i < 4; i++) {
    const made = await ask('/vo/tap/async', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: query,
    });
    assert.is(made.status, 303, made.text);
    const path = new URL(`${made.headers.location}`, url).pathname;
    for (let again = 0; again < 4; again++) assert.is((await ask(path)).status, 200);
  }
  for (let i = 0; i < 4; i++) {
    const made = await ask('/api/sample?format=csv', {
      method: 'POST',
      headers: { 'content-type': 'text/csv', prefer: 'respond-async' },
      body: 'ra,dec\n150,2\n',
    });
    assert.is(made.status, 202, made.text);
    const path = new URL(`${made.headers.location}`, url).pathname;
    for (let again = 0; again < 4; again++) assert.is((await ask(`${path}/phase`)).status, 200);
  }
  const stream = await request(`${url}/api/stream/matches`, { headers: { accept: 'text/event-stream' } });
  assert.is(stream.statusCode, 200);
  assert.match(`${stream.headers['content-type']}`, /text\/event-stream/);
  await sleep(7000);
  assert.not.ok(stream.body.destroyed, 'it goes on for longer than the budget of a request');
  stream.body.destroy();
});

needs(test, whyNoNodes)('where every node is behind, a client waits no longer than for one of them', async () => {
  const cluster = await ThreeNodes.start(join(directory, 'cluster'), { NEARSKY_WORKERS: '1' });
  try {
    const position = await eventually('a node answers', async () => {
      const known = await request(`${cluster.url}/api/objects/1`);
      await known.body.dump();
      return known.headers['x-log-position'];
    });
    const [archive] = `${position}`.split('-');
    const headers = { 'x-log-position': `${archive}-999999-0` };
    // Three nodes, one after the other, would take three times the budget of 5 s.
    const late = await request(`${cluster.url}/api/objects/1`, { headers, headersTimeout: 10_000 });
    const text = await late.body.text();
    assert.ok(late.statusCode === 503 || late.statusCode === 504, `${late.statusCode} ${text}`);
    assert.is(JSON.parse(text).code, 'service_unavailable');
  } finally {
    await cluster.stop();
  }
});

test.run();
