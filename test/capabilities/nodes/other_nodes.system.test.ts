/** Which node holds most, and what may be done on a damaged directory. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginLog } from '../../../src/capabilities/nodes/beginning.ts';
import { type Holding, holdMost, otherNodes } from '../../../src/capabilities/nodes/other_nodes.ts';
import { metricsText } from '../../../src/capabilities/status/service_metrics.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { LostPlace } from '../../../src/core/cluster/record_log.ts';
import type { runMetrics } from '../../../src/core/store/metrics_task.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { Link, MemoryLog } from '../../core/cluster/memory_log.ts';
import { delivery, failure } from '../../core/store/support.ts';
import { start, withDirectory } from '../../e2e/support.ts';

const test = suite('nodes/other_nodes');
const NOWHERE = 'http://127.0.0.1:1';

/** The names of the nodes that hold most. */
const most = (nodes: Readonly<Record<string, Partial<Holding> | undefined>>) =>
  holdMost(
    Object.entries(nodes).map(([name, holding]) => ({
      name,
      found: holding && { sequence: 5, applied: 5, log: 'old', isDamaged: false, ...holding },
    })),
  ).map(({ name }) => name);

test('damaged nodes hold nothing; positions are compared within one log only', () => {
  assert.equal(most({ a: {}, b: { applied: 4 }, c: undefined }), ['a']);
  assert.equal(most({ a: {}, b: { sequence: 6, applied: 1 } }), ['b']);
  assert.equal(most({ a: {}, b: { sequence: 9, isDamaged: true } }), ['a']);
  assert.equal(most({ a: { isDamaged: true }, b: { sequence: 1 } }), ['b']);
  assert.equal(most({ a: { isDamaged: true }, b: undefined }), []);
  // After `node leave` and `node begin`, positions count from 0 again.
  assert.equal(most({ a: { log: 'new', applied: 1 }, b: {}, c: { applied: 4 } }), ['a', 'b']);
  assert.equal(most({ a: { log: 'new', applied: 1, sequence: 6 }, b: {} }), ['a']);
  assert.equal(most({ a: { log: null, applied: 0 }, b: {} }), ['a', 'b']);
});

test('/metrics says which log a node follows, and whether its data is damaged', async () => {
  const state = new SharedState();
  Object.assign(state, { logTimeUs: 1, logFollowedMs: 1, logPosition: 7, isStopped: true, isDamaged: true });
  const stored = {
    ...{ tnsSnapshotEpochUs: null, latestIngestTimeUs: null, lastSequence: 9, objects: 0, pending: 0 },
    ...{ log: 'a cluster/a topic', published: new Map(), counters: {}, catalogs: [] },
  } satisfies ReturnType<typeof runMetrics>;
  const text = metricsText({ threads: [], operations: [], replaced: 0, index: undefined, stored, state, parts: [] });
  const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [here, nowhere] = await otherNodes([address, NOWHERE]);
    assert.equal(here!.found, { sequence: 9, applied: 7, log: 'a cluster/a topic', isDamaged: true });
    assert.is(nowhere!.found, undefined);
  } finally {
    server.close();
  }
});

test('where damage was found, commands exit with 1 and name it; status says so, and begin refuses', () =>
  withDirectory(async directory => {
    const [data, nothing] = [join(directory, 'data'), join(directory, 'nothing')];
    writeFileSync(nothing, '');
    const store = openStore(data, 'write');
    const writer = new Writer(store);
    await writer.ingest([delivery(1n)], 1);
    await writer.noteDamage('5 of objects');
    // It stays, whatever claims are taken later.
    await writer.claim([1n]);
    const alone = await failure(() => beginLog(store, new Link(new MemoryLog())));
    assert.instance(alone, LostPlace);
    await store.close();
    const settings = { NEARSKY_LOG: 'kafka://127.0.0.1:1/nowhere', NEARSKY_LOG_TLS: 'no', NEARSKY_NODES: NOWHERE };
    const run = (...args: string[]) => start([...args, '--data', data], settings).finished;
    for (const args of [['ingest', '--broker', 'lasair', nothing], ['crossmatch'], ['import', nothing]]) {
      const { code, stderr } = await run(...args);
      assert.is(code, 1, stderr);
      assert.match(stderr, /5 of objects has changed on the disk since it was stored: start this node from a backup/);
    }
    const { code, stdout } = await run('node', 'status', '--json');
    const { damaged, holds_most } = JSON.parse(stdout);
    assert.equal([code, damaged, holds_most], [0, '5 of objects', []]);
  }));

test.run();
