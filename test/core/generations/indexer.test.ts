/**
 * The index follows the journal, is stored beside the database, and is rebuilt whenever the stored index cannot be
 * trusted.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Arena, ConeHits, openGeneration } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Indexer } from '../../../src/core/generations/indexer.ts';
import type { BuiltArena, MergeAnswer, SaveIndexTask } from '../../../src/core/generations/tasks.ts';
import { Pool, type RunOptions, type Task, type TaskRunner } from '../../../src/core/pool/pool.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { CallingThread, withThreads } from '../pool/calling_thread.ts';
import { startScript } from '../store/script.ts';
import { delivery } from '../store/support.ts';

const test = suite('generations/indexer');

const { position } = delivery(0n);
const TIME_US = 1_790_000_000_000_000;

interface Publishing {
  readonly indexer: Indexer;
  readonly events: readonly string[];
  /** Ids in the current generation, ascending; each as often as it is there. */
  ids(): bigint[];
  /** Waits until the index has this many objects. */
  holds(count: number): Promise<void>;
  close(): Promise<void>;
}

const threadsOf = (directory: string) => new Pool({ threads: 2, threadData: { dataDir: directory } });

async function publish(
  directory: string,
  pool: TaskRunner = new CallingThread({ dataDir: directory }),
): Promise<Publishing> {
  const events: string[] = [];
  const indexer = new Indexer({ dataDir: directory, pool, log: event => events.push(event) });
  indexer.start();
  await eventually('there is a generation', async () => indexer.current);
  const ids = () => {
    const { arenas } = openGeneration(indexer.current!);
    return arenas.flatMap(idsOf).sort((a, b) => (a < b ? -1 : 1));
  };
  return {
    indexer,
    events,
    ids,
    holds: count =>
      eventually(`the index holds ${count} objects`, async () => ids().length === count || undefined).then(() => {}),
    close: async () => {
      await indexer.close();
      await pool.close();
    },
  };
}

function rowsOf(arena: Arena): number[] {
  return Array.from({ length: arena.length }, (_, row) => row);
}

function idsOf(arena: Arena): bigint[] {
  return rowsOf(arena).map(row => arena.id(row));
}

function range(first: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt(first + i));
}

async function withWriter(body: (directory: string, writer: Writer) => Promise<void>): Promise<void> {
  await withDirectory(async directory => {
    const store = openStore(directory, 'write');
    await body(directory, new Writer(store));
    await store.close();
  });
}

const ingest = (writer: Writer, ids: readonly bigint[], fields = {}) =>
  writer.ingest(
    ids.map(id => delivery(id, fields)),
    TIME_US,
  );

test('what this process stores is found, once, with its columns', () =>
  withThreads(() =>
    withWriter(async (directory, writer) => {
      await ingest(writer, range(1, 3));
      const index = await publish(directory, threadsOf(directory));
      assert.equal(index.ids(), range(1, 3));
      await ingest(writer, range(3, 4), { broker: 'antares' });
      await ingest(writer, [100n], { position: null });
      await ingest(writer, [7n]);
      await index.holds(7);
      assert.equal(index.ids(), range(1, 7));
      const sky = openGeneration(index.indexer.current!);
      const hits = new ConeHits();
      assert.is(sky.coneSearch(position!.ra, position!.dec, 1, hits), 7);
      assert.ok(sky.arenas.every(arena => rowsOf(arena).every(row => arena.time(row) === TIME_US)));
      await index.close();
    }),
  ));

