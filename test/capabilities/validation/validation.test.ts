/** GET /api/validation: known classes against scans of all rows, and random positions against the known density. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runValidation } from '../../../src/capabilities/validation/run_validation.ts';
import { validationPath } from '../../../src/capabilities/validation/validation_file.ts';
import { type Json, loadRegistry, TestApp } from '../../core/http/support.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { addSources, type Source } from '../sample/world.ts';

const test = suite('validation/validation');

const EPOCH_US = 1_767_225_600_000_000;

async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await new TestApp(join(world.directory, 'data')).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

const make = ({ config }: TestApp) => runValidation(config, 0, { isBackground: false });

/** So many sources at random places of a square of half a degree. */
const field = (count: number, west: number, random: () => number, first: bigint, payload: () => object): Source[] =>
  Array.from({ length: count }, (_, i) => ({
    ra: west + 0.5 * random(),
    dec: -0.25 + 0.5 * random(),
    id: first + BigInt(i),
    payload: { ...payload() },
  }));

const CLASSES: readonly (readonly [classification: string, group: string])[] = [
  ['SN Ia', 'supernova'],
  ['SN II', 'supernova'],
  ['SLSN-I', 'supernova'],
  ['TDE-H-He', 'tde'],
  ['AGN', 'agn'],
  ['QSO', 'agn'],
  ['CV', 'cv'],
  ['Varstar', 'other'],
];

test('the classes and what the catalogs say, against a scan of all rows', () =>
  inWorld(async world => {
    const random = seededRandom(163);
    const said = () =>
      random() < 0.4
        ? { classprob_dsc_combmod_star: 0.9 }
        : random() < 0.5
          ? { classprob_dsc_combmod_quasar: 0.9 }
          : {};
    const gaia = [...field(4000, 40, random, 1n << 60n, said), ...field(1000, 45, random, 1n << 61n, said)];
    // DES does not cover the second field.
    const des = field(4000, 40, random, 1n << 40n, () => ({ ext_mash: random() < 0.5 ? 4n : 0n }));
    await addSources(world, 'gaia_dr3', gaia, { rowGroupSize: 400 });
    await addSources(world, 'des_y6_gold', des, { rowGroupSize: 400 });
    const catalogs = { gaia_dr3: gaia, des_y6_gold: des };
    const anywhere = () => ({ ra: 40.02 + 0.46 * random(), dec: -0.23 + 0.46 * random() });
    const transients = Array.from({ length: 400 }, (_, i) => {
      const near = i % 2 === 0 ? gaia : des;
      const place =
        i % 3 === 0 ? anywhere() : offset(near[Math.floor(random() * near.length)]!, 1.3 * random(), 7 * random());
      // A tenth has no class, and a tenth no object nearby.
      return { ...place, objid: i + 1, name: `2026t${i}`, class: i % 10 === 9 ? null : CLASSES[i % CLASSES.length]! };
    });
    const objects: Place[] = transients.flatMap((transient, i) =>
      i % 10 === 8 ? [] : [offset(transient, 1.1 * random(), 7 * random())],
    );
    // Two objects at one place, of which one is removed in some pairs. Often only one of them lies at a source.
    const pairs = objects.slice(0, 150).map(place => offset(place, 0.7, 7 * random()));
    objects.push(...pairs);
    const ids = await world.ingest(objects);
    await world.crossmatch();
    const pending = Array.from({ length: 40 }, anywhere);
    const late = await world.ingest(pending, 77n);
    transients.push(
      ...pending.map((place, i) => ({ ...place, objid: 1000 + i, name: `2026p${i}`, class: CLASSES[i % 2]! })),
    );
    await world.writer.remove(ids.slice(0, 15), 'a test');
    const stored = [...objects.slice(15), ...pending];
    const storedIds = [...ids.slice(15), ...late];
    await loadRegistry(
      world,
      EPOCH_US,
      transients.map(({ class: of, ...record }) => ({ ...record, classification: of?.[0] ?? null })),
    );
    await withApp(world, async app => {
      const nothing = await app.get('/api/validation');
      assert.equal(nothing.body, { status: 'not_made', refresh_hours: null, validation: null });
      await make(app);
      const { status, body } = await app.get('/api/validation');
      assert.equal([status, body.status], [200, 'made']);
      const { registry } = body.validation;
      const classified = transients.filter(transient => transient.class);
      const truth = classified.flatMap(transient => {
        const near = stored
          .map((place, i) => ({ place, id: storedIds[i]!, arcsec: separation(transient, place) }))
          .filter(({ arcsec }) => arcsec <= 1)
          .sort((a, b) => a.arcsec - b.arcsec || (a.id < b.id ? -1 : 1));
        return near[0] ? [{ of: transient.class!, place: near[0].place }] : [];
      });
      assert.equal(
        [registry.classified, registry.stored, registry.transients],
        [classified.length, truth.length, truth.length],
      );
      let [compared, coincidences, outside] = [0, 0, 0];
      for (const [name, sources] of Object.entries(catalogs)) {
        const cells = truth.map(({ of, place }) => {
          const near = sources.filter(source => Math.abs(source.dec - place.dec) < 0.001);
          const best = near
            .map(source => ({ source, arcsec: separation(source, place) }))
            .sort((a, b) => a.arcsec - b.arcsec)[0];
          return { of, source: best && best.arcsec <= 1 ? best.source : undefined };
        });
        for (const { group, transients: count, catalogs: counted, classes } of registry.groups) {
          for (const [cell, all, own] of [
            [counted[name], count, cells.filter(({ of }) => of[1] === group)],
            ...classes.map((each: Json) => [
              each.catalogs[name],
              each.transients,
              cells.filter(({ of }) => of[0] === each.classification),
            ]),
          ]) {
            const found = own.filter(({ source }: Json) => source);
            assert.is(all, own.length, `${name} ${group}`);
            assert.is(cell.coincident, found.length, `${name} ${group}`);
            assert.is(cell.searched + cell.outside_footprint, own.length);
            for (const verdict of ['star', 'galaxy', 'quasar', 'unclear'])
              assert.is(
                cell.verdicts[verdict],
                found.filter(({ source }: Json) => verdictOf(source) === verdict).length,
                `${name} ${group} ${verdict}`,
              );
            assert.is(sum(cell.chance_probability, 'sources') + cell.without_chance, found.length);
            if (cell.searched === 0) assert.equal([cell.fraction, cell.interval], [null, null]);
            else {
              assert.ok(Math.abs(cell.fraction - found.length / cell.searched) < 1e-5);
              assert.ok(cell.interval[0] <= cell.fraction && cell.fraction <= cell.interval[1]);
            }
            compared++;
            coincidences += found.length;
            outside += cell.outside_footprint;
          }
        }
      }
      assert.ok(compared > 20 && coincidences > 200 && outside > 20, `${[compared, coincidences, outside]}`);
    });
  }));

