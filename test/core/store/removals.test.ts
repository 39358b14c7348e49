/** Removed objects leave nothing behind but their removal, in whatever state they were. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../../src/core/store/apply.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { checkDirectory } from '../../../src/core/store/check.ts';
import { deliveriesIn } from '../../../src/core/store/deliveries.ts';
import { FILE_NAME } from '../../../src/core/store/environment.ts';
import { checkPages } from '../../../src/core/store/pages.ts';
import { type LastRemoval, LastRemovals } from '../../../src/core/store/removals.ts';
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
  JSON.stringify({ ...store.counts(), journalEntries: 0 }),
  `${store.latestIngestTimeUs()}`,
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
      assert.ok([...store.removals()].length > 3);
      assert.equal((await checkDirectory(directory, () => {})).faults, []);
      const ids = [...store.objects()].map(({ diaObjectId }) => diaObjectId);
      assert.ok(ids.length > 5);
      await writer.remove(ids, 'all');
      assert.equal((await checkDirectory(directory, () => {})).faults, []);
      const left = new Set(dump(store).map(line => line.split(' ', 1)[0]!));
      for (const name of ['objects', 'sources', 'pending', 'unread', 'recent_ingest', 'objects_by_event'])
        assert.not(left.has(name), name);
      assert.not(left.has('matches_by_source'));
      assert.is(store.counts().objects, 0);
      assert.is(store.latestIngestTimeUs(), null);
      for (const id of ids) assert.ok(store.removedSince(0)!(id));
    });
  }
});

test('what a broker delivered in a window is found, and what is not recorded is counted', () =>
  withStore(async (store, writer) => {
    const from = (broker: string, ...ids: readonly bigint[]) => ids.map(id => delivery(id, { broker }));
    await writer.ingest(from('lasair', 1n, 2n, 3n), 1000);
    await writer.ingest([...from('fink', 2n, 4n), ...from('lasair', 8n)], 2000);
    await writer.ingest(from('lasair', 4n, 5n, 1n), 3000);
    const found = (fromUs: number, toUs: number, broker = 'lasair') => {
      const { ids, first, undated } = deliveriesIn(store, { broker, fromUs, toUs });
      return [[...ids].sort(), [...first].sort(), undated];
    };
    assert.equal(found(1000, 2000), [[1n, 2n, 3n], [1n, 2n, 3n], 0]);
    assert.equal(found(2000, 3001), [[4n, 5n, 8n], [5n, 8n], 0]);
    assert.equal(found(0, 9000, 'fink'), [[2n, 4n], [4n], 0]);
    assert.equal(found(3001, 9000), [[], [], 0]);
    // A removed delivery is gone until it comes again.
    assert.equal(await writer.remove([2n, 3n, 4n], 'wrong', 'lasair'), { removed: 1, kept: 2 });
    assert.equal(found(0, 9000), [[1n, 5n, 8n], [1n, 5n, 8n], 0]);
    await writer.ingest(from('lasair', 2n, 3n), 4000);
    assert.equal(found(4000, 4001), [[2n, 3n], [3n], 0]);
    assert.equal(found(1000, 2000), [[1n], [1n], 0]);
    const imported = (diaObjectId: bigint, ...brokers: readonly string[]) => {
      const { broker: _, diaObjectId: __, ...fields } = delivery(diaObjectId);
      const object = { ...fields, ingestTimeUs: 1500, state: 'pending', brokers } as const;
      return { kind: 'object', diaObjectId, object } as const;
    };
    await writer.import([imported(6n, 'lasair'), imported(7n, 'fink', 'lasair')]);
    assert.equal(found(1000, 2000), [[1n, 6n], [1n, 6n], 1]);
    assert.equal(found(4000, 4001), [[2n, 3n], [3n], 1], 'lasair may have delivered object 7 then');
    // The time at which fink stored it says nothing of lasair, which an import added.
    await writer.ingest(from('fink', 9n), 1500);
    await writer.import([imported(9n, 'lasair')]);
    await writer.remove([9n], 'wrong', 'fink');
    assert.equal(store.getObject(9n)!.brokers, ['lasair']);
    assert.equal(found(1000, 2000), [[1n, 6n], [1n, 6n], 2]);
    await writer.remove([9n], 'wrong');
    await writer.import([imported(9n, 'lasair')]);
    assert.equal(found(1000, 2000), [[1n, 6n, 9n], [1n, 6n, 9n], 1]);
  }));

test('the oldest objects are found, also if an import brought times before 1970', () =>
  withStore(async (store, writer) => {
    const times = [1, -1, 0, Number.MIN_SAFE_INTEGER];
    const { broker, diaObjectId: _, ...fields } = delivery(0n);
    const objects = times.map((ingestTimeUs, i) => {
      const object = { ...fields, ingestTimeUs, state: 'pending', brokers: [broker] } as const;
      return { kind: 'object', diaObjectId: BigInt(i), object } as const;
    });
    await writer.import(objects);
    assert.equal(store.oldestIds({ endUs: 1 }), [3n, 1n, 2n]);
    assert.equal(store.oldestIds({ endUs: 0, limit: 1 }), [3n]);
    assert.equal(store.oldestIds({ startUs: 0, endUs: 2 }), [2n, 0n]);
  }));

interface ModelObject {
  readonly ingestTimeUs: number;
  /** When each broker delivered it; null if nothing says when. */
  readonly brokers: Map<string, number | null>;
  /** The times of deliveries that were removed: an import may bring them back. */
  readonly former: Map<string, number>;
}

