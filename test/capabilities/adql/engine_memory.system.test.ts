/** Memory that no query of the engine holds, and the query that took it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EngineMemory } from '../../../src/capabilities/adql/engine_memory.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const MIB = 2 ** 20;
const test = suite('tap: memory of the engine');
const check = needs(test, duckdbObstacle());

check('an engine is worn when half of its memory is lost, and not before', async () => {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MiB' });
  const memory = await EngineMemory.open(await instance.connect(), 256);
  try {
    const lost = [Buffer.alloc(64 * MIB, 1)];
    assert.not(await memory.isWorn());
    lost.push(Buffer.alloc(96 * MIB, 1));
    assert.ok(await memory.isWorn());
    // An update of the tables measures the idle memory anew, which must not hide the loss.
    await memory.noteIdle();
    assert.ok(await memory.isWorn());
    assert.is(lost.length, 2);
  } finally {
    memory.close();
    instance.closeSync();
  }
});

check(
  'a query that finds no memory is not blamed when another one was interrupted or failed at that time',
  async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MiB' });
    const memory = await EngineMemory.open(await instance.connect(), 256);
    try {
      assert.ok(await memory.isTaken());
      await sleep(1000);
      assert.equal(await Promise.all([memory.isTaken(), memory.isTaken()]), [false, false]);
      await sleep(1000);
      memory.noteInterrupted();
      assert.not(await memory.isTaken());
      await sleep(1000);
      const judged = memory.isTaken();
      memory.noteInterrupted();
      assert.not(await judged);
    } finally {
      memory.close();
      instance.closeSync();
    }
  },
);

test.run();
