/**
 * node bench/writer.ts DATA SKY FROM TO BATCH PER_SECOND: stores points of a sky in commits of BATCH, at most
 * PER_SECOND points per second. For each durable commit, it prints a line: the number after its last point, and the
 * time (ms since 1970).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/core/store/store.ts';
import { Writer } from '../src/core/store/writer.ts';
import { deliveries } from './processes.ts';
import { readSky } from './sky.ts';

const [dataDir, skyDir, ...numbers] = process.argv.slice(2);
const [from, to, batch, perSecond] = numbers.map(Number) as [number, number, number, number];
const sky = readSky(skyDir!);
const store = openStore(dataDir!, 'write');
const writer = new Writer(store);
const start = performance.now();
for (let point = from; point < to; point += batch) {
  const wait = ((point - from) / perSecond) * 1000 - (performance.now() - start);
  if (wait > 1) await sleep(wait);
  const end = Math.min(to, point + batch);
  await writer.ingest(deliveries(sky, point, end), Date.now() * 1000);
  process.stdout.write(`${end} ${performance.timeOrigin + performance.now()}\n`);
}
await store.close();