test('what is removed is found no more, also after a restart, until it is stored anew', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(0, 3000));
    let index = await publish(directory);
    await ingest(writer, range(3000, 10));
    await index.holds(3010);
    const wrong = range(0, 3010).filter(id => id % 3n === 0n);
    const right = range(0, 3010).filter(id => id % 3n !== 0n);
    await writer.remove(wrong, 'wrong');
    await index.holds(right.length);
    assert.equal(index.ids(), right);
    await index.close();

    index = await publish(directory);
    assert.equal(index.ids(), right);
    await index.close();

    // While nothing follows the journal: removed, restored with the same ingest time, and removed once more.
    await writer.remove(right.slice(0, 3), 'wrong');
    await ingest(writer, right.slice(0, 2));
    await writer.remove(right.slice(0, 1), 'wrong');
    await ingest(writer, [...wrong.slice(0, 1), ...right.slice(2, 3)]);
    const left = [...wrong.slice(0, 1), ...right.slice(1)];
    for (const isStored of [true, false]) {
      if (!isStored) writeFileSync(join(directory, 'index/generation'), '');
      index = await publish(directory);
      await index.holds(left.length);
      assert.equal(index.ids(), left);
      index.indexer.discard();
      await eventually('there is another generation', async () => index.indexer.current);
      assert.equal(index.ids(), left);
      await index.close();
    }
  }));

test('what another process stores is found', () =>
  withWriter(async directory => {
    const index = await publish(directory);
    const script = new URL('../store/writer_process.ts', import.meta.url);
    const { code } = await startScript(script, [directory, 'lasair', '5000', '40', '8']).ended;
    assert.is(code, 0);
    await index.holds(40);
    assert.equal(index.ids(), range(5000, 40));
    await index.close();
  }));

test('many commits: the arenas stay few, and every row is there once', () =>
  withThreads(() =>
    withWriter(async (directory, writer) => {
      const index = await publish(directory, threadsOf(directory));
      let stored = 0;
      for (let commit = 0; commit < 24; commit++) {
        const count = commit % 3 === 0 ? 9000 : 700;
        await ingest(writer, range(stored, count));
        stored += count;
        await index.holds(stored);
      }
      await eventually('few arenas', async () => index.indexer.current!.arenas.length <= 8 || undefined);
      assert.equal(index.ids(), range(0, stored));
      await index.close();
    }),
  ));

test('a published arena is never written again, whatever comes after it', () =>
  withThreads(() =>
    withWriter(async (directory, writer) => {
      await ingest(writer, range(0, 1100));
      const index = await publish(directory, threadsOf(directory));
      const { arenas } = index.indexer.current!;
      const before = arenas.map(arena => Buffer.from(new Uint8Array(arena)));
      for (let stored = 1100; stored < 11_000; stored += 1100) {
        await ingest(writer, range(stored, 1100));
        await index.holds(stored + 1100);
      }
      assert.is.not(index.indexer.current!.arenas[0], arenas[0], 'the arena has been merged');
      for (const [i, arena] of arenas.entries()) assert.ok(before[i]!.equals(new Uint8Array(arena)), `arena ${i}`);
      await index.close();
    }),
  ));

test('a new start reads the kept index and follows from there', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(1, 50));
    await (await publish(directory)).close();
    assert.equal(readdirSync(join(directory, 'index')), ['generation']);
    await ingest(writer, range(51, 10));
    const index = await publish(directory);
    assert.equal(index.ids(), range(1, 60));
    assert.is(index.indexer.current!.arenas.length, 1, 'the new rows were built together with the few old ones');
    await index.close();
  }));

const file = (directory: string) => join(directory, 'index', 'generation');

/** The number of rows in the stored index, according to its header; undefined if there is none. */
function keptRows(directory: string): number | undefined {
  if (!existsSync(file(directory))) return undefined;
  const bytes = readFileSync(file(directory));
  return JSON.parse(bytes.toString('utf8', 16, 16 + bytes.readUInt32LE(12))).rows;
}