const separation = (a: Place, b: Place) => separationArcsec(a.ra, a.dec, b.ra, b.dec);
const sum = (bins: Json, key: string) => bins.reduce((total: number, bin: Json) => total + bin[key], 0);

/** From the payload, apart from the rules of the catalogs' definitions. */
function verdictOf({ payload }: Source): string {
  if (payload.ext_mash !== undefined) return payload.ext_mash === 4n ? 'galaxy' : 'star';
  if (payload.classprob_dsc_combmod_star) return 'star';
  return payload.classprob_dsc_combmod_quasar ? 'quasar' : 'unclear';
}

test('random positions have as many sources as the density lets expect, whatever lies at the objects', () =>
  inWorld(async world => {
    const random = seededRandom(7);
    const [dense, sparse] = [12, 2];
    const sources = [
      ...field(900 * dense, 100, random, 1n << 60n, () => ({})),
      ...field(900 * sparse, 100.5, random, 1n << 61n, () => ({})),
    ];
    await addSources(world, 'gaia_dr3', sources, { rowGroupSize: 2000 });
    // Half of the objects lie exactly on sources.
    const objects = Array.from({ length: 3000 }, (_, i) => {
      const inner = { ra: 100.02 + 0.96 * random(), dec: -0.23 + 0.46 * random() };
      return i % 2 === 0 ? inner : sources[Math.floor(sources.length * random())]!;
    }).filter(({ ra, dec }) => ra > 100.02 && ra < 100.98 && Math.abs(dec) < 0.23);
    await world.ingest([...objects.map(({ ra, dec }) => ({ ra, dec })), null]);
    await withApp(world, async app => {
      const { validation } = await make(app);
      const { positions, displacement_arcsec, catalogs } = validation.calibration;
      // An object without a position may be chosen.
      assert.ok(positions === 2000 || positions === 1999);
      assert.equal(displacement_arcsec, [30, 60]);
      const gaia = catalogs.gaia_dr3!;
      assert.equal([gaia.searched + gaia.outside_footprint, gaia.without_density], [positions, 0]);
      assert.equal(
        gaia.radii.map(({ radius_arcsec }) => radius_arcsec),
        [1, 10],
      );
      const inDense = objects.filter(({ ra }) => ra < 100.5).length / objects.length;
      for (const { radius_arcsec: radius, ...all } of gaia.radii) {
        const chance = (density: number) => 1 - Math.exp((-Math.PI * density * radius ** 2) / 3600);
        const known = gaia.searched * (inDense * chance(dense) + (1 - inDense) * chance(sparse));
        assert.ok(Math.abs(all.expected_by_chance / known - 1) < 0.05, `${all.expected_by_chance} ${known}`);
        assert.ok(all.expected_interval[0] <= all.observed && all.observed <= all.expected_interval[1]);
        for (const key of ['positions', 'observed'] as const) assert.is(sum(all.source_density, key), all[key]);
        assert.ok(Math.abs(sum(all.source_density, 'expected_by_chance') - all.expected_by_chance) < 1e-3);
        for (const { from, to, positions } of all.source_density) assert.ok(positions > 0 && from < (to ?? Infinity));
      }
      // At the objects themselves, half have a source.
      assert.ok(gaia.radii[0]!.observed < 40);
      const again = await make(app);
      assert.equal({ ...again.validation, made: '' }, { ...validation, made: '' });
    });
  }));

test('it is kept for this archive alone, and made again when it is old', () =>
  inWorld(async world => {
    await world.ingest([{ ra: 10, dec: 5 }]);
    await withApp(world, async app => {
      const { validation } = await make(app);
      const kept = await runValidation(app.config, 3_600_000, { isBackground: false });
      assert.is(kept.validation.made, validation.made);
      const path = validationPath(app.config.NEARSKY_DATA);
      const file = JSON.parse(readFileSync(path, 'utf8'));
      for (const [text, status] of [
        [JSON.stringify({ ...file, mark: '0'.repeat(64) }), 'not_made'],
        [JSON.stringify(file).slice(0, -9), 'not_made'],
        [JSON.stringify({ ...file, version: 0 }), 'not_made'],
        [JSON.stringify(file), 'made'],
      ] as const) {
        writeFileSync(path, text);
        const { body } = await app.get('/api/validation');
        assert.is(body.status, status);
      }
      const past = { ...file.validation, made: '2026-01-01T00:00:00+00:00' };
      writeFileSync(path, JSON.stringify({ ...file, validation: past }));
      const renewed = await runValidation(app.config, 3_600_000, { isBackground: false });
      assert.ok(renewed.validation.made > past.made);
    });
  }));

test.run();
