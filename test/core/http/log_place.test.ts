/** A client that goes from node to node, and sends back the last node's position, never sees an older state. */

import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { steadyMs } from '../../../src/core/base/runtime.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import { Coordinator } from '../../../src/core/coordinator.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { PARTS } from '../../capabilities.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { Link, MemoryLog } from '../cluster/memory_log.ts';
import { readEvents } from './event_reader.ts';
import { type Answer, configOf, delivery, eventually, NOW_US, TestApp, withApp, withDirectory } from './support.ts';

const test = suite('http/log_place');
const HEADER = 'X-Log-Position';
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';
const HOPS = 30;
const HOP_MS = 50;

/** A node with a service over its archive. */
class ServingNode {
  readonly #node: Node;
  readonly #store: ReturnType<typeof openStore>;
  readonly #coordinator: Coordinator;
  readonly app: TestApp;

  constructor(directory: string, log: MemoryLog) {
    this.#store = openStore(directory, 'write');
    const link = new Link(log);
    link.most = 1;
    this.#node = new Node(this.#store, link);
    const threads = () => ({ threads: [], operations: [], replaced: 0 });
    this.#coordinator = new Coordinator({ parts: PARTS, config: configOf(directory), log: () => {}, threads });
    this.#coordinator.state.logFollowedMs = steadyMs();
    this.#report();
    this.app = new TestApp(directory, { API_REQUEST_BUDGET_SECONDS: '1' }, this.#coordinator);
  }

  #report(): void {
    const { next = 0, timeUs = 0 } = this.#store.logPosition() ?? {};
    const { state } = this.#coordinator;
    [state.logPosition, state.logTimeUs] = [next, timeUs];
  }

  /** Applies a record; `isTold`: whether its service knows at once. */
  async step(isTold = true): Promise<void> {
    await this.#node.step();
    if (isTold) this.#report();
  }

  get(path: string, place?: string | null): Promise<Answer> {
    return this.app.get(path, place ? { headers: { [HEADER]: place } } : {});
  }

  async close(): Promise<void> {
    await this.app.app.close();
    await this.#coordinator.close();
    await this.#store.close();
  }
}

const withNodes = (body: (nodes: readonly [ServingNode, ServingNode], log: MemoryLog) => Promise<void>) =>
  withDirectory(async directory => {
    const log = new MemoryLog();
    const nodes = [new ServingNode(`${directory}/a`, log), new ServingNode(`${directory}/b`, log)] as const;
    try {
      for (const { app } of nodes) await app.ready();
      await body(nodes, log);
    } finally {
      for (const node of nodes) await node.close();
    }
  });

function deliver(log: MemoryLog, id: bigint): void {
  const [record] = encodeChange({ kind: 'deliver', timeUs: NOW_US, deliveries: [delivery(id)] });
  log.append(`${log.end}`, record!);
}

test('a node that is behind waits for what another has shown, or refuses [Headers]', () =>
  withNodes(async ([ahead, behind], log) => {
    for (const id of [1n, 2n]) deliver(log, id);
    assert.is((await ahead.get('/api/status')).headers.get(HEADER), null, 'nothing is applied yet');
    for (const node of [ahead, ahead, behind]) await node.step();
    const seen = await ahead.get('/api/objects/2');
    const place = seen.headers.get(HEADER);
    assert.match(place ?? '', /^[0-9a-f]{8}-2-\d+$/);
    assert.match(seen.headers.get('Access-Control-Expose-Headers') ?? '', /Retry-After, X-Log-Position/);
    // Without the header, it answers from the data that it has.
    assert.is((await behind.get('/api/objects/2')).body.results[0].status, 'not_in_service');
    const refused = await behind.get('/api/objects/2', place);
    assert.is(refused.status, 503, refused.text);
    assert.ok(refused.headers.get('Retry-After'));
    assert.match(refused.body.message, /this node is behind the one that answered before/);
    // What does not depend on the objects neither waits nor is refused.
    const described = ['/api/status', '/api/describe', '/openapi.json', '/api/task/', '/healthz', '/metrics'];
    const headers = { [HEADER]: place! };
    for (const path of [...described, '/llms.txt', '/api-docs.md', '/vo/capabilities', '/vo/availability', '/catalogs'])
      assert.not.equal((await behind.app.get(path, { headers })).body?.code, 'service_unavailable', path);
    for (const path of described.slice(0, 5)) assert.is((await behind.app.get(path, { headers })).status, 200, path);
    for (const path of ['/api/objects/2', CONE, '/api/tns/x', '/api/recent-crossmatches'])
      assert.is((await behind.app.get(path, { method: 'PUT', headers })).status, 405, path);
    for (const path of [CONE, '/api/tns/2026abc', '/api/recent-crossmatches', '/api/objects'])
      assert.is((await behind.get(path, place)).status, 503, path);
    const waiting = behind.get('/api/objects/2', place);
    await behind.step();
    assert.is((await waiting).body.results[0].status, 'crossmatch_pending');
    // A position of another log, or none, has no effect.
    for (const other of ['ffffffff-9-9', '', '-1', `${place}x`])
      assert.is((await behind.get(CONE, other)).status, 200, other);
  }));

