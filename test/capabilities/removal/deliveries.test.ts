/** The objects that a broker delivered in a window of time. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deliveriesIn } from '../../../src/capabilities/removal/deliveries.ts';
import { RandomChanges } from '../../core/store/random_changes.ts';
import { delivery, withStore } from '../../core/store/support.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite('removal/deliveries');
const SEEDS = Number(process.env.TEST_SEEDS ?? 8);

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

test.run();
