/** GET /api/sources/{catalog}/{catalog_source_id}: the objects that are recorded with a source. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeObject } from '../../../src/core/store/records.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type Json, putBytes, TestApp, withApp as withStored } from '../../core/http/support.ts';
import { delivery, provenance, result } from '../../core/store/support.ts';
import { offset } from '../../oracle/skies.ts';
import { inWorld, type World } from '../crossmatch/world.ts';

const test = suite('sources/source_objects');

const PLACE = { ra: 359.9999, dec: -30 };
const LARGEST = 2n ** 63n - 1n;

async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await new TestApp(join(world.directory, 'data')).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

const listed = ({ objects }: Json) => objects.map((object: Json) => object.diaObjectId_str);

test('the objects of a source are those whose own answers list it [Sources]', () =>
  inWorld(async world => {
    const ids = [LARGEST, -5n, 7n];
    const places = [PLACE, offset(PLACE, 30, 1), offset(PLACE, 30, 2)];
    await world.addCatalog('gaia_dr3', places, {}, ids);
    await world.addCatalog('des_y6_gold', places, {}, ids);
    const around = (at: number) => [0.2, 0.4, 0.9, 1.2].map((radius, i) => offset(places[at]!, radius, i));
    await world.ingest([...around(0), ...around(1), null]);
    await world.crossmatch();
    await withApp(world, async app => {
      const seen = new Map<string, string[]>();
      const everything = (await app.get(`/api/cone?ra=${PLACE.ra}&dec=${PLACE.dec}&radius_arcsec=60`)).body;
      for (const { diaObjectId_str, matches } of everything.results[0].objects) {
        for (const { catalog_name, catalog_source_id, separation_arcsec } of matches) {
          const source = `${catalog_name}/${catalog_source_id}`;
          seen.set(source, [...(seen.get(source) ?? []), `${diaObjectId_str} ${separation_arcsec}`].sort());
        }
      }
      assert.is(seen.size, 4);
      for (const [source, expected] of seen) {
        const { status, body } = await app.get(`/api/sources/${source}`);
        assert.is(status, 200);
        assert.equal(`${body.catalog_name}/${body.catalog_source_id}`, source);
        assert.equal(
          body.objects.map((object: Json) => `${object.diaObjectId_str} ${object.separation_arcsec}`),
          expected,
        );
        assert.equal([body.count, body.truncated], [3, false]);
      }
      for (const none of ['gaia_dr3/7', 'gaia_dr3/8', `skymapper_dr4/${LARGEST}`]) {
        const { status, body } = await app.get(`/api/sources/${none}`);
        assert.equal([status, body.count, body.objects], [200, 0, []]);
      }
    });
  }));

test('a source that the newest crossmatches did not find has no object [Objects]', () =>
  withStored(
    async ({ writer }) => {
      await writer.ingest([delivery(1n), delivery(2n)], 1000);
      const source = { ra: 1, dec: 2, payload: null };
      await writer.recordCrossmatches([result(1n, [source]), result(2n, [source])], provenance, 2000);
    },
    async (app, { store, writer }) => {
      const { catalogSourceId } = store.getObject(1n)!.matches[0]!;
      const objects = async () => listed((await app.get(`/api/sources/gaia_dr3/${catalogSourceId}`)).body);
      assert.equal(await objects(), ['1', '2']);
      const later = { ...provenance, crossmatch_radius_arcsec: 2 };
      await writer.recordCrossmatches([result(1n)], later, 3000, true);
      assert.equal(await objects(), ['2']);
      await writer.recordCrossmatches([result(2n)], later, 4000, true);
      assert.equal(await objects(), []);
    },
  ));

test('matches that are imported, and objects that do not say what the listing says', () =>
  withStored(
    async ({ writer, store }) => {
      const source = { ra: 1, dec: 2, payload: { parallax: 0.5 } };
      await writer.ingest([delivery(1n), delivery(2n), delivery(3n)], 1000);
      await writer.recordCrossmatches([result(1n, [source]), result(2n, [source])], provenance, 2000);
      const [match] = store.getObject(1n)!.matches;
      const records = store.getObject(1n)!.records.map(record => ({ ...record, provenance }));
      const [{ provenanceSet: _, provenance: set, ...record }] = records as [(typeof records)[0]];
      const { diaObjectId: __, records: ___, matches: ____, tns: _____, ...object } = store.getObject(1n)!;
      const outcomes = await new Writer(store).import([
        { kind: 'match', diaObjectId: 4n, match: match!, source },
        { kind: 'crossmatch_record', diaObjectId: 4n, record, provenance: set },
        { kind: 'object', diaObjectId: 4n, object },
        { kind: 'object', diaObjectId: 5n, object: { ...object, state: 'pending' } },
        { kind: 'match', diaObjectId: 5n, match: match!, source },
      ]);
      assert.equal(
        outcomes,
        outcomes.map(() => 'imported'),
      );
      // Nothing in the listing is believed that the object does not say.
      putBytes(store, 2n, encodeObject({ ...store.getObject(2n)!, matches: [] }));
    },
    async (app, { store }) => {
      const [{ catalogName, catalogSourceId }] = store.getObject(1n)!.matches as [Json];
      const { body } = await app.get(`/api/sources/${catalogName}/${catalogSourceId}`);
      assert.equal(listed(body), ['1', '4'], 'the matches of a pending object are not current');
    },
  ));

test('more objects than are listed [Sources]', () =>
  withStored(
    async ({ writer }) => {
      const ids = Array.from({ length: 1001 }, (_, at) => BigInt(at));
      await writer.ingest(
        ids.map(id => delivery(id)),
        1000,
      );
      const source = { ra: 1, dec: 2, payload: null };
      await writer.recordCrossmatches(
        ids.map(id => result(id, [source])),
        provenance,
        2000,
      );
    },
    async (app, { store }) => {
      const [{ catalogName, catalogSourceId }] = store.getObject(1n)!.matches as [Json];
      const { body } = await app.get(`/api/sources/${catalogName}/${catalogSourceId}`);
      assert.equal([body.count, body.truncated, listed(body).at(-1)], [1000, true, '999']);
      const all = await app.get(`/api/sources/${catalogName}/${catalogSourceId}?limit=1001`);
      assert.equal([all.body.count, all.body.truncated], [1001, false]);
    },
  ));

test('names that are none [Sources]', () =>
  withStored(
    async () => {},
    async app => {
      const wrong: [path: string, param: string, message: RegExp][] = [
        ['usno/1', 'catalog', /one of gaia_dr3/],
        ['gaia_dr3/', 'catalog_source_id', /./],
        ['gaia_dr3/1.5', 'catalog_source_id', /64-bit integer/],
        ['gaia_dr3/9223372036854775808', 'catalog_source_id', /64-bit integer/],
        ['gaia_dr3/1?limit=0', 'limit', /at least 1/],
        ['gaia_dr3/x', 'catalog_source_id', /64-bit integer/],
      ];
      for (const [path, param, message] of wrong) {
        const { status, body } = await app.get(`/api/sources/${path}`);
        if (path.endsWith('/')) assert.is(status, 404);
        else {
          assert.equal([status, body.param], [400, param], path);
          assert.match(body.message, message);
        }
      }
      assert.is((await app.get('/api/sources/gaia_dr3/a%2Fb')).status, 404);
      assert.is((await app.get('/api/sources/gaia_dr3/1', { method: 'POST' })).status, 405);
      assert.is((await app.get('/api/sources/gaia_dr3/-007')).body.catalog_source_id, '-7');
    },
  ));

test.run();
