/** TAP's descriptions of tables and columns, and tables instead of JSON. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ProvenanceSet } from '../../../src/core/store/types.ts';
import { match, NOW_US, searched, TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { inWorld, PROVENANCE } from '../crossmatch/world.ts';

const test = suite<{ answers: (query: string, format?: string) => Promise<string>; end: () => void }>('tap/metadata');
const check = needs(test, duckdbObstacle());

const CUT = {
  broker: 'lasair',
  min_reliability: 0.5,
  enforced_by: 'broker',
  status: 'declared',
  as_of: '2026-01-02',
} as const;
const OTHER: ProvenanceSet = {
  crossmatch_radius_arcsec: 2,
  catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR4' }],
  reliability_cuts: [CUT, { ...CUT, broker: 'antares' }],
};

test.before(async context => {
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  const app = await new Promise<TestApp>(
    (resolve, reject) =>
      void inWorld(async world => {
        const place = { ra: 61, dec: -49 };
        await world.addCatalog('gaia_dr3', [place]);
        const [first, second] = await world.ingest([place, { ra: 62, dec: -49 }]);
        const result = (id: bigint) => ({
          diaObjectId: id,
          catalogOutcomes: searched('gaia_dr3'),
          matches: [match('gaia_dr3', '5')],
        });
        await world.writer.recordCrossmatches([first!, second!].map(result), PROVENANCE, NOW_US);
        await world.writer.recordCrossmatches([result(first!)], OTHER, NOW_US + 1_000_000, true);
        const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '60' });
        resolve(app);
        await ended;
        await app.app.close();
      }).catch(reject),
  );
  context.end = end;
  context.answers = async (query, format = 'csv') => {
    for (;;) {
      const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, RESPONSEFORMAT: format }).toString();
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { status, text } = await app.get('/vo/tap/sync', { method: 'POST', headers, body });
      if (status === 200) return text;
      assert.is(status, 503, text);
      await sleep(200);
    }
  };
});

test.after(async ({ end }) => {
  end();
});

const linesOf = (csv: string) => csv.trimEnd().split('\n').slice(1);

check(
  'outcomes and settings of crossmatches, of the present ones and of earlier ones, are rows',
  async ({ answers }) => {
    const asked = async (table: string) =>
      linesOf(
        await answers(
          `SELECT match_version, catalog_name, outcome, catalog_release, crossmatch_radius_arcsec, crossmatched_at FROM nearsky.${table} WHERE catalog_name = 'gaia_dr3' ORDER BY match_version, diaObjectId`,
        ),
      );
    const present = await asked('crossmatches');
    assert.is(present.length, 2);
    assert.match(present[0]!, /^1,gaia_dr3,searched,Gaia DR3,1(\.0)?,/);
    assert.match(present[1]!, /^2,gaia_dr3,searched,Gaia DR4,2(\.0)?,/);
    const older = await asked('older_crossmatches');
    assert.is(older.length, 1);
    assert.match(older[0]!, /^1,gaia_dr3,searched,Gaia DR3,1(\.0)?,/);
    assert.equal(
      linesOf(
        await answers('SELECT broker, min_reliability, enforced_by, cut_status, as_of FROM nearsky.reliability_cuts'),
      ),
      ['lasair,0.5,broker,declared,2026-01-02'],
    );
  },
);

check('no cell holds JSON', async ({ answers }) => {
  const tables = linesOf(await answers("SELECT table_name FROM TAP_SCHEMA.tables WHERE schema_name <> 'TAP_SCHEMA'"));
  assert.ok(tables.includes('nearsky.gaia_dr3_matches') && tables.includes('gaia_dr3.sources'));
  for (const table of tables) assert.not.match(await answers(`SELECT TOP 10 * FROM ${table}`), /[{}[\]]/, table);
});

check('schemas, principal columns, keys and epochs', async ({ answers }) => {
  const schemas = linesOf(
    await answers('SELECT schema_name FROM TAP_SCHEMA.schemas WHERE description IS NOT NULL ORDER BY 1'),
  );
  assert.equal(schemas, ['TAP_SCHEMA', 'gaia_dr3', 'nearsky']);
  for (const table of ['gaia_dr3.sources', 'nearsky.gaia_dr3_matches']) {
    const principal = linesOf(
      await answers(`SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = '${table}' AND principal = 1`),
    );
    for (const name of ['phot_g_mean_mag', 'parallax', 'pmra', 'pmdec', 'ra', 'dec'])
      assert.ok(principal.includes(name), name);
    assert.not.ok(principal.includes('ruwe'));
  }
  const indexed = await answers(
    "SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = 'gaia_dr3.sources' AND indexed = 1",
  );
  assert.equal(linesOf(indexed).sort(), ['dec', 'ra', 'source_id']);
  const keys = await answers(
    "SELECT k.from_table, c.from_column, k.target_table, c.target_column FROM TAP_SCHEMA.keys AS k JOIN TAP_SCHEMA.key_columns AS c USING (key_id) WHERE k.from_table = 'nearsky.gaia_dr3_matches' ORDER BY 2",
  );
  assert.equal(linesOf(keys), [
    'nearsky.gaia_dr3_matches,catalog_source_id,gaia_dr3.sources,source_id',
    'nearsky.gaia_dr3_matches,diaObjectId,nearsky.objects,diaObjectId',
  ]);
  const votable = await answers(
    'SELECT s.ra, s.dec, m.source_ra, m.ra AS object_ra, m.diaObjectId FROM nearsky.gaia_dr3_matches AS m, gaia_dr3.sources AS s',
    'votable',
  );
  assert.match(votable, '<COOSYS ID="icrs_J2016.0" system="ICRS" epoch="J2016.0"/>');
  const refs = [...votable.matchAll(/<FIELD name="(\w+)"[^>]*ref="([^"]*)"/g)].map(([, name, ref]) => `${name} ${ref}`);
  assert.equal(refs, ['ra icrs_J2016.0', 'dec icrs_J2016.0', 'source_ra icrs_J2016.0', 'object_ra icrs']);
  assert.match(await answers('SELECT ingest_time FROM nearsky.objects', 'votable'), '<TIMESYS ID="utc"');
});

check('a division of integers that is 0 is a warning in the VOTable', async ({ answers }) => {
  const near = 'SELECT ra FROM nearsky.objects WHERE DISTANCE(ra, dec, 61, -49) < ';
  assert.match(await answers(`${near}2/3600`, 'votable'), /<INFO name="warning" value="[^"]*2 \/ 3600 is 0/);
  assert.not.match(await answers(`${near}2/3600.`, 'votable'), 'name="warning"');
});

test.run();
