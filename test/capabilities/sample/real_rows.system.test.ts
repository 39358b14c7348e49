/**
 * A report on 500 transients at and beside real Gaia rows: verdicts against pandas, which knows the rules from the
 * papers alone, and the expected coincidences against 1000 random displacements of the same sample.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { published } from '../../core/catalogs/support.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { needs } from '../../needs.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { inWorld } from '../crossmatch/world.ts';
import { addSources, type Source } from './world.ts';

const test = suite('sample/real_rows');

const COLUMNS = [
  'phot_g_mean_mag',
  'classprob_dsc_combmod_star',
  'classprob_dsc_combmod_galaxy',
  'classprob_dsc_combmod_quasar',
  'parallax',
  'parallax_error',
  'pmra',
  'pmra_error',
  'pmdec',
  'pmdec_error',
] as const;

async function rowsOf(path: string): Promise<Json[]> {
  const bytes = readFileSync(join(published, path));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return await parquetReadObjects({ file, compressors });
}

/** Rows of Gaia DR3 all over the sky with all their columns, and those of a field of one square degree. */
async function realSources(): Promise<{ everywhere: Source[]; field: Source[] }> {
  const whole = await rowsOf('gaia/gdr3_sm.1000rows.parquet');
  const dense = await rowsOf('hats/macauff/gaia_hats_data/gaia_cone/dataset/Norder=3/Dir=0/Npix=512.parquet');
  const source = ({ ra, dec, source_id: id }: Json, payload: object): Source => ({
    ra,
    dec,
    id,
    payload: { ...payload },
  });
  return {
    everywhere: whole.map(row => source(row, Object.fromEntries(COLUMNS.map(name => [name, row[name] ?? null])))),
    field: dense.map(row => {
      const { g_mag: phot_g_mean_mag, pmra, pmdec, pm_err: error } = row;
      return source(row, { phot_g_mean_mag, pmra, pmdec, pmra_error: error, pmdec_error: error });
    }),
  };
}

/** Delchambre et al. 2023: a class probability of at least 0.5. Klioner et al. 2022: a motion or parallax of 5 sigma. */
const VERDICTS = `
import sys
import numpy as np
import pandas as pd
rows = pd.read_csv(sys.argv[1], dtype={"id": str})
moves = np.hypot(rows.pmra / rows.pmra_error, rows.pmdec / rows.pmdec_error) >= 5
star = (rows.classprob_dsc_combmod_star >= 0.5) | (rows.parallax / rows.parallax_error >= 5) | moves
said = pd.DataFrame({"star": star, "galaxy": rows.classprob_dsc_combmod_galaxy >= 0.5, "quasar": rows.classprob_dsc_combmod_quasar >= 0.5})
print(pd.DataFrame({"id": rows.id, "verdict": np.where(said.sum(axis=1) == 1, said.idxmax(axis=1), "unclear")}).to_csv(index=False))
`;

const text = (value: unknown) => (value === null || Number.isNaN(value) ? '' : `${value}`);

needs(test, whyNoPython('pandas, numpy'))('500 transients beside real Gaia rows', () =>
  inWorld(async world => {
    const random = seededRandom(500);
    const { everywhere, field } = await realSources();
    const sources = [...everywhere, ...field];
    await addSources(world, 'gaia_dr3', sources, { rowGroupSize: 2000, maxRows: 4000, minOrder: 3 });
    const among = (of: readonly Source[]) => of[Math.floor(of.length * random())]!;
    const inside = field.filter(({ ra, dec }) => separationArcsec(ra, dec, CENTRE.ra, CENTRE.dec) < CENTRE.arcsec);
    const sample: Place[] = Array.from({ length: 500 }, (_, i) => {
      if (i < 200) return offset(among(everywhere), 0.9 * random(), 7 * random());
      if (i < 350) return offset(among(inside), 0.9 * random(), 7 * random());
      return offset(among(inside), 30 + 90 * random(), 7 * random());
    });
    const table = join(world.directory, 'rows.csv');
    const lines = sources.map(({ id, payload }) => [id, ...COLUMNS.map(name => text(payload[name] ?? null))].join(','));
    writeFileSync(table, `id,${COLUMNS.join(',')}\n${lines.join('\n')}\n`);
    const printed = await runPython(pythonWith('pandas, numpy')!, ['-c', VERDICTS, table]);
    const verdicts = new Map(printed.split('\n').map(line => line.split(',') as [string, string]));
    await world.ingest(sample.slice(0, 100));
    await world.crossmatch();
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const { body } = await app.post('/api/sample', {
        inputs: sample.map(({ ra, dec }) => ({ kind: 'position', ra, dec })),
      });
      const near = new Nearby(sources);
      const counted: Record<string, number> = {};
      body.rows.forEach(({ catalogs: { gaia_dr3: cell } }: Json, i: number) => {
        const nearest = near.nearest(sample[i]!, 1);
        assert.is(cell.catalog_source_id, nearest ? `${nearest.id}` : null, `${i}`);
        if (!nearest) return;
        assert.is(cell.verdict, verdicts.get(`${nearest.id}`), cell.verdict_reason);
        counted[cell.verdict] = (counted[cell.verdict] ?? 0) + 1;
      });
      assert.ok(counted.star! > 200 && counted.unclear! > 20, JSON.stringify(counted));
      let coincident = 0;
      for (let i = 0; i < DISPLACEMENTS; i++)
        for (const place of sample) {
          const displaced = offset(place, 5 + 25 * random(), 7 * random());
          if (near.nearest(displaced, 1)) coincident++;
        }
      const mean = coincident / DISPLACEMENTS;
      const {
        expected_by_chance: expected,
        expected_interval,
        searched,
        without_density,
      } = body.summary.catalogs.gaia_dr3;
      assert.is(searched, 500);
      // Only rows of the whole sky are too sparse for a density.
      assert.ok(without_density <= 200);
      assert.ok(Math.abs(expected / mean - 1) < 0.1, `${expected} expected, ${mean} by displacement`);
      assert.ok(expected_interval[0] <= mean && mean <= expected_interval[1]);
    } finally {
      await app.app.close();
    }
  }),
);

const DISPLACEMENTS = 1000;

/** The inner part of the field. */
const CENTRE = { ra: 63.5, dec: -87, arcsec: 1200 };

/** Finds the nearest source in cells of equal declination, apart from the index. */
class Nearby {
  readonly #cells: Map<number, Source[]>;

  constructor(sources: readonly Source[]) {
    this.#cells = Map.groupBy(sources, ({ dec }) => Math.floor(dec * 900)) as Map<number, Source[]>;
    for (const row of this.#cells.values()) row.sort((a, b) => a.ra - b.ra);
  }

  nearest({ ra, dec }: Place, arcsec: number): Source | undefined {
    // Rows are 4" high. No source of the samples lies beside RA 0.
    const width = (arcsec * 1.01) / 3600 / Math.cos((dec * Math.PI) / 180);
    let [best, least]: [Source | undefined, number] = [undefined, arcsec];
    for (let row = Math.floor(dec * 900) - 1; row <= Math.floor(dec * 900) + 1; row++) {
      const sources = this.#cells.get(row) ?? [];
      let [from, to] = [0, sources.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (sources[middle]!.ra < ra - width) from = middle + 1;
        else to = middle;
      }
      for (; from < sources.length && sources[from]!.ra <= ra + width; from++) {
        const source = sources[from]!;
        const separation = separationArcsec(source.ra, source.dec, ra, dec);
        if (separation <= least) [best, least] = [source, separation];
      }
    }
    return best;
  }
}

test.run();