test('the index is kept while it grows, not only at the end: a process that is killed leaves a recent one', () =>
  withWriter(async (directory, writer) => {
    mkdirSync(join(directory, 'index'));
    const leftBehind = 2 ** 22 + 1;
    writeFileSync(join(directory, 'index', `generation.${leftBehind}.part`), 'half');
    const index = await publish(directory);
    for (const [first, count] of [
      [1, 50],
      [51, 10],
    ] as const) {
      await ingest(writer, range(first, count));
      const rows = first + count - 1;
      await eventually(`${rows} rows are kept`, async () => keptRows(directory) === rows || undefined);
    }
    assert.equal(readdirSync(join(directory, 'index')), ['generation']);
    assert.equal(index.ids(), range(1, 60));
    await index.close();
  }));

/** Changes the kept index of 50 objects and starts again, for each change: every time the 50 objects are found. */
async function assertRecovers(changes: readonly ((file: string) => void)[]): Promise<void> {
  await withWriter(async (directory, writer) => {
    await ingest(writer, range(1, 50));
    const pool = threadsOf(directory);
    const first = await publish(directory, pool);
    await first.indexer.close();
    for (const change of changes) {
      change(file(directory));
      const after = await publish(directory, pool);
      assert.equal(after.ids(), range(1, 50), `${change}`);
      assert.equal(after.events, ['index_ready']);
      await after.indexer.close();
    }
    await pool.close();
  });
}

test('a damaged file is not believed, wherever the damage is', () => {
  const places = [() => 0, () => 9, () => 13, () => 20, (size: number) => size >> 1, (size: number) => size - 1];
  return assertRecovers(
    places.map(place => path => {
      const bytes = readFileSync(path);
      const at = place(bytes.length);
      bytes[at] = bytes[at]! ^ 0x10;
      writeFileSync(path, bytes);
    }),
  );
});

test('a file cut short or with more at its end is not believed', () => {
  const lengths = [() => 0, () => 5, () => 40, (size: number) => size - 33, (size: number) => size - 1];
  return assertRecovers([
    ...lengths.map(length => (path: string) => truncateSync(path, length(readFileSync(path).length))),
    path => writeFileSync(path, 'x', { flag: 'a' }),
  ]);
});

test('an index of another database is not believed', () =>
  withWriter(async (other, otherWriter) => {
    await ingest(otherWriter, range(900, 5));
    await (await publish(other)).close();
    const foreign = readFileSync(file(other));
    await withWriter(async (directory, writer) => {
      await ingest(writer, range(1, 5));
      mkdirSync(join(directory, 'index'));
      writeFileSync(file(directory), foreign);
      const index = await publish(directory);
      assert.equal(index.ids(), range(1, 5), 'as many journal entries, but others');
      await index.close();
    });
    await withWriter(async (directory, writer) => {
      mkdirSync(join(directory, 'index'));
      writeFileSync(file(directory), foreign);
      const index = await publish(directory);
      assert.equal(index.ids(), [], 'the journal has not come so far');
      await ingest(writer, range(1, 2));
      await index.holds(2);
      await index.close();
    });
  }));

test('an index of the same messages stored in another order is not believed', async () => {
  const [north, south] = [
    { ra: 10, dec: 50 },
    { ra: 10, dec: -50 },
  ];
  /** The journal is the same whichever comes first: one entry that stores object 1, one that it was delivered again. */
  const inOrder = async (writer: Writer, first: typeof north, second: typeof south, timeUs: number) => {
    await writer.ingest([delivery(1n, { broker: 'lasair', position: first })], timeUs);
    await writer.ingest([delivery(1n, { broker: 'antares', position: second })], timeUs + 1);
  };
  await withWriter(async (other, otherWriter) => {
    await inOrder(otherWriter, north, south, TIME_US);
    await (await publish(other)).close();
    await withWriter(async (directory, writer) => {
      await inOrder(writer, south, north, TIME_US + 1000);
      mkdirSync(join(directory, 'index'));
      writeFileSync(file(directory), readFileSync(file(other)));
      const index = await publish(directory);
      const sky = openGeneration(index.indexer.current!);
      assert.is(sky.coneSearch(south.ra, south.dec, 1, new ConeHits()), 1);
      assert.is(sky.coneSearch(north.ra, north.dec, 1, new ConeHits()), 0);
      await index.close();
    });
  });
});