test('a stream resumed at a node that is behind waits for the entry of its id, or is refused [Stream of matches]', () =>
  withNodes(async ([ahead, behind], log) => {
    for (const id of [1n, 2n, 3n]) deliver(log, id);
    for (const node of [ahead, ahead, ahead, behind]) await node.step();
    const { lastId } = await readEvents(ahead.app, '/api/stream/objects?from=beginning', 3);
    const resumed = { headers: { 'Last-Event-ID': lastId } };
    const refused = await behind.app.get('/api/stream/objects', resumed);
    assert.is(refused.status, 503, refused.text);
    assert.ok(refused.headers.get('Retry-After'));
    const waiting = readEvents(behind.app, '/api/stream/objects', 1, resumed);
    await behind.step();
    await behind.step();
    deliver(log, 4n);
    await behind.step();
    assert.match((await waiting).texts[0]!, '"diaObjectId":4,');
  }));

test('what another process of the directory has applied counts', () =>
  withNodes(async ([ahead, behind], log) => {
    deliver(log, 1n);
    await ahead.step();
    await behind.step(false);
    const place = (await ahead.get('/api/objects/1')).headers.get(HEADER);
    await eventually('it answers', async () => (await behind.get('/api/objects/1', place)).status === 200 || undefined);
  }));

test('over many hops no query of a client misses what one of its kind had [Headers]', () =>
  withNodes(async (nodes, log) => {
    const random = seededRandom(7);
    let place: string | null = null;
    let seen = [0, 0];
    const counts = async (node: ServingNode) => {
      const [cone, lookup] = [await node.get(CONE, place), await node.get(`/api/objects/${log.end}`, place)];
      if (cone.status === 503 || lookup.status === 503) return undefined;
      place = lookup.headers.get(HEADER);
      const found = lookup.body.results[0].status === 'not_in_service' ? 0 : log.end;
      return [cone.body.results[0].objects.length, found];
    };
    for (let hop = 0; hop < HOPS; hop++) {
      if (random() < 0.5) deliver(log, BigInt(log.end + 1));
      const counting = counts(nodes[random() < 0.5 ? 0 : 1]!);
      for (const each of nodes) for (let i = 0; i < 2; i++) if (random() < 0.5) await each.step();
      const now = await counting;
      assert.ok(!now || now[0] >= seen[0]!, `${now} after ${seen}`);
      // The newest object was there, and no newer one has come.
      assert.ok(!now || seen[1] !== log.end || now[1] === log.end, `${now} after ${seen}`);
      seen = now ?? seen;
      await sleep(HOP_MS);
    }
    for (const node of nodes) {
      for (let i = 0; i < log.end; i++) await node.step();
      await eventually('all are found', async () => (await counts(node))?.[0] === log.end || undefined);
    }
  }));

test('an archive without a log says nothing, and takes the header for nothing [Headers]', () =>
  withApp(
    ({ writer }) => writer.ingest([delivery(1n)], NOW_US).then(() => {}),
    async app => {
      const answer = await app.get('/api/objects/1', { headers: { [HEADER]: 'ffffffff-9-9' } });
      assert.is(answer.status, 200);
      assert.is(answer.headers.get(HEADER), null);
      assert.is(answer.headers.get('Access-Control-Expose-Headers'), 'Retry-After');
    },
  ));

test.run();
