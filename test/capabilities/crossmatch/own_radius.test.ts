/** Catalogs with a radius of their own, against a scan of all rows over the seams of the sky and of partitions. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogPositionsWriter } from '../../../src/capabilities/catalogs/positions_writer.ts';
import { differsFrom } from '../../../src/capabilities/crossmatch/again.ts';
import { catalogsInService } from '../../../src/capabilities/crossmatch/crossmatcher.ts';
import { Pool } from '../../../src/core/pool/pool.ts';
import { readCatalog, readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { addRadiusCatalog, RADII, scan, seams } from './own_radii.ts';
import { inWorld } from './world.ts';

const test = suite('crossmatch/own radius');

test('the same with stored positions', () =>
  inWorld(async world => {
    const dataDir = join(world.directory, 'data');
    const kept = [new CatalogPositionsWriter(dataDir), new CatalogPositionsWriter(dataDir)];
    const catalogs = [
      await addRadiusCatalog(world, 'galaxies', kept[0]),
      await addRadiusCatalog(world, 'xray', kept[1]),
    ];
    assert.ok(kept.every(({ files, problem }) => files > 50 && problem === undefined));
    const objects = [...seams(12, 45, 3), ...catalogs[1]!.places.slice(0, 40)];
    const ids = await world.ingest(objects);
    await using pool = new Pool({ threads: 1, threadData: { dataDir, catalogs: { memoryBytes: 1 << 20 } } });
    await world.crossmatch({ pool });
    let found = 0;
    ids.forEach((id, i) => {
      const { matches } = world.store.getObject(id)!;
      for (const catalog of catalogs) {
        const expected = scan(catalog, objects[i]!)[0];
        const match = matches.find(({ catalogName }) => catalogName === catalog.name);
        if (match) found++;
        assert.is(match?.catalogSourceId, expected && `${expected.id}`, `${catalog.name} at object ${i}`);
      }
    });
    assert.ok(found > 400);
  }));

test('each object has the nearest source within the radius of the catalog or of the source; answers name it [Provenance]', () =>
  inWorld(async world => {
    const catalogs = [await addRadiusCatalog(world, 'galaxies'), await addRadiusCatalog(world, 'xray')];
    const gaia = await world.addCatalog('gaia_dr3', seams(12, 45, 3).slice(0, 60));
    const objects = seams(12, 45, 3);
    // At a source whose radius is 0 or unknown, too.
    objects.push(...catalogs[1]!.places.slice(0, 40));
    const ids = await world.ingest(objects);
    const summary = await world.crossmatch();
    assert.ok(summary.rowsPassedOver.xray! > 0, 'sources without a radius are counted');
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const counts: Record<string, number> = { galaxies: 0, xray: 0, gaia_dr3: 0 };
      for (let from = 0; from < ids.length; from += 100) {
        const inputs = ids.slice(from, from + 100).map(id => ({ kind: 'id', diaObjectId: `${id}` }));
        const { status, body, text } = await app.post('/api/lookup', { inputs, detail: 'full' });
        assert.is(status, 200, text);
        body.results.forEach((result: Json, i: number) => {
          const matches = new Map<string, Json>(
            result.objects[0].matches.map((each: Json) => [each.catalog_name, each]),
          );
          for (const name of matches.keys()) counts[name]!++;
          const atGaia = matches.get('gaia_dr3');
          if (atGaia) assert.ok(atGaia.separation_arcsec <= 1);
          for (const catalog of catalogs) {
            const found = scan(catalog, objects[from + i]!);
            const match = matches.get(catalog.name);
            assert.equal(
              [match?.catalog_source_id, match?.separation_arcsec, match?.statistics.sources_within_radius],
              [found[0] && `${found[0].id}`, found[0]?.separationArcsec, found[0] && found.length],
              `${catalog.name} at object ${from + i}`,
            );
          }
        });
        if (from > 0) continue;
        const expected = [
          { name: 'galaxies', release: 'The galaxies', radius_arcsec: 20 },
          { name: 'xray', release: 'The xray', radius_arcsec: 10, radius_column: '3*POS_ERR' },
        ];
        const { crossmatch } = body.results[0].objects[0];
        const recorded = body.provenance_sets[crossmatch.provenance_set];
        assert.equal(recorded.catalogs, [{ name: 'gaia_dr3', release: 'Gaia DR3' }, ...expected]);
        assert.is(recorded.crossmatch_radius_arcsec, 1);
        assert.equal(body.provenance.catalogs.slice(-2), expected);
      }
      assert.ok(counts.galaxies! > 200 && counts.xray! > 80 && counts.gaia_dr3! >= 60, JSON.stringify(counts));
      assert.ok(gaia.id.length > 0);
      const { body: described } = await app.get('/api/describe');
      assert.equal(
        described.catalogs.slice(-2).map(({ radius_arcsec, radius_column }: Json) => [radius_arcsec, radius_column]),
        [
          [20, undefined],
          [10, '3*POS_ERR'],
        ],
      );
      assert.match(
        described.crossmatch.description,
        /galaxies. within 20\.0 arcsec; .xray. within .3\*POS_ERR. of each/,
      );
    } finally {
      await app.app.close();
    }
    // Another radius is another setting.
    const settings = () => ({
      crossmatch_radius_arcsec: 1,
      catalogs: catalogsInService(readCatalogs(world.store.databases), false).map(({ release }) => release),
    });
    const differing = () => world.store.idsWhere(differsFrom(world.store, settings()), 10_000).length;
    assert.is(differing(), 0);
    const registration = readCatalog(world.store.databases, 'xray')!;
    const radius = { ...RADII.xray, factor: 2 };
    await world.writer.commit({
      kind: 'register_catalog',
      registration: { ...registration, definition: { ...registration.definition!, radius } },
    });
    assert.is(differing(), ids.length);
  }));

test.run();
