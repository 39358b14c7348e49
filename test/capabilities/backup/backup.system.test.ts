/** Copies of a data directory that other processes write to. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { startScript } from '../../core/store/script.ts';
import { delivery } from '../../core/store/support.ts';
import { eventually, nearsky, start, withDirectory } from '../../e2e/support.ts';

const test = suite('store/backup');
const BATCH = 100;

const lastOf = (output: string) => Number(output.trim().split('\n').at(-1) || 0);

test('while two processes write, each copy holds what was acknowledged before it, whole commits only', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await openStore(data, 'write').close();
    const script = new URL('../../core/store/writer_process.ts', import.meta.url);
    const writers = [1, 2].map(n => startScript(script, [data, 'lasair', `${n}000000000`, '10000000', `${BATCH}`]));
    try {
      while (writers.some(({ output }) => lastOf(output()) < BATCH)) await new Promise(wait => setTimeout(wait, 5));
      for (let copy = 0; copy < 3; copy++) {
        const target = join(directory, `copy${copy}`);
        const before = writers.map(({ output }) => lastOf(output()));
        const counts = await nearsky('backup', target, '--data', data);
        const store = openStore(target, 'read');
        const ids = [...store.objects()].map(({ diaObjectId }) => diaObjectId);
        const journal = store.journalAfter(0, 1e9);
        const pending = store.pendingIds(1e9);
        await store.close();
        assert.equal([counts.objects, counts.pending, counts.journalEntries], [ids.length, ids.length, journal.length]);
        assert.equal(pending, ids);
        assert.is(journal.at(-1)!.sequence, journal.length);
        const stored = journal.flatMap(entry => entry.stored).sort((a, b) => (a < b ? -1 : 1));
        assert.equal(stored, ids);
        for (const [i, acknowledged] of before.entries()) {
          const of = ids.filter(id => id / 1_000_000_000n === BigInt(i + 1)).length;
          assert.ok(of >= acknowledged && of % BATCH === 0, `${of} of writer ${i}, acknowledged ${acknowledged}`);
        }
      }
    } finally {
      for (const { child, ended } of writers) {
        child.kill('SIGKILL');
        await ended;
      }
    }
  }));

test('what a killed one left behind is removed by the next to the same place, and a living one is not disturbed', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    await new Writer(store).ingest([delivery(1n)], 1_000_000);
    await store.close();
    const other = startScript(new URL('../../core/store/claim_process.ts', import.meta.url), [data]);
    try {
      await eventually('the other process has the database open', async () => other.output() !== '' || undefined);
      const target = join(directory, 'copy');
      const dead = `${target}.999999999.part`;
      const others = [`${directory}/co.999999999.part`, `${target}.x.part`, `${target}.part`, `${target}2.9.part`];
      const alive = `${target}.${other.child.pid}.part`;
      for (const path of [dead, ...others, alive]) mkdirSync(join(path, 'rejected'), { recursive: true });
      const { code, stderr } = await start(['backup', target, '--data', data]).finished;
      assert.is(code, 1);
      assert.match(stderr, `because process ${other.child.pid} is making one there: wait until it finishes`);
      other.child.kill('SIGKILL');
      await other.ended;
      assert.is((await nearsky('backup', target, '--data', data)).objects, 1);
      assert.equal([dead, alive].filter(existsSync), []);
      assert.equal(others.filter(existsSync), others);
    } finally {
      other.child.kill('SIGKILL');
      await other.ended;
    }
  }));

test.run();
