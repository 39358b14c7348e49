/**
 * Verdicts on rows of DES DR2, SkyMapper and Gaia DR3 as published, against pandas, which knows the classes from the
 * papers alone. TEST_ROWS names a directory with more rows: `data` of
 * github.com/davfer12/Detection-of-an-orthogonal-alignment-between-parsec-scale-AGN-jets-and-their-host-galaxies
 * (commit 52c5ec73b50e), which states no licence, so that its rows cannot be among the fixtures.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { published } from '../../core/catalogs/support.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { needs } from '../../needs.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { addSources, type Source } from './world.ts';

const test = suite('sample/published_rows');

const more = process.env.TEST_ROWS;

/** Rows of DES DR2 from the tutorial `des-gaia` of astronomy-commons/lsdb (commit 836fb5da4c33, BSD 3-Clause). */
const DES_ROWS = `id,ra,dec,class
1033365960,0.315738,1.807978,3
1033367823,0.321042,1.812476,1
1033367955,0.310521,1.816329,0
1033369594,0.234549,1.80234,0
1033369151,0.224895,1.805816,0
`;

/** Abbott et al. 2021, ApJS 255, 20, section 3.4: 0 and 1 are stars, 2 and 3 galaxies. */
const DES_DR2 = {
  release: 'DES DR2',
  columns: [{ name: 'EXTENDED_CLASS_COADD' }],
  verdicts: [
    { verdict: 'star', of: [['extended_class_coadd']], min: 0, max: 1, paper: 'Abbott et al. 2021, ApJS 255, 20' },
    { verdict: 'galaxy', of: [['extended_class_coadd']], min: 2, max: 3, paper: 'Abbott et al. 2021, ApJS 255, 20' },
  ],
} as const;

/** Prints the rows of each catalog with the verdict that its paper gives them. */
const READ = `
import json, sys
import pandas as pd
few, gaia, more = sys.argv[1:]
des = pd.read_csv(few, dtype={"id": str})
rows = {}
if more:
    read = pd.read_csv(more + "/DES_xmatches.csv")
    names = ["matches_indexes", "matches_RA", "matches_DEC", "EXTENDED_CLASS_COADD_matches"]
    read = read[["DES_full_catalogue_Astrogeo_" + name for name in names]]
    des = pd.concat([des, read.set_axis(["id", "ra", "dec", "class"], axis=1)])
    sky = pd.read_csv(more + "/Skymapper_xmatches.csv")
    sky["verdict"] = "unclear"
    sky.loc[sky.ClassStar.round(6) >= 0.9, "verdict"] = "star"
    sky.loc[sky.ClassStar <= 0.5, "verdict"] = "galaxy"
    sky = sky[["ObjectId", "RAICRS", "DEICRS", "ClassStar", "rPSF", "verdict"]]
    rows["skymapper_dr4"] = sky.set_axis(["id", "ra", "dec", "class_star", "r_psf", "verdict"], axis=1)
des["verdict"] = des["class"].map({0: "star", 1: "star", 2: "galaxy", 3: "galaxy"})
rows["des_dr2"] = des
names = ["quasar", "galaxy", "star"]
dsc = pd.read_csv(gaia, dtype={"id": str})
said = dsc[names] >= 0.5
dsc["verdict"] = said.idxmax(axis=1).where(said.sum(axis=1) == 1, "unclear")
rows["gaia_dr3"] = dsc
for name, each in rows.items():
    each = each.drop_duplicates("id").astype({"id": str})
    rows[name] = each.astype(object).where(each.notna(), None).to_dict("records")
print(json.dumps(rows))
`;

/** The rows of Gaia that its classifier calls no star, with their probabilities as pandas reads them. */
async function gaiaTable(path: string): Promise<Json[]> {
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const { readFileSync } = await import('node:fs');
  const bytes = readFileSync(join(published, 'gaia/gdr3_sm.1000rows.parquet'));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const rows = (await parquetReadObjects({ file, compressors })) as Json[];
  const dsc = (row: Json, of: string) => row[`classprob_dsc_combmod_${of}`];
  const others = rows.filter(row => dsc(row, 'quasar') >= 0.1 || dsc(row, 'galaxy') >= 0.1);
  const lines = others.map(row =>
    [row.source_id, row.ra, row.dec, ...['quasar', 'galaxy', 'star'].map(of => dsc(row, of))].join(),
  );
  writeFileSync(path, `id,ra,dec,quasar,galaxy,star\n${lines.join('\n')}\n`);
  return others;
}

