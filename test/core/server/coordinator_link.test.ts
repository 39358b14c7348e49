/** A serving thread releases every index that it received, including dropped ones. */

import { MessageChannel } from 'node:worker_threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { METRICS } from '../../../src/capabilities/status/channel.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';
import { CoordinatorLink } from '../../../src/core/server/coordinator_link.ts';
import type { ToServer } from '../../../src/core/server/messages.ts';
import { runServer, type ServeTask } from '../../../src/core/server/server_thread.ts';
import { API } from '../../capabilities.ts';
import { configOf, eventually, withDirectory } from '../http/support.ts';

const test = suite('server/coordinator_link');

const MIB = 2 ** 20;
const BYTES = 256 * MIB;

/** Every page is written to, so that it is resident. */
function usedArena(): SharedArrayBuffer {
  const arena = new SharedArrayBuffer(BYTES);
  new Uint8Array(arena).fill(1);
  return arena;
}

test('the memory of an index that was dropped is returned when there is another', async () => {
  const { port1, port2 } = new MessageChannel();
  const link = new CoordinatorLink(port1, new SharedState(), undefined, () => {});
  try {
    const publish = (message: ToServer) => port2.postMessage(message);
    const before = process.memoryUsage().rss;
    const first = { number: 1, sequence: 1, purgedTo: [1], replacedBytes: 0 };
    publish({ kind: 'generation', generation: { ...first, arenas: [usedArena()] } });
    await eventually('it has the first', async () => link.generation?.number === 1 || undefined);
    assert.ok(process.memoryUsage().rss - before > BYTES / 2, 'the index was resident');
    publish({ kind: 'generation', generation: undefined });
    const second = { number: 2, sequence: 1, purgedTo: [], arenas: [], replacedBytes: BYTES };
    publish({ kind: 'generation', generation: second });
    await eventually('it has the second', async () => link.generation?.number === 2 || undefined);
    await eventually('it is returned', async () => process.memoryUsage().rss - before < BYTES / 2 || undefined);
  } finally {
    link.close();
  }
});

test('the memory of the index with which a thread started is returned when there is another', () =>
  withDirectory(async dataDir => {
    const { port1, port2 } = new MessageChannel();
    const before = process.memoryUsage().rss;
    const first = { number: 1, sequence: 1, purgedTo: [1], replacedBytes: 0 };
    const task = {
      config: configOf(dataDir),
      threads: 1,
      host: '127.0.0.1',
      port: 0,
      metrics: new ThreadMetrics().memory,
      state: new SharedState().memory,
      generation: { ...first, arenas: [usedArena()] },
      link: port2,
    } as unknown as ServeTask;
    const listening = new Promise(resolve => port1.once('message', resolve));
    const publish = (message: ToServer) => port1.postMessage(message);
    const ended = runServer(task, API);
    await listening;
    assert.ok(process.memoryUsage().rss - before > BYTES / 2, 'the index was resident');
    const second = { number: 2, sequence: 1, purgedTo: [], arenas: [], replacedBytes: BYTES };
    publish({ kind: 'generation', generation: second });
    await eventually('it is returned', async () => process.memoryUsage().rss - before < BYTES / 2 || undefined);
    publish({ kind: 'drain', drainMs: 0 });
    await ended;
    // The pool's thread holds the task until here.
    assert.is(task.threads, 1);
    port1.close();
  }));

test('what the main thread does not answer in time is refused', async () => {
  const { port1, port2 } = new MessageChannel();
  const link = new CoordinatorLink(port1, new SharedState(), undefined, () => {});
  try {
    const error = await link.ask(METRICS, null, new Budget(0.05)).catch(error => error);
    assert.is(error.constructor, Unavailable);
    assert.is(error.message, 'the service is busy');
  } finally {
    link.close();
    port2.close();
  }
});

test.run();
