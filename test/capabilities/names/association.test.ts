/** The registry association that is recorded with a crossmatch, against a scan of the registry. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Associator } from '../../../src/capabilities/names/association.ts';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { nowUs } from '../../../src/core/base/times.ts';
import { Pool } from '../../../src/core/pool/pool.ts';
import { findByName, readRegistrySnapshot } from '../../../src/core/store/registry.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { SkyPosition, TnsAssociation, TnsRecord } from '../../../src/core/store/types.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { NO_TNS, withStore } from '../../core/store/support.ts';
import { nearestByScan } from '../../oracle/brute_force.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('tns/association');
const HOUR_US = 3_600_000_000;

const record = (objid: number, place: SkyPosition, fields: Partial<TnsRecord> = {}): TnsRecord => {
  return { objid, name: `2026x${objid}`, namePrefix: 'AT', ...place, classification: null, redshift: null, ...fields };
};

async function publish(writer: Writer, records: readonly TnsRecord[], epochUs: number): Promise<void> {
  const load = await writer.commit({ kind: 'begin_registry' });
  await writer.commit({ kind: 'stage_registry', load, records });
  await publishLoad(writer, load, epochUs);
}

/** Runs with an associator of a store, and a pool that reads it. */
async function withAssociator(
  directory: string,
  store: Store,
  use: (associator: Associator) => Promise<void>,
  radiusArcsec = 1,
): Promise<void> {
  const pool = new Pool({ threads: 1, threadData: { dataDir: directory } });
  try {
    await use(new Associator({ store, pool, radiusArcsec, maxAgeSeconds: 7200 }));
  } finally {
    await pool.close();
  }
}
const unchecked: TnsAssociation = { checked: false, snapshotEpochUs: null, ...NO_TNS };

test('the nearest within the radius, of equal ones the lowest objid, all over the sky', () =>
  withStore(async (store, writer, directory) => {
    const random = seededRandom(3);
    const near = () => offset(HARD_PLACES[Math.floor(random() * HARD_PLACES.length)]!, 3 * random(), 7 * random());
    const records = Array.from({ length: 400 }, (_, i) => record(1000 - i, near()));
    // The same places again under lower and higher objids.
    for (let i = 0; i < 100; i++) records.push(record(i % 2 ? 2000 + i : i, records[i]!));
    const epochUs = nowUs() - HOUR_US;
    await publish(writer, records, epochUs);
    const columns = {
      ra: Float64Array.from(records, ({ ra }) => ra),
      dec: Float64Array.from(records, ({ dec }) => dec),
      id: BigInt64Array.from(records, ({ objid }) => BigInt(objid)),
    };
    const positions = [...Array.from({ length: 600 }, near), null, ...records.slice(0, 50), ...HARD_PLACES];
    for (const radiusArcsec of [1, 0.3]) {
      await withAssociator(
        directory,
        store,
        async associator => {
          const found = await associator.associate(positions);
          assert.is(found.length, positions.length);
          let matched = 0;
          for (const [i, position] of positions.entries()) {
            const best = position && nearestByScan(columns, position.ra, position.dec, radiusArcsec);
            const known = best && records.find(({ objid }) => BigInt(objid) === best.id)!;
            if (known) matched++;
            const { ra: _, dec: __, ...names } = known ?? { ra: 0, dec: 0, ...NO_TNS };
            const separationArcsec = best?.separationArcsec ?? null;
            const expected = position
              ? { checked: true, snapshotEpochUs: epochUs, ...names, separationArcsec }
              : unchecked;
            assert.equal(found[i], { ...NO_TNS, ...expected });
          }
          assert.ok(matched > 100 && matched < positions.length);
        },
        radiusArcsec,
      );
    }
  }));

test('nothing is checked without a snapshot, or with one that is too old', () =>
  withStore(async (store, writer, directory) => {
    const place = { ra: 10, dec: -20 };
    await withAssociator(directory, store, async associator => {
      assert.equal(await associator.associate([place]), [unchecked]);
      await publish(writer, [record(1, place)], nowUs() - 7201 * 1e6);
      assert.equal(await associator.associate([place]), [unchecked]);
      await publish(writer, [record(1, place)], nowUs() - 7000 * 1e6);
      assert.is((await associator.associate([place]))[0]!.objid, 1);
      assert.equal(await associator.associate([]), []);
    });
  }));

test('a new snapshot, and a change of one, count from the next call on', () =>
  withStore(async (store, writer, directory) => {
    const [place, other] = [
      { ra: 10, dec: -20 },
      { ra: 200, dec: 40 },
    ];
    const epochUs = nowUs() - HOUR_US;
    await publish(writer, [record(5, place)], epochUs);
    await withAssociator(directory, store, async associator => {
      const objids = async () => (await associator.associate([place, other])).map(({ objid }) => objid);
      assert.equal(await objids(), [5, null]);
      await publish(writer, [record(6, other)], epochUs);
      assert.equal(await objids(), [null, 6]);
      const changes = [record(7, place), record(6, { ra: 1, dec: 1 }, { name: '2026moved' })];
      await writer.commit({
        kind: 'change_registry',
        base: readRegistrySnapshot(store.databases)!,
        records: changes,
        epochUs: epochUs + 1,
      });
      assert.equal(await objids(), [7, null]);
      assert.equal(
        [findByName(store.databases, '2026moved')?.objid, findByName(store.databases, '2026x6')],
        [6, undefined],
      );
      assert.is((await associator.associate([place]))[0]!.snapshotEpochUs, epochUs + 1);
    });
  }));

test('it is recorded with the crossmatch, once [Ingest and states; Objects]', () =>
  inWorld(async world => {
    const place = { ra: 10, dec: -30 };
    await world.addCatalog('gaia_dr3', [place]);
    const [matched, elsewhere, invalid] = await world.ingest([place, { ra: 10, dec: -30.01 }, null]);
    const epochUs = nowUs() - HOUR_US;
    const known = record(3, offset(place, 0.5, 1), { classification: 'SN Ia', redshift: 0.1, namePrefix: 'SN' });
    await publish(world.writer, [known], epochUs);
    await withAssociator(`${world.directory}/data`, world.store, async associator => {
      await world.crossmatch({ associator });
    });
    const tnsOf = (id: bigint) => world.store.getObject(id)!.tns!;
    const { separationArcsec, ...rest } = tnsOf(matched!);
    const { ra: _, dec: __, ...names } = known;
    assert.equal(rest, { checked: true, snapshotEpochUs: epochUs, ...names });
    assert.ok(Math.abs(separationArcsec! - 0.5) < 1e-6);
    assert.equal(tnsOf(elsewhere!), { checked: true, snapshotEpochUs: epochUs, ...NO_TNS });
    assert.equal(tnsOf(invalid!), unchecked);
    const [without] = await world.ingest([place], 7n);
    await world.crossmatch();
    assert.is(world.store.getObject(without!)!.tns, null);
  }));

test.run();