async function addDes(world: World, rows: readonly Json[]): Promise<void> {
  const location = join(world.directory, 'des_dr2');
  const columns: HatsColumn[] = [
    { name: 'COADD_OBJECT_ID', type: 'INT64', data: rows.map(({ id }) => BigInt(id)) },
    { name: 'RA', type: 'DOUBLE', data: rows.map(({ ra }) => ra) },
    { name: 'DEC', type: 'DOUBLE', data: rows.map(({ dec }) => dec) },
    { name: 'EXTENDED_CLASS_COADD', type: 'INT32', data: rows.map(row => row.class) },
  ];
  writeHats(location, { name: 'des_dr2', columns, ra: 'RA', dec: 'DEC', maxRows: 200 });
  const added = { name: 'des_dr2', idColumn: 'COADD_OBJECT_ID', description: DES_DR2 };
  await world.writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog(added, location, { addedAtUs: 1 }),
  });
}

const WANTED: Readonly<Record<string, Readonly<Record<string, number>>>> = more
  ? {
      des_dr2: { star: 400, galaxy: 250 },
      skymapper_dr4: { star: 250, galaxy: 400, unclear: 500 },
      gaia_dr3: { quasar: 2 },
    }
  : { des_dr2: { star: 4, galaxy: 1 }, gaia_dr3: { quasar: 2 } };

needs(test, whyNoPython('pandas'))('verdicts on published rows of DES, SkyMapper and Gaia [Sample]', () =>
  inWorld(async world => {
    const random = seededRandom(2021);
    const [few, gaia] = ['des.csv', 'gaia.csv'].map(name => join(world.directory, name)) as [string, string];
    writeFileSync(few, DES_ROWS);
    const others = await gaiaTable(gaia);
    if (more) assert.ok(existsSync(join(more, 'DES_xmatches.csv')), `TEST_ROWS: ${more} has no DES_xmatches.csv`);
    const rows: Record<string, Json[]> = JSON.parse(
      await runPython(pythonWith('pandas')!, ['-c', READ, few, gaia, more ?? '']),
    );
    await addDes(world, rows.des_dr2!);
    const payloads: Record<string, (row: Json, at: number) => Json> = {
      skymapper_dr4: ({ class_star, r_psf }) => ({ class_star, r_psf }),
      gaia_dr3: (_, at) => others[at]!,
    };
    for (const [name, payload] of Object.entries(payloads)) {
      const of = rows[name];
      if (!of) continue;
      const sources = of.map(
        (row, at): Source => ({ ...row, id: BigInt(row.id), payload: payload(row, at) }) as Source,
      );
      await addSources(world, name, sources);
    }
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      for (const [name, of] of Object.entries(rows)) {
        const places: Place[] = of.map(row => offset(row as Place, 0.9 * random(), 7 * random()));
        const counted: Record<string, number> = {};
        for (let from = 0; from < places.length; from += 1000) {
          const inputs = places.slice(from, from + 1000).map(({ ra, dec }) => ({ kind: 'position', ra, dec }));
          const { body } = await app.post('/api/sample', { inputs, catalogs: [name] });
          body.rows.forEach((row: Json, i: number) => {
            const cell = row.catalogs[name];
            const place = places[from + i]!;
            const separations = of.map(each => separationArcsec(each.ra, each.dec, place.ra, place.dec));
            const nearest = of[separations.indexOf(Math.min(...separations))]!;
            assert.equal(
              [cell.catalog_source_id, cell.verdict],
              [nearest.id, nearest.verdict],
              `${name}: ${cell.verdict_reason}`,
            );
            counted[cell.verdict] = (counted[cell.verdict] ?? 0) + 1;
            if (name !== 'skymapper_dr4') return;
            const bright = of.filter(
              (each, at) => separations[at]! <= 20 && (each.r_psf ?? 99) < 15 && each.verdict !== 'galaxy',
            );
            const ids = (list: readonly string[]) => [...list].sort();
            assert.equal(
              ids(row.bright_stars.map((star: Json) => star.catalog_source_id)),
              ids(bright.map(({ id }) => id)),
            );
          });
        }
        for (const [verdict, least] of Object.entries(WANTED[name] ?? {}))
          assert.ok((counted[verdict] ?? 0) >= least, `${name}: ${JSON.stringify(counted)}`);
      }
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
