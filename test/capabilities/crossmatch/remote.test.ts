/** The crossmatcher and remote catalogs that fail. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CrossmatchRecord } from '../../../src/core/store/types.ts';
import { everyNth, type RangeServer, serveFiles } from '../../core/catalogs/range_server.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World } from './world.ts';

const test = suite('crossmatcher and remote catalogs');

async function inServedWorld(use: (world: World, server: RangeServer) => Promise<void>): Promise<void> {
  await inWorld(async world => {
    const server = await serveFiles(world.directory);
    try {
      await use(world, server);
    } finally {
      await server.close();
    }
  });
}

const recordOf = (world: World, id: bigint): CrossmatchRecord | undefined => world.store.getObject(id)!.records.at(-1);
const outcomesOf = (world: World, id: bigint) => Object.fromEntries(recordOf(world, id)?.catalogOutcomes ?? []);

test('over a host that fails one request in ten: the result of the directory', () =>
  inServedWorld(async (world, server) => {
    const random = seededRandom(2);
    const around = (reach: number) =>
      offset(HARD_PLACES[Math.floor(random() * HARD_PLACES.length)]!, reach * random() ** 2, random() * 7);
    const sources = () => Array.from({ length: 400 }, () => around(6));
    const names = ['gaia_dr3', 'skymapper_dr4'] as const;
    for (const name of names) await world.addCatalog(name, sources(), { maxRows: 20, rowGroupSize: 10 });
    const positions = Array.from({ length: 500 }, () => around(8));
    const local = await world.ingest(positions);
    await world.crossmatch();
    server.fault = everyNth(10, ['drop', 'slow', 'truncate', 'error']);
    for (const name of names) await world.register({ name, location: `${server.url}/${name}` });
    const far = await world.ingest(positions, 500_000_000_000_000_000n);
    const { recorded, problems, reads } = await world.crossmatch();
    assert.is(recorded, 500);
    assert.equal(problems, []);
    let matched = 0;
    far.forEach((id, at) => {
      const expected = world.store.getObject(local[at]!)!;
      matched += expected.matches.length;
      assert.equal(world.store.getObject(id)!.matches, expected.matches);
      assert.equal(world.store.getSources(id), world.store.getSources(local[at]!));
      assert.equal(outcomesOf(world, id), outcomesOf(world, local[at]!));
    });
    assert.ok(matched > 300, String(matched));
    assert.ok(reads.retries > 0 && reads.requests > 10 * reads.retries * 0.5, JSON.stringify(reads));
    assert.ok(reads.networkBytes > 10_000 && reads.diskBytes === 0, JSON.stringify(reads));
  }));

test('a catalog that is out of reach is skipped, the others count; with none the objects wait and are tried again', () =>
  inServedWorld(async (world, server) => {
    const places = [
      { ra: 10, dec: -30 },
      { ra: 200, dec: 40 },
    ];
    const gaia = world.writeCatalog('gaia_dr3', places, { minOrder: 2 });
    await world.register({ name: gaia.name, location: `${server.url}/gaia_dr3` });
    await world.addCatalog('delve_dr3_gold', [places[0]!]);
    const [both, gaiaOnly] = await world.ingest(places);
    server.fault = () => 'drop';
    const { recorded, unreadable, problems } = await world.crossmatch();
    assert.equal([recorded, unreadable], [2, 0]);
    assert.equal(outcomesOf(world, both!), { gaia_dr3: 'skipped_read_failure', delve_dr3_gold: 'searched' });
    assert.equal(
      world.store.getObject(both!)!.matches.map(({ catalogName }) => catalogName),
      ['delve_dr3_gold'],
    );
    assert.equal(outcomesOf(world, gaiaOnly!), {
      gaia_dr3: 'skipped_read_failure',
      delve_dr3_gold: 'outside_footprint',
    });
    assert.ok(problems.every(({ kind, catalogName }) => kind === 'unreadable' && catalogName === 'gaia_dr3'));
    assert.match(problems[0]!.reason, /Cannot read http:.*parquet: .*, tried \d times/);
    server.fault = () => undefined;
    assert.is((await world.crossmatch()).recorded, 2);
    assert.equal(outcomesOf(world, gaiaOnly!), { gaia_dr3: 'searched', delve_dr3_gold: 'outside_footprint' });
    assert.is(world.store.getObject(gaiaOnly!)!.matches.length, 1);
  }));

test('a catalog that is replaced while it is read is read anew, and not in part', () =>
  inServedWorld(async (world, server) => {
    // Long enough that the columns are not read together with the end of the file.
    const places = Array.from({ length: 2000 }, (_, row) => ({ ra: 10 + row / 1000, dec: -30 }));
    const ids = (first: bigint) => places.map((_, row) => first + BigInt(row));
    world.writeCatalog('gaia_dr3', places, { maxOrder: 0 }, ids(1_000_000n));
    await world.register({ name: 'gaia_dr3', location: `${server.url}/gaia_dr3` });
    let replacements = 0;
    server.fault = ({ path, range }) => {
      if (/Npix/.test(path) && !range?.startsWith('bytes=-') && replacements++ === 0)
        world.writeCatalog('gaia_dr3', [...places, { ra: 11, dec: -31 }], { maxOrder: 0 }, [...ids(2_000_000n), 5n]);
      return undefined;
    };
    const [id] = await world.ingest([places[7]!]);
    const { recorded, problems } = await world.crossmatch();
    assert.equal([recorded, problems], [1, []]);
    assert.ok(replacements > 1);
    assert.is(world.store.getObject(id!)!.matches[0]!.catalogSourceId, '2000007');
  }));

test.run();
