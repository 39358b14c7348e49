/** The tables that are views of stored ones. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { EXAMPLES } from '../../../src/capabilities/adql/tap_formats.ts';
import { delivery, match, NOW_US, PROVENANCE, searched } from '../../core/http/support.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { putOneSource, storeMatched } from './one_source.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap: views');
const check = needs(test, duckdbObstacle());

type Rows = (query: string) => Promise<string[]>;

async function inTables(world: World, use: (rows: Rows) => Promise<void>): Promise<void> {
  const dataDir = join(world.directory, 'data');
  const options = { dataDir, memoryMib: 256, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
  const engine = await Engine.open(options);
  try {
    await use(async query => (await answerOf(engine, query)).trim().split(/\r?\n/).slice(1));
  } finally {
    await closed(engine);
  }
}

check('outer joins by distance keep each row', () =>
  inWorld(async world => {
    await fillSky(world.writer, 200);
    await inTables(world, async rows => {
      const on = 'DISTANCE(t.ra, t.dec, o.ra, o.dec) < 0.002';
      for (const table of ['crossmatches', 'older_crossmatches', 'reliability_cuts', 'tns', 'gaia_dr3_matches']) {
        const [count] = await rows(`SELECT COUNT(*) FROM ${table}`);
        for (const join of ['LEFT', 'FULL']) {
          const joined = (from: string) =>
            rows(
              `SELECT t.diaObjectId, o.diaObjectId FROM ${from} AS t ${join} JOIN objects AS o ON ${on} ORDER BY 1, 2`,
            );
          const found = await joined(table);
          assert.ok(found.length >= Number(count) && Number(count) > 0);
          assert.equal(found, await joined(`(SELECT * FROM ${table})`), `${table}: ${join}`);
        }
      }
    });
  }),
);

check('a column of a catalog that has the name of the pixel in another table has its own values', () =>
  inWorld(async world => {
    await putOneSource(world, 'healpix', '29');
    const query = 'SELECT diaObjectId, "29" FROM healpix_matches ORDER BY 1';
    await storeMatched(world, 1n, 'healpix', '29');
    await inTables(world, async rows => assert.equal(await rows(query), ['1,1']));
    await storeMatched(world, 2n, 'healpix', '29');
    await inTables(world, async rows => assert.equal(await rows(query), ['1,1', '2,1']));
  }),
);

check('crossmatches that applied proper motions have their releases', () =>
  inWorld(async world => {
    const cross = (release: string) => {
      const catalogs = [{ name: 'gaia_dr3', release, proper_motion: true as const }];
      const record = { diaObjectId: 1n, catalogOutcomes: searched('gaia_dr3'), matches: [] };
      return world.writer.recordCrossmatches([record], { ...PROVENANCE, catalogs }, NOW_US, release !== 'first');
    };
    await world.writer.ingest([delivery(1n)], NOW_US);
    await cross('first');
    await cross('second');
    await inTables(world, async rows => {
      const releases = (table: string) => rows(`SELECT catalog_release FROM ${table} WHERE catalog_name = 'gaia_dr3'`);
      assert.equal(await releases('crossmatches'), ['second']);
      assert.equal(await releases('older_crossmatches'), ['first']);
    });
  }),
);

check('matches have the values that columns can hold, also if the source had other columns when it was found', () =>
  inWorld(async world => {
    await putOneSource(world, 'mine', 'mag');
    const payloads = [
      { ra: 10, dec: 0, mag: 1, more: 2 },
      { mag: 3 },
      { ra: 'x', dec: 0, mag: 4 },
      { ra: 10, dec: 0, mag: '5' },
    ];
    for (const [i, payload] of payloads.entries()) {
      const diaObjectId = BigInt(i + 1);
      await world.writer.ingest([delivery(diaObjectId)], NOW_US);
      const matches = [match('mine', '7', { payload })];
      const result = { diaObjectId, catalogOutcomes: searched('mine'), matches };
      await world.writer.recordCrossmatches([result], PROVENANCE, NOW_US);
    }
    await inTables(world, async rows =>
      assert.equal(await rows('SELECT diaObjectId, mag FROM mine_matches ORDER BY 1'), ['1,1', '2,3', '3,4', '4,']),
    );
  }),
);

check('the newest crossmatch has the tables of matches; earlier ones have tables of their own [Objects]', () =>
  inWorld(async ({ writer, ...world }) => {
    const of = (id: bigint) => ({ diaObjectId: id, catalogOutcomes: searched('gaia_dr3') });
    const later = (release: string) => ({ ...PROVENANCE, catalogs: [{ name: 'gaia_dr3', release }] });
    await writer.ingest(
      [1n, 2n, 3n, 4n].map(id => delivery(id)),
      NOW_US,
    );
    const first = [1n, 2n].map(id => ({ ...of(id), matches: [match('gaia_dr3', `${id}`)] }));
    const outside = { diaObjectId: 3n, catalogOutcomes: [['gaia_dr3', 'outside_footprint']] as const, matches: [] };
    await writer.recordCrossmatches([...first, outside, { ...of(4n), matches: [] }], later('DR3'), NOW_US);
    // The source of object 1 has another id, that of object 2 is gone.
    const again = [
      { ...of(1n), matches: [match('gaia_dr3', '11')] },
      { ...of(2n), matches: [] },
    ];
    await writer.recordCrossmatches(again, later('DR4'), NOW_US + 1, true);
    await inTables({ writer, ...world } as World, async rows => {
      for (const table of ['matches', 'gaia_dr3_matches']) {
        const ids = (name: string) =>
          rows(`SELECT diaObjectId, catalog_source_id, match_version FROM ${name} ORDER BY 1`);
        assert.equal(await ids(table), ['1,11,2']);
        assert.equal(await ids(`${table}_history`), ['1,1,1', '2,2,1']);
      }
      assert.equal(await rows('SELECT COUNT(*), SUM(matches) FROM objects'), ['4,1']);
      assert.equal(await rows('SELECT diaObjectId, status, gaia_dr3_matches FROM objects ORDER BY 1'), [
        '1,coincident_sources,1',
        '2,no_coincident_source,0',
        '3,not_searched,',
        '4,no_coincident_source,0',
      ]);
      // A join counts object 3, where nothing was searched.
      const [, query] = EXAMPLES.find(([name]) => name === 'none')!.slice(1) as [string, string];
      assert.equal(
        (await rows(`${query} ORDER BY 1`)).map(row => row.split(',')[0]),
        ['2', '4'],
      );
      // A change in place, into the tables that exist.
      await writer.recordCrossmatches(
        [{ ...of(4n), matches: [match('gaia_dr3', '44')] }],
        later('DR4'),
        NOW_US + 2,
        true,
      );
      const deadlineMs = Date.now() + 20_000;
      while ((await rows('SELECT COUNT(*) FROM matches'))[0] !== '2' && Date.now() < deadlineMs);
      assert.equal(await rows('SELECT diaObjectId FROM gaia_dr3_matches ORDER BY 1'), ['1', '4']);
      assert.equal(await rows('SELECT gaia_dr3_matches FROM objects WHERE diaObjectId = 4'), ['1']);
    });
  }),
);

test.run();
