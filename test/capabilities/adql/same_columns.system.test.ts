/**
 * Columns have one name everywhere: CSV answers, cone searches and ADQL agree on the same objects in each shared
 * column.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { crossmatched, delivery, match, NOW_US, reshape, searched, withApp } from '../../core/http/support.ts';
import { rowsOf } from '../../core/tables/read_votable.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap/same columns');
const check = needs(test, duckdbObstacle());

type Row = Record<string, string | null>;

const OBJECT = ['diaObjectId', 'ra', 'dec', 'status', 'reliability', 'ingest_time', 'event_time', 'brokers'];
const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'skymapper_dr4', 'delve_dr3_gold'];
const TNS = ['name', 'name_prefix', 'classification', 'redshift', 'separation_arcsec'].map(name => `tns_${name}`);
const OUTCOMES = CATALOGS.map(name => `${name}_outcome`);
/** The columns that CSV shares with each; a cone search counts sources as null if a catalog was not searched. */
const SHARED = {
  cone: [...OBJECT, 'separation_arcsec', 'crossmatched_at', ...OUTCOMES, ...TNS],
  adql: [
    ...OBJECT,
    'match_version',
    'crossmatched_at',
    'provenance_set',
    ...OUTCOMES,
    'matches',
    'tns_checked',
    ...TNS,
  ],
};

/** Times have Z or not, and cells of text none or an empty one for null. */
const plain = (value: string | null | undefined) => value?.replace(/(\d)(\.0+)?Z$/, '$1').replace(/\.0+$/, '') || null;
const byId = (rows: readonly Row[]) =>
  [...rows].sort((a, b) => (BigInt(a.diaObjectId!) < BigInt(b.diaObjectId!) ? -1 : 1));

check('CSV, cone searches and ADQL give each object the same values under the same names', () =>
  withApp(
    async world => {
      const place = { position: { ra: 150, dec: 2 } };
      await world.writer.ingest(
        [7n, 8n, 9n, 10n, 11n].map(id => delivery(id, place)),
        NOW_US,
      );
      for (const broker of ['antares', 'lasair'] as const)
        await world.writer.ingest([delivery(7n, { ...place, broker })], NOW_US);
      await crossmatched(world, 7n, searched('gaia_dr3', 'des_y6_gold'), [
        match('gaia_dr3', '1'),
        match('gaia_dr3', '2'),
      ]);
      const tns = { objid: 1000, name: '2026abc', namePrefix: 'SN', classification: 'SN Ia', redshift: 0.125 };
      reshape(world, 7n, { tns: { checked: true, snapshotEpochUs: NOW_US, separationArcsec: 0.5, ...tns } });
      await crossmatched(world, 8n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
      // A second version of the same source, a pending object with a match that is left over, and one without a record.
      reshape(world, 8n, { state: 'pending' });
      await crossmatched(world, 8n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
      assert.is(world.store.getObject(8n)!.matches.length, 2);
      await crossmatched(world, 9n, searched('gaia_dr3'), [match('gaia_dr3', '1')]);
      reshape(world, 9n, { state: 'pending', records: [] });
      await crossmatched(world, 10n, searched(), []);
      await crossmatched(world, 11n, searched('gaia_dr3'), []);
      reshape(world, 11n, { records: [] });
    },
    async app => {
      const cone = await app.get('/api/cone?ra=150&dec=2&radius_arcsec=5&detail=full&format=csv');
      assert.is(cone.status, 200, cone.text);
      const csv = byId(parse(cone.text, { columns: true }) as Row[]);
      assert.is(csv.length, 5);
      assert.ok(csv.some(row => row.brokers!.includes(' ')) && csv.some(row => row.tns_name));
      const others = {
        cone: byId(rowsOf((await app.get('/vo/scs?RA=150&DEC=2&SR=0.002&VERB=3')).text)),
        adql: byId(parse(await adql(app, 'SELECT * FROM nearsky.objects'), { columns: true }) as Row[]),
      };
      for (const [which, rows] of Object.entries(others)) {
        const names = Object.keys(csv[0]!).filter(name => name in rows[0]!);
        const counts = CATALOGS.map(name => `${name}_matches`);
        assert.equal(
          names.filter(name => !counts.includes(name)).sort(),
          [...SHARED[which as keyof typeof SHARED]].sort(),
        );
        csv.forEach((row, i) => {
          for (const name of names) {
            const other = plain(rows[i]![name]);
            if (counts.includes(name) && other === null) assert.is(Number(row[name]), 0);
            else assert.is(other, plain(row[name]), `${which}: ${name} of ${row.diaObjectId}`);
          }
        });
      }
    },
  ),
);

/** While the tables are made, a query is 503. */
async function adql(app: Parameters<Parameters<typeof withApp>[1]>[0], query: string): Promise<string> {
  const body = new URLSearchParams({ LANG: 'ADQL', RESPONSEFORMAT: 'csv', QUERY: query }).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (let tries = 0; ; tries++) {
    const { status, text } = await app.get('/vo/tap/sync', { method: 'POST', headers, body });
    if (status === 200) return text;
    assert.ok(status === 503 && tries < 300, text);
    await sleep(200);
  }
}

test.run();
