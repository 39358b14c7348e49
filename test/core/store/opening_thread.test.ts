/** Threads that are ended while they open or close the database, at random moments. Without care, that aborts the process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import { Pool, type Task } from '../../../src/core/pool/pool.ts';
import { eventually } from '../../directory.ts';
import { seededRandom } from '../../oracle/skies.ts';
import type { OpeningData } from './opening_thread.ts';
import { failure, withStore } from './support.ts';

const test = suite('store/opening_thread');
const TASK: Task<never> = { module: 'test/core/store/opening_thread', kind: 'open' };
const ENDINGS = 8;

test('a thread that opens and closes the database can be ended at any moment', () =>
  withStore(async (_store, _writer, dataDir) => {
    const random = seededRandom(1);
    for (let i = 0; i < ENDINGS; i++) {
      const counts = new SharedArrayBuffer(4);
      const pool = new Pool({ threads: 1, threadData: { dataDir, counts } satisfies OpeningData });
      const stop = new AbortController();
      const how = i % 2 ? { ends: stop.signal } : { signal: stop.signal };
      const task = pool.run(TASK, how);
      await eventually('it opens', async () => new Int32Array(counts)[0]! > 3 || undefined);
      await sleep(10 * random());
      stop.abort(new Error('enough'));
      await failure(() => task);
      await pool.close();
    }
  }));

test.run();
