/** GET /api/sources: every source of the catalogs near a position, against a scan of all rows. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import { separationArcsec } from '@nearsky/sky-index';
import { unpack } from 'msgpackr';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { FORMATS } from '../../../src/core/contract/formats.ts';
import { readCatalog } from '../../../src/core/store/catalog_registration.ts';
import { eventually, type Json, TestApp } from '../../core/http/support.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World, type WrittenCatalog } from '../crossmatch/world.ts';

const test = suite('sources/nearby_sources');

const NAMES = CATALOGS.map(({ name }) => name);

async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  // A busy machine must not fail the test.
  const app = new TestApp(join(world.directory, 'data'));
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

async function near(app: TestApp, { ra, dec }: Place, radius: number, further = ''): Promise<Json> {
  const path = `/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=${radius}${further}`;
  const { status, body, text } = await app.get(path);
  assert.is(status, 200, text);
  return body;
}

/** Catalog, id and separation of the rows within the radius, in the order of the answer. */
function expected(catalogs: readonly WrittenCatalog[], { ra, dec }: Place, radius: number) {
  return catalogs
    .flatMap(catalog =>
      Array.from(catalog.id, (id, row) => ({
        catalog: catalog.name,
        id,
        separation: separationArcsec(ra, dec, catalog.ra[row] ?? Number.NaN, catalog.dec[row] ?? Number.NaN),
      })),
    )
    .filter(({ separation }) => separation <= radius)
    .sort(
      (a, b) =>
        a.separation - b.separation ||
        NAMES.indexOf(a.catalog) - NAMES.indexOf(b.catalog) ||
        (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
    )
    .map(({ catalog, id, separation }) => [catalog, `${id}`, separation]);
}

test('at hard places, in catalogs of mixed orders, each source once and nearest first [Sources]', () =>
  inWorld(async world => {
    const random = seededRandom(7);
    const around = () =>
      HARD_PLACES.flatMap(place => Array.from({ length: 30 }, () => offset(place, 80 * random() ** 2, 7 * random())));
    const twice = (places: readonly Place[]) => [...places, ...places.slice(0, 40)];
    const catalogs = [
      await world.addCatalog('gaia_dr3', twice(around()), { maxRows: 25, rowGroupSize: 10 }),
      await world.addCatalog('des_y6_gold', [...around(), { ra: null, dec: 1 }], { maxRows: 35, suffix: '/' }),
    ];
    await withApp(world, async app => {
      let known = 0;
      for (const place of HARD_PLACES) {
        for (const radius of [0.5, 15, 60]) {
          const { count, truncated, sources } = await near(app, place, radius);
          const wanted = expected(catalogs, place, radius);
          assert.equal(
            sources.map((source: Json) => [source.catalog_name, source.catalog_source_id, source.separation_arcsec]),
            wanted,
            `${place.ra} ${place.dec} ${radius}`,
          );
          assert.equal([count, truncated], [wanted.length, false]);
          for (const source of sources) {
            const ofCatalog = wanted.filter(([catalog]) => catalog === source.catalog_name);
            assert.is(source.sources_within_radius, ofCatalog.length);
            const second = ofCatalog[1]?.[2] as number | undefined;
            assert.is(source.second_separation_arcsec, second ?? null);
            assert.is(source.chance_probability === null, source.source_density === null);
            if (source.chance_probability !== null) known++;
          }
        }
      }
      assert.ok(known > 0);
      const all = await near(app, HARD_PLACES[4]!, 60);
      const first = await near(app, HARD_PLACES[4]!, 60, '&limit=3');
      assert.equal([first.count, first.truncated, first.sources], [all.count, true, all.sources.slice(0, 3)]);
      const one = await near(app, HARD_PLACES[4]!, 60, '&catalog=des_y6_gold');
      assert.equal(
        one.sources,
        all.sources.filter((source: Json) => source.catalog_name === 'des_y6_gold'),
      );
    });
  }));

test('in every format; an unknown format is 400; a table says which catalogs were searched [Sources]', () =>
  inWorld(async world => {
    const { id } = await world.addCatalog('gaia_dr3', [{ ra: 340, dec: -30 }]);
    await world.addCatalog('des_y6_gold', [{ ra: 340, dec: -30 }]);
    await withApp(world, async app => {
      const path = '/api/sources?ra=340&dec=-30&radius_arcsec=1&limit=1';
      const ofSource = `/api/sources/gaia_dr3/${id[0]}`;
      for (const asked of [path, `${ofSource}?`]) {
        const refused = await app.get(`${asked}&format=nonsense`);
        assert.equal([refused.status, refused.body.code, refused.body.param], [400, 'invalid_parameter', 'format']);
        const json = await app.get(asked);
        assert.equal((await app.get(`${asked}&format=json`)).body, json.body);
        for (const { name, mediaType } of FORMATS) {
          const answer = await app.app.fetch(new Request(`http://localhost${asked}&format=${name}`));
          assert.is(answer.status, 200, name);
          assert.match(answer.headers.get('Content-Type')!, mediaType);
          const bytes = new Uint8Array(await answer.arrayBuffer());
          if (name === 'msgpack') assert.equal(unpack(bytes).count, json.body.count);
          else if (name !== 'json') {
            const { length } = json.body.sources ?? json.body.objects;
            // NDJSON without rows is empty.
            const rows = bytes.length === 0 ? 0 : (await openTable(bytes, { maxRows: 9, maxBytes: 1e6 }, true)).rows;
            assert.is(rows, length, name);
          }
        }
      }
      const { text, headers } = await app.get(`${path}&format=csv`);
      const [names, cells] = text.split('\n').map(line => line.split(','));
      const of = (name: string) => cells![names!.indexOf(name)];
      const { sources } = (await app.get(path)).body;
      const known = Object.entries(sources[0].catalog_payload).find(([, value]) => typeof value === 'number')!;
      const shown = ['catalog_name', 'catalog_source_id', 'ra', `gaia_dr3_${known[0]}`];
      assert.equal(shown.map(of), ['gaia_dr3', `${id[0]}`, '340', `${known[1]}`]);
      assert.equal([headers.get('X-Row-Count'), headers.get('X-Truncated')], ['1', 'true']);
      assert.match(headers.get('X-Catalog-Outcomes')!, 'gaia_dr3=searched, des_y6_gold=searched, ');
      assert.match(
        (await app.get(ofSource, { headers: { Accept: 'text/csv' } })).text,
        /^diaObjectId,separation_arcsec/,
      );
    });
  }));

test('the outcome of each catalog, columns with units, payloads as published [Sources]', () =>
  inWorld(async world => {
    const gaia = await world.addCatalog('gaia_dr3', [{ ra: 340, dec: -30 }]);
    const des = await world.addCatalog('des_y6_gold', [{ ra: 340, dec: -30 }]);
    await world.addCatalog('delve_dr3_gold', [{ ra: 10, dec: 60 }]);
    await withApp(world, async app => {
      const there = { ra: 340, dec: -30 };
      const outcomes = ({ catalogs }: Json) => catalogs.map((catalog: Json) => [catalog.outcome, catalog.count]);
      const { sources, catalogs, ra, dec, radius_arcsec } = await near(app, there, 1);
      assert.equal([ra, dec, radius_arcsec], [340, -30, 1]);
      assert.equal(outcomes({ catalogs }), [
        ['searched', 1],
        ['searched', 1],
        ['outside_footprint', 0],
        ['not_registered', 0],
      ]);
      const columns = CATALOGS[0]!.columns.map(({ name }) => name.toLowerCase());
      assert.equal(
        catalogs[0].columns.map(({ name }: Json) => name),
        columns,
      );
      assert.ok(catalogs[0].columns.some(({ unit, ucd }: Json) => unit === 'mag' && ucd.startsWith('phot')));
      assert.equal([sources[0].catalog_source_id, sources[0].ra], [`${gaia.id[0]}`, 340]);
      assert.equal(Object.keys(sources[0].catalog_payload), columns);
      const { phot_g_mean_mag: main, phot_rp_mean_mag: reddest } = sources[0].catalog_payload;
      const expected = main !== null ? [main, 'G'] : reddest !== null ? [reddest, 'RP'] : [null, null];
      assert.equal([sources[0].magnitude, sources[0].band], expected);
      rmSync(join(des.location, des.partitions[0]!.files[0]!));
      const unread = await near(app, there, 1);
      assert.equal(outcomes(unread).slice(0, 2), [
        ['searched', 1],
        ['skipped_read_failure', 0],
      ]);
      assert.ok(app.logged.some(([event]) => event === 'catalog_unreadable'));
      assert.not.match(JSON.stringify(unread), /parquet/i, 'nothing of the machine in the answer');
    });
  }));

test('provenance has the releases that were searched, also just after a catalog was replaced [Sources]', () =>
  inWorld(async world => {
    const there = { ra: 340, dec: -30 };
    await world.addCatalog('gaia_dr3', [there]);
    await withApp(world, async app => {
      const before = await near(app, there, 1);
      const release = 'Gaia DR9';
      await world.writer.commit({
        kind: 'register_catalog',
        registration: { ...readCatalog(world.store.databases, 'gaia_dr3')!, release },
      });
      const { provenance } = await near(app, there, 1);
      const [gaia, ...others] = before.provenance.catalogs;
      assert.equal(provenance, { ...before.provenance, catalogs: [{ ...gaia, release }, ...others] });
    });
  }));

test('parameters [Sources]', () =>
  inWorld(async world => {
    await world.addCatalog('gaia_dr3', [{ ra: 10, dec: -30 }]);
    await withApp(world, async app => {
      const wrong: [search: string, param: string, message: RegExp][] = [
        ['dec=1&radius_arcsec=1', 'ra', /without ra/],
        ['ra=1&radius_arcsec=1', 'dec', /without dec/],
        ['ra=1&dec=1', 'radius_arcsec', /without radius_arcsec/],
        ['ra=360.1&dec=1&radius_arcsec=1', 'ra', /at most 360 \(360.1 was given\)/],
        ['ra=1&dec=-91&radius_arcsec=1', 'dec', /at least -90/],
        ['ra=1&dec=1&radius_arcsec=0', 'radius_arcsec', /above 0/],
        ['ra=1&dec=1&radius_arcsec=60.5', 'radius_arcsec', /at most 60/],
        ['ra=1&dec=1&radius_arcsec=1&limit=0', 'limit', /at least 1/],
        ['ra=1&dec=1&radius_arcsec=1&limit=1.5', 'limit', /an integer/],
        ['ra=1&dec=1&radius_arcsec=1&limit=10001', 'limit', /at most 10000/],
        ['ra=1&dec=1&radius_arcsec=1&catalog=usno', 'catalog', /one of gaia_dr3, .*usno/],
        ['ra=1&dec=1&radius_arcsec=1&catalog=', 'catalog', /one of/],
      ];
      for (const [search, param, message] of wrong) {
        const { status, body } = await app.get(`/api/sources?${search}`);
        assert.equal([status, body.code, body.param], [400, 'invalid_parameter', param], search);
        assert.match(body.message, message);
      }
      assert.is((await app.get('/api/sources', { method: 'POST' })).status, 405);
    });
  }));

test('a database that is not there is 503, and searched when it has come [Sources]', () =>
  inWorld(async world => {
    const app = new TestApp(join(world.directory, 'elsewhere'));
    const path = '/api/sources?ra=1&dec=1&radius_arcsec=1';
    const { status, body, headers } = await eventually('it is noticed', async () => {
      const answer = await app.get(path);
      return answer.status === 503 ? answer : undefined;
    });
    assert.equal([status, body.code, headers.get('Retry-After')], [503, 'service_unavailable', '30']);
    await app.app.close();
    assert.is((await app.get(path)).status, 503, 'after the end, too');
  }));

test.run();
