/**
 * A program that stores objects and prints, after each batch that was acknowledged, how many there are. A test records it and cuts its power.
 *
 *   node storing.ts ours DATA      through our writer
 *   node storing.ts default FILE   into LMDB as its addon opens it by default
 *   node storing.ts count FILE     prints how many `default` has left; a file in pieces may end the process in the addon
 */
import * as assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { open } from 'lmdb';
import { flush } from '../../src/core/base/files.ts';
import { openStore } from '../../src/core/store/store.ts';
import { Writer } from '../../src/core/store/writer.ts';

const BATCHES = 25;
const BATCH = 8;

const [settings, path] = process.argv.slice(2) as ['ours' | 'default' | 'count', string];
const textOf = (key: number) => `value ${key} `.repeat(20);
const acknowledge = (stored: number) => writeSync(1, `${stored}\n`);

async function storeOurs(): Promise<void> {
  const store = openStore(path, 'write');
  const writer = new Writer(store);
  for (let stored = 0; stored < BATCHES * BATCH; ) {
    const deliveries = Array.from({ length: BATCH }, (_, i) => ({
      diaObjectId: BigInt(stored + i + 1),
      position: { ra: (stored + i) / 10, dec: -10 },
      reliability: 0.9,
      eventTimeUs: 1_772_010_265_123_456,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, 1_790_000_000_000_000 + stored);
    stored += BATCH;
    acknowledge(stored);
  }
  await store.close();
}

async function storeByDefault(): Promise<void> {
  const database = open<string, number>({ path });
  // A database as it looks long after its creation.
  flush(dirname(path));
  for (let stored = 0; stored < BATCHES * BATCH; ) {
    for (let i = 0; i < BATCH; i++) void database.put(++stored, textOf(stored));
    await database.flushed;
    acknowledge(stored);
  }
  await database.close();
}

async function count(): Promise<void> {
  const database = open<string, number>({ path });
  const stored = [...database.getRange({})];
  for (const { key, value } of stored) assert.equal(value, textOf(key));
  acknowledge(stored.length);
  await database.close();
}

await { ours: storeOurs, default: storeByDefault, count }[settings]();
