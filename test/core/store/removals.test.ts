/** Removed objects leave nothing behind but their removal, in whatever state they were. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDirectory } from '../../../src/capabilities/status/check.ts';
import { apply } from '../../../src/core/store/apply.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { FILE_NAME } from '../../../src/core/store/data_files.ts';
import { checkPages } from '../../../src/core/store/pages.ts';
import { oldestIds, readLatestIngest } from '../../../src/core/store/recent.ts';
import { type LastRemoval, LastRemovals, removalsAfter } from '../../../src/core/store/removals.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { dump, RandomChanges } from './random_changes.ts';
import { delivery, provenance, result, withStore } from './support.ts';

const test = suite('store/removals');
const SEEDS = Number(process.env.TEST_SEEDS ?? 8);
const SOURCE = { ra: 1, dec: 2, payload: { mag: 18 } };

function applyTo({ databases }: Store, change: Change): void {
  databases.objects.transactionSync(() => {
    try {
      apply(databases, change);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  });
}

/** The positions of objects do not keep the sign of a zero, and their rows do. */
function withoutNegativeZero(change: Change): Change {
  if (change.kind !== 'deliver') return change;
  const deliveries = change.deliveries.map(({ position, ...rest }) => {
    return { ...rest, position: position && { ra: position.ra + 0, dec: position.dec } };
  });
  return { ...change, deliveries };
}

/** Everything of the objects, but for the journal, the rows of the positions, and what was counted over time. */
const contents = (store: Store) => [
  ...dump(store).filter(line => !/^(journal|positions|meta|provenance_sets|payload_keys) /.test(line)),
  JSON.stringify({ ...readCounts(store.databases), journalEntries: 0 }),
  `${readLatestIngest(store.databases)}`,
];

test('a store without some of its objects is one that never had them', () =>
  withStore(async (store, writer) =>
    withStore(async (other, otherWriter) => {
      const all = Array.from({ length: 60 }, (_, i) => BigInt(i));
      const isWrong = (id: bigint) => id % 3n === 0n;
      const fill = async (into: typeof writer, ids: readonly bigint[]) => {
        const deliver = (some: readonly bigint[], broker: string, timeUs: number) =>
          into.ingest(
            some.map(id => delivery(id, { broker, eventTimeUs: 1_772_010_265_000_000 + Number(id) })),
            timeUs,
          );
        await deliver(
          ids.filter(id => id < 50n),
          'lasair',
          1000,
        );
        await deliver(
          ids.filter(id => id >= 50n),
          'fink',
          2000,
        );
        await deliver(
          ids.filter(id => id < 5n),
          'antares',
          3000,
        );
        const results = ids.filter(id => id < 40n).map(id => result(id, id % 2n === 0n ? [SOURCE, SOURCE] : []));
        await into.recordCrossmatches(results, provenance, 4000);
        const again = results.filter(({ diaObjectId }) => diaObjectId < 9n);
        await into.recordCrossmatches(again, { ...provenance, crossmatch_radius_arcsec: 2 }, 5000, true);
      };
      await fill(writer, all);
      await fill(
        otherWriter,
        all.filter(id => !isWrong(id)),
      );
      const before = store.lastSequence();
      assert.is((await writer.remove([...all.filter(isWrong), 1000n, 0n], 'wrong')).removed, 20);
      assert.is((await writer.remove([0n], 'again')).removed, 0);
      assert.is(store.lastSequence(), before + 1);
      assert.equal(
        store.journalAfter(before).map(({ removed }) => removed.length),
        [20],
      );
      assert.is(store.getObject(0n), undefined);
      assert.ok(store.removedSince(before)!(0n));
      assert.is(store.removedSince(before + 1), undefined);
      assert.not(store.removedSince(0)!(1n));
      assert.equal(contents(store), contents(other));
    }),
  ));

test('after random changes everything derived is intact, and a database without objects has none left', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await withStore(async (store, writer, directory) => {
      const changes = new RandomChanges(seededRandom(seed), true);
      for (let i = 0; i < 60; i++) {
        applyTo(store, withoutNegativeZero(changes.change(changes.pick(['deliver', 'crossmatch', 'import']))));
        if (i % 3 === 0) applyTo(store, changes.change('remove'));
      }
      assert.ok([...removalsAfter(store.databases)].length > 3);
      assert.equal((await checkDirectory(directory, () => {})).faults, []);
      const ids = [...store.objects()].map(({ diaObjectId }) => diaObjectId);
      assert.ok(ids.length > 5);
      await writer.remove(ids, 'all');
      assert.equal((await checkDirectory(directory, () => {})).faults, []);
      const left = new Set(dump(store).map(line => line.split(' ', 1)[0]!));
      for (const name of ['objects', 'sources', 'pending', 'unread', 'recent_ingest', 'objects_by_event'])
        assert.not(left.has(name), name);
      assert.not(left.has('matches_by_source'));
      assert.is(readCounts(store.databases).objects, 0);
      assert.is(readLatestIngest(store.databases), null);
      for (const id of ids) assert.ok(store.removedSince(0)!(id));
    });
  }
});

test('the oldest objects are found, also if an import brought times before 1970', () =>
  withStore(async (store, writer) => {
    const times = [1, -1, 0, Number.MIN_SAFE_INTEGER];
    const { broker, diaObjectId: _, ...fields } = delivery(0n);
    const objects = times.map((ingestTimeUs, i) => {
      const object = { ...fields, ingestTimeUs, state: 'pending', brokers: [broker] } as const;
      return { kind: 'object', diaObjectId: BigInt(i), object } as const;
    });
    await writer.import(objects);
    assert.equal(oldestIds(store.databases, { endUs: 1 }), [3n, 1n, 2n]);
    assert.equal(oldestIds(store.databases, { endUs: 0, limit: 1 }), [3n]);
    assert.equal(oldestIds(store.databases, { startUs: 0, endUs: 2 }), [2n, 0n]);
  }));