test('an index of a history that differs in its first row alone is not believed', () =>
  withWriter(async (other, otherWriter) => {
    const begin = async (writer: Writer, dec: number) => {
      await ingest(writer, [1n], { position: { ra: 10, dec } });
      for (let commit = 0; commit < 3; commit++) await ingest(writer, range(2 + 1000 * commit, 1000));
    };
    await begin(otherWriter, 50);
    await (await publish(other)).close();
    await withWriter(async (directory, writer) => {
      await begin(writer, -50);
      mkdirSync(join(directory, 'index'));
      writeFileSync(file(directory), readFileSync(file(other)));
      const index = await publish(directory);
      const sky = openGeneration(index.indexer.current!);
      assert.is(sky.coneSearch(10, -50, 1, new ConeHits()), 1);
      assert.is(sky.coneSearch(10, 50, 1, new ConeHits()), 0);
      await index.close();
    });
  }));

test('an index that is discarded is built anew, not read from the file', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(1, 5));
    await (await publish(directory)).close();
    const index = await publish(directory);
    const { number } = index.indexer.current!;
    index.indexer.discard();
    assert.is(index.indexer.current, undefined);
    await eventually('there is another generation', async () => index.indexer.current);
    assert.ok(index.indexer.current!.number > number);
    assert.equal(index.ids(), range(1, 5));
    await index.close();
  }));

test('late answers from a generation that was discarded leave the index that was built since', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(1, 5));
    const index = await publish(directory);
    const { number, replacedBytes } = index.indexer.current!;
    index.indexer.discard(number);
    index.indexer.discard(number);
    const after = await eventually('there is another generation', async () => index.indexer.current);
    assert.ok(after.replacedBytes > replacedBytes, 'threads learn that they may let go of the arenas of before');
    index.indexer.discard(number);
    assert.is(index.indexer.current, after);
    await index.close();
  }));

test('why the database cannot be read is told until it can', () =>
  withDirectory(async directory => {
    const pool = new CallingThread({ dataDir: directory });
    const events: string[] = [];
    const indexer = new Indexer({ dataDir: directory, pool, log: event => events.push(event) });
    assert.is(indexer.failure, undefined);
    indexer.start();
    const first = await eventually('it failed', async () => indexer.failure);
    assert.instance(first.error, StoreError);
    assert.is(first.latestMs, first.firstMs);
    const second = await eventually('it failed again', async () => {
      const { failure } = indexer;
      return failure!.latestMs > first.latestMs ? failure! : undefined;
    });
    assert.equal([second.error, second.firstMs], [first.error, first.firstMs]);
    const store = openStore(directory, 'write');
    await ingest(new Writer(store), range(1, 3));
    await eventually('there is a generation', async () => indexer.current);
    assert.is(indexer.failure, undefined);
    assert.is(events.filter(event => event === 'index_failed').length, 1, `once: ${events}`);
    await indexer.close();
    await pool.close();
    await store.close();
  }));

/** Fails to build the index once, and then delays it until it is released. */
class FailsOnce extends Pool {
  tries = 0;
  readonly gate = Promise.withResolvers<void>();

  override async run<Result>(task: Task<Result>, options?: RunOptions): Promise<Result> {
    if (task.kind === 'tail' && ++this.tries === 1) throw new Error('once');
    if (task.kind === 'tail') await this.gate.promise;
    return await super.run(task, options);
  }
}

test('the time of a try that goes on is none for which the database could not be read', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(1, 5));
    const pool = new FailsOnce({ threads: 2, threadData: { dataDir: directory } });
    const indexer = new Indexer({ dataDir: directory, pool, log: () => {} });
    indexer.start();
    await eventually('it tries again', async () => pool.tries > 1 || undefined);
    const { firstMs, latestMs } = indexer.failure!;
    assert.is(latestMs, firstMs);
    pool.gate.resolve();
    await eventually('there is a generation', async () => indexer.current);
    await eventually('there is no failure', async () => indexer.failure === undefined || undefined);
    await indexer.close();
    await pool.close();
  }));

