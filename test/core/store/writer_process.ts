/**
 * A process that writes:  writer_process.ts DIRECTORY BROKER FIRST_ID COUNT BATCH [die]
 * After each commit it prints the number of deliveries that are durable. With `die` it kills itself inside the last commit.
 */

import { writeSync } from 'node:fs';
import type { BrokerName } from '../../../src/core/contract/brokers.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { Delivery } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery } from './support.ts';

const [directory, broker, firstId, countText, batchText, end] = process.argv.slice(2) as [
  string,
  BrokerName,
  ...string[],
];
const [first, count, batch] = [BigInt(firstId!), Number(countText), Number(batchText)];

const store = openStore(directory, 'write');
const writer = new Writer(store);
for (let done = 0; done < count; done += batch) {
  const deliveries = Array.from({ length: batch }, (_, i) => delivery(first + BigInt(done + i), { broker }));
  if (end === 'die' && done + batch >= count) deliveries.push(deadly());
  await writer.ingest(deliveries, Date.now() * 1000);
  writeSync(1, `${done + batch}\n`);
}
await store.close();

function deadly(): Delivery {
  return Object.defineProperty({ ...delivery(1n) }, 'position', {
    get: () => {
      process.kill(process.pid, 'SIGKILL');
      // The signal takes a moment; the transaction must not be over before it.
      for (;;);
    },
  });
}
