/** A client that goes from node to node, and sends back the last node's position, never sees an older state. */

import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { seededRandom } from '../../oracle/skies.ts';
import { FACTS } from '../facts.ts';
import { deliver, HEADER, type ServingNode, withNodes } from './serving_nodes.ts';
import { delivery, eventually, NOW_US, withApp } from './support.ts';

const test = suite('http/log_place');
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';
const HOPS = 30;
const HOP_MS = 50;

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
    for (const path of [
      ...described,
      '/llms.txt',
      '/api-docs.md',
      ...FACTS.flatMap(({ withoutObjects = [] }) => withoutObjects),
    ])
      assert.not.equal((await behind.app.get(path, { headers })).body?.code, 'service_unavailable', path);
    for (const path of described.slice(0, 5)) assert.is((await behind.app.get(path, { headers })).status, 200, path);
    for (const path of ['/api/objects/2', CONE, '/api/tns/x', '/api/recent-crossmatches'])
      assert.is((await behind.app.get(path, { method: 'PUT', headers })).status, 405, path);
    for (const path of [
      CONE,
      '/api/tns/2026abc',
      '/api/recent-crossmatches',
      ...FACTS.flatMap(({ ofObjects = [] }) => ofObjects),
    ])
      assert.is((await behind.get(path, place)).status, 503, path);
    const waiting = behind.get('/api/objects/2', place);
    await behind.step();
    assert.is((await waiting).body.results[0].status, 'crossmatch_pending');
    // A position of another log, or none, has no effect.
    for (const other of ['ffffffff-9-9', '', '-1', `${place}x`])
      assert.is((await behind.get(CONE, other)).status, 200, other);
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