/** Delays the answers of merges until they are released, and records which merges and saves ran. */
class SlowMerges extends Pool {
  readonly merged: BuiltArena[] = [];
  readonly saved: SharedArrayBuffer[] = [];
  readonly gate = Promise.withResolvers<void>();

  override async run<Result>(task: Task<Result>, options?: RunOptions): Promise<Result> {
    if (task.kind === 'saveIndex') this.saved.push(...(task as unknown as SaveIndexTask).arenas);
    const result = await super.run(task, options);
    if (task.kind === 'merge') {
      this.merged.push((result as MergeAnswer).arena!);
      await this.gate.promise;
    }
    return result;
  }
}

test('while removed objects are taken out of the index, it is ready, follows the journal, and says which rows are void', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(0, 3000));
    await (await publish(directory)).close();
    await writer.remove(range(0, 1000), 'wrong');
    const pool = new SlowMerges({ threads: 2, threadData: { dataDir: directory } });
    const index = await publish(directory, pool);
    await eventually('they are being taken out', async () => pool.merged.length || undefined);
    // One of them is stored anew, with the same ingest time.
    await ingest(writer, [...range(3000, 10), 5n]);
    await index.holds(3011);
    await writer.remove([3003n], 'wrong');
    const store = openStore(directory, 'read');
    const sequence = store.lastSequence();
    await eventually('the index has followed', async () => index.indexer.current!.sequence === sequence || undefined);
    const { purgedTo } = index.indexer.current!;
    const removed = store.removedAfter(0);
    const valid = openGeneration(index.indexer.current!).arenas.flatMap((arena, i) =>
      idsOf(arena).filter(each => (removed.get(each)?.sequence ?? 0) <= purgedTo[i]!),
    );
    const left = [5n, ...range(1000, 2003), ...range(3004, 6)];
    assert.equal(
      valid.sort((a, b) => (a < b ? -1 : 1)),
      left,
    );
    pool.gate.resolve();
    await index.holds(left.length);
    assert.equal(index.ids(), left);
    await index.close();
    await store.close();
  }));

test('an index that is discarded while it is merged is not kept', () =>
  withWriter(async (directory, writer) => {
    const pool = new SlowMerges({ threads: 2, threadData: { dataDir: directory } });
    const index = await publish(directory, pool);
    for (let stored = 0; stored < 10 * 1100; ) {
      await ingest(writer, range(stored, 1100));
      stored += 1100;
      await index.holds(stored);
    }
    await eventually('a merge', async () => pool.merged.length || undefined);
    index.indexer.discard();
    await eventually('there is another generation', async () => index.indexer.current);
    pool.gate.resolve();
    await index.close();
    assert.is(pool.saved.length, 1, 'the index that was built anew');
    assert.not(pool.saved.includes(pool.merged[0]!.buffer));
  }));

/** Merges fail, so removed objects stay in the index. */
class FailingMerges extends Pool {
  override async run<Result>(task: Task<Result>, options?: RunOptions): Promise<Result> {
    if (task.kind === 'merge') throw new Error('no memory is left');
    return super.run(task, options);
  }
}

test('an index from which removed objects could not be taken out is not kept', () =>
  withWriter(async (directory, writer) => {
    await ingest(writer, range(0, 3000));
    await (await publish(directory)).close();
    const pool = new FailingMerges({ threads: 2, threadData: { dataDir: directory } });
    let index = await publish(directory, pool);
    await ingest(writer, range(3000, 10));
    await writer.remove([5n], 'wrong');
    await eventually('merges fail', async () => index.events.includes('index_failed') || undefined);
    await index.holds(3010);
    await index.close();

    index = await publish(directory);
    await index.holds(3009);
    assert.not(index.ids().includes(5n));
    await index.close();
  }));

test.run();
