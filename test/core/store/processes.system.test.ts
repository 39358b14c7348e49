/** Several processes with one data directory, and their sudden ends. TEST_KILLS sets how often a writer is killed (4). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { startScript } from './script.ts';
import { delivery } from './support.ts';

const test = suite('store/processes');
const kills = Number(process.env.TEST_KILLS ?? 4);
const FIRST_ID = 170_055_002_004_914_266n;

const startWriter = (...args: (string | number | bigint)[]) =>
  startScript(new URL('writer_process.ts', import.meta.url), args.map(String));

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** The journal, the objects and the pending say the same; its entries are numbered without a gap. */
function assertConsistent(store: Store): bigint[] {
  const ids = [...store.objects()].map(object => object.diaObjectId);
  const journal = store.journalAfter(0, 1e9);
  assert.equal(
    journal.map(entry => entry.sequence),
    journal.map((_, i) => i + 1),
  );
  const stored = journal.flatMap(entry => entry.stored);
  assert.equal(new Set(stored), new Set(ids));
  assert.is(stored.length, ids.length, 'each object is stored once');
  assert.equal(store.pendingIds(1e9), ids);
  return ids;
}

test('two processes write at once, and a third sees it all come', () =>
  withDirectory(async directory => {
    await openStore(directory, 'write').close();
    const reader = openStore(directory, 'read');
    const antares = startWriter(directory, 'antares', FIRST_ID, 20_000, 100);
    const lasair = startWriter(directory, 'lasair', FIRST_ID + 10_000n, 20_000, 100);
    let running = 2;
    for (const { ended } of [antares, lasair]) ended.then(() => running--);
    let sequence = 0;
    const seen: bigint[] = [];
    while (running > 0 || reader.lastSequence() > sequence) {
      for (const entry of reader.journalAfter(sequence)) {
        assert.is(entry.sequence, sequence + 1);
        for (const id of entry.stored) assert.is(reader.getObject(id)?.diaObjectId, id);
        seen.push(...entry.stored);
        sequence = entry.sequence;
      }
      await pause(1);
      reader.resetRead();
    }
    for (const { ended } of [antares, lasair]) assert.is((await ended).code, 0);
    assert.is(sequence, 400);
    const ids = assertConsistent(reader);
    assert.is(ids.length, 30_000);
    assert.is(seen.length, 30_000);
    for (const object of reader.objects()) {
      const place = Number(object.diaObjectId - FIRST_ID);
      const brokers = [place < 20_000 && 'antares', place >= 10_000 && 'lasair'].filter(Boolean);
      assert.equal(object.brokers, brokers);
    }
    await reader.close();
  }));

test(`kill -9 of a writer, ${kills} times: what it acknowledged is there`, () =>
  withDirectory(async directory => {
    let [first, acknowledged, killed] = [FIRST_ID, 0, 0];
    while (killed < kills) {
      const { child, ended, output } = startWriter(directory, 'lasair', first, 1_000_000, 50);
      while (output() === '') await pause(1);
      await pause(100 * Math.random());
      child.kill('SIGKILL');
      assert.is((await ended).signal, 'SIGKILL');
      killed++;
      const done = Number(output().trim().split('\n').at(-1));
      const store = openStore(directory, 'read');
      const ids = assertConsistent(store);
      for (let i = 0; i < done; i++) assert.ok(store.getObject(first + BigInt(i)), `acknowledged ${i} of ${done}`);
      acknowledged += done;
      assert.ok(ids.length - acknowledged <= 50 * killed, 'at most the commit under way is more');
      await store.close();
      first += 10_000_000n;
    }
    const store = openStore(directory, 'write');
    await new Writer(store).ingest([delivery(1n)], 5_000);
    assert.is(assertConsistent(store)[0], 1n);
    await store.close();
  }));

test('a process that dies inside a commit leaves nothing of it, and does not keep others from writing', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const { ended } = startWriter(directory, 'lasair', FIRST_ID, 30, 10, 'die');
    const { signal, output } = await ended;
    assert.equal([signal, output], ['SIGKILL', '10\n20\n']);
    assert.is(assertConsistent(store).length, 20);
    await new Writer(store).ingest([delivery(1n)], 5_000);
    assert.is(assertConsistent(store).length, 21);
    await store.close();
  }));

test.run();