test('what is found in random windows, after random removals and imports, has its time in them', async () => {
  const BROKERS = ['antares', 'fink', 'lasair'];
  let total = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    await withStore(async (store, writer) => {
      const changes = new RandomChanges(seededRandom(seed));
      const model = new Map<bigint, ModelObject>();
      const id = () => BigInt(changes.int(14));
      const window = () => {
        const fromUs = 990 + 10 * changes.int(40);
        return { broker: changes.pick(BROKERS), fromUs, toUs: fromUs + 10 + 10 * changes.int(20) };
      };
      const steps = {
        async deliver(timeUs: number) {
          const deliveries = Array.from({ length: 5 }, () => delivery(id(), { broker: changes.pick(BROKERS) }));
          await writer.ingest(deliveries, timeUs);
          for (const { diaObjectId, broker } of deliveries) {
            const known = model.get(diaObjectId);
            if (!known)
              model.set(diaObjectId, { ingestTimeUs: timeUs, brokers: new Map([[broker, timeUs]]), former: new Map() });
            else if (!known.brokers.has(broker)) known.brokers.set(broker, timeUs);
          }
        },
        async remove() {
          const ids = [id(), id()];
          await writer.remove(ids, 'wrong');
          for (const each of ids) model.delete(each);
        },
        async removeDeliveries() {
          const chosen = window();
          const ids = [...deliveriesIn(store, chosen).ids].slice(0, 3);
          await writer.remove(ids, 'wrong', chosen.broker);
          for (const each of ids) {
            const { brokers, former } = model.get(each)!;
            former.set(chosen.broker, brokers.get(chosen.broker)!);
            brokers.delete(chosen.broker);
            if (brokers.size === 0) model.delete(each);
          }
        },
        async importObject() {
          const diaObjectId = id();
          const known = model.get(diaObjectId);
          const brokers = [...new Set([changes.pick(BROKERS), changes.pick(BROKERS)])].sort();
          const ingestTimeUs = known?.ingestTimeUs ?? 1000 + 10 * changes.int(30);
          const { broker: _, diaObjectId: __, ...fields } = delivery(diaObjectId);
          const object = { ...fields, ingestTimeUs, state: 'pending', brokers } as const;
          await writer.import([{ kind: 'object', diaObjectId, object }]);
          const timeUs = brokers.length === 1 ? ingestTimeUs : null;
          if (!known)
            model.set(diaObjectId, {
              ingestTimeUs,
              brokers: new Map(brokers.map(each => [each, timeUs])),
              former: new Map(),
            });
          else
            for (const each of brokers)
              if (!known.brokers.has(each)) known.brokers.set(each, known.former.get(each) ?? null);
        },
      };
      for (let i = 0; i < 60; i++) {
        await steps[changes.pick(['deliver', 'deliver', 'remove', 'removeDeliveries', 'importObject'] as const)](
          1000 + 10 * i,
        );
        const asked = window();
        const { ids, undated } = deliveriesIn(store, asked);
        const at = `seed ${seed}, step ${i}, ${JSON.stringify(asked)}`;
        let unknown = 0;
        for (const [diaObjectId, { ingestTimeUs, brokers }] of model) {
          const timeUs = brokers.get(asked.broker);
          const isInside = typeof timeUs === 'number' && timeUs >= asked.fromUs && timeUs < asked.toUs;
          if (ids.has(diaObjectId)) assert.ok(isInside, `${diaObjectId}, ${at}`);
          else if (isInside || (timeUs === null && ingestTimeUs < asked.toUs)) unknown++;
        }
        assert.ok(
          [...ids].every(each => model.has(each)),
          at,
        );
        assert.ok(unknown <= undated, at);
        total += ids.size;
      }
    });
  }
  assert.ok(total > 50 * SEEDS, `only ${total} were found`);
});

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
      assert.equal(store.counts().statuses, other.counts().statuses);
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
