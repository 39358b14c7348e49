/** A pool thread that opens and closes the database of its data directory again and again. It counts that in shared memory. */
import { setImmediate } from 'node:timers/promises';
import { threadData } from '../../../src/core/pool/thread_data.ts';
import { openStore } from '../../../src/core/store/store.ts';

export interface OpeningData {
  readonly dataDir: string;
  readonly counts: SharedArrayBuffer;
}

const { dataDir, counts } = threadData<OpeningData>() as OpeningData;

export const tasks = { open: run };

async function run(): Promise<never> {
  for (;;) {
    const store = openStore(dataDir, 'read');
    Atomics.add(new Int32Array(counts), 0, 1);
    await setImmediate();
    await store.close();
  }
}