test('without one of its deliveries an object is one that never had it', () =>
  withStore(async (store, writer, directory) =>
    withStore(async (other, otherWriter) => {
      const ids = Array.from({ length: 30 }, (_, i) => BigInt(i));
      const fill = async (into: typeof writer, brokers: readonly string[]) => {
        for (const [i, broker] of brokers.entries()) {
          const some = ids.filter(id => Number(id) % 3 <= i);
          await into.ingest(
            some.map(id => delivery(id, { broker })),
            1000,
          );
        }
        const results = ids.filter(id => id % 2n === 0n).map(id => result(id, [SOURCE]));
        await into.recordCrossmatches(results, provenance, 4000);
        const again = { ...provenance, crossmatch_radius_arcsec: 2 };
        await into.recordCrossmatches(results.slice(5), again, 5000, true);
      };
      await fill(writer, ['lasair', 'fink', 'antares']);
      await fill(otherWriter, ['lasair', 'fink']);
      // Only antares delivered a third of the objects.
      const shared = ids.filter(id => id % 3n < 2n).length;
      assert.equal(await writer.remove([...ids, 99n], 'wrong', 'antares'), {
        removed: ids.length - shared,
        kept: shared,
      });
      const brokersAndState = (from: Store) =>
        [...from.objects()].map(({ diaObjectId, brokers, state, matches, position, ingestTimeUs }) => {
          return { diaObjectId, brokers, state, matches, position, ingestTimeUs };
        });
      assert.equal(brokersAndState(store), brokersAndState(other));
      assert.equal(readCounts(store.databases).statuses, readCounts(other.databases).statuses);
      assert.equal((await checkDirectory(directory, () => {})).faults, []);
    }),
  ));

test('the space of removed objects is used again', () =>
  withStore(async (store, writer, directory) => {
    const file = join(directory, FILE_NAME);
    const fill = async (from: number) => {
      const ids = Array.from({ length: 20_000 }, (_, i) => BigInt(from + i));
      for (let at = 0; at < ids.length; at += 1000)
        await writer.ingest(
          ids.slice(at, at + 1000).map(id => delivery(id)),
          1000,
        );
      return ids;
    };
    const ids = await fill(0);
    const filled = statSync(file).size;
    const before = store.reusableBytes();
    for (let from = 0; from < ids.length; from += 1000) await writer.remove(ids.slice(from, from + 1000), 'wrong');
    const reusable = store.reusableBytes();
    assert.ok(reusable > before + filled / 3, `${before}, then ${reusable} of ${filled} bytes`);
    assert.is(reusable, freeBytes(file));
    const removed = statSync(file).size;
    await fill(100_000);
    // The journal and the positions keep what they have of removed objects.
    const grown = statSync(file).size - removed;
    assert.ok(grown < filled / 3, `${grown} of ${filled} bytes`);
    assert.is(store.reusableBytes(), freeBytes(file));
  }));

/** The bytes of all pages that belong to no tree, as found by a walk over all trees. */
function freeBytes(file: string): number {
  const { pages, faults } = checkPages(file);
  assert.equal(faults, []);
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt32LE(48);
  const newest = [0, pageBytes].sort((a, b) =>
    Number(bytes.readBigUInt64LE(b + 152) - bytes.readBigUInt64LE(a + 152)),
  )[0]!;
  const lastPage = Number(bytes.readBigUInt64LE(newest + 144));
  return pageBytes * (lastPage + 1 - 2 - pages);
}

test('a removed object that is delivered again is a new one', () =>
  withStore(async (store, writer, directory) => {
    const first = delivery(7n);
    await writer.ingest([first, delivery(8n)], 1000);
    await writer.recordCrossmatches([result(7n, [SOURCE])], provenance, 2000);
    await writer.remove([7n], 'wrong');
    const moved = { ra: 10, dec: -20 };
    assert.equal(await writer.ingest([delivery(7n, { position: moved })], 3000), {
      stored: 1,
      delivered: 0,
      duplicate: 0,
    });
    const object = store.getObject(7n)!;
    assert.equal([object.position, object.state, object.records, object.matches], [moved, 'pending', [], []]);
    assert.equal(store.getSources(7n), []);
    assert.equal(store.pendingIds(9), [7n, 8n]);
    assert.equal((await checkDirectory(directory, () => {})).faults, []);
  }));

test('the last removals of many objects are those of a map', () => {
  const random = seededRandom(7);
  const anyId = () => (BigInt(Math.floor(random() * 2 ** 12)) << BigInt(Math.floor(random() * 5) * 12)) % 2n ** 63n;
  const [removals, expected] = [new LastRemovals(), new Map<bigint, LastRemoval>()];
  for (let sequence = 60; sequence > 0; sequence--) {
    const removal = { sequence, rows: 10 * sequence };
    const ids = Array.from({ length: 300 }, anyId);
    removals.add(removal, ids);
    for (const id of ids) if (!expected.has(id)) expected.set(id, removal);
    assert.is(removals.size, expected.size);
  }
  for (const [id, removal] of expected) assert.is(removals.get(id), removal, `${id}`);
  for (let i = 0; i < 20_000; i++) {
    const id = anyId();
    assert.is(removals.get(id), expected.get(id), `${id}`);
  }
  assert.is(removals.get(2n ** 63n - 1n), undefined);
  assert.is(new LastRemovals().get(0n), undefined);
});

test.run();
