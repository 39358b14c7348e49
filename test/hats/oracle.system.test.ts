/** The catalogs of others, read, and ours, read by others: hats-import and LSDB. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HatsTable, openHats, withParquet } from '@nearsky/hats';
import { HEALPIX_COLUMN, partitionFile } from '@nearsky/hats/layout';
import { findSkymap, openHealpixMap } from '@nearsky/hats/skymap';
import {
  type HatsColumn,
  type RowsOfPixel,
  SkyRows,
  writeCatalogFiles,
  writeCollectionFile,
  writeRows,
} from '@nearsky/hats/write';
import { pixel29, pixelOf, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { offset, seededRandom } from '../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('hats/oracle');
const MODULES = 'lsdb, hats, hats_import';
const python = pythonWith(MODULES);
const withPython = needs(test, whyNoPython(MODULES));

interface Star {
  readonly id: bigint;
  readonly ra: number;
  readonly dec: number;
  readonly mag: number | null;
}

/**
 * Stars everywhere, and crowds at a pole, at the edge of right ascension and where faces of the sphere meet.
 * @param power how much denser a crowd is in its middle; 0.5: not at all
 */
function stars(count: number, seed: number, power: number): Star[] {
  const random = seededRandom(seed);
  const crowds = [
    { ra: 0, dec: 0 },
    { ra: 45, dec: 41.8103 },
    { ra: 359.9999, dec: -30 },
    { ra: 10, dec: 89.99 },
  ];
  return Array.from({ length: count }, (_, i) => {
    const anywhere = { ra: 360 * random(), dec: (180 / Math.PI) * Math.asin(2 * random() - 1) };
    const near = offset(crowds[(i >> 1) % 4]!, 150 * random() ** power, 2 * Math.PI * random());
    return { id: 2n ** 62n + BigInt(i), ...(i % 2 ? anywhere : near), mag: i % 5 ? 20 + i / count : null };
  });
}

const COLUMNS: readonly HatsColumn[] = [
  { name: HEALPIX_COLUMN, type: 'int64', description: 'Pixel at order 29', isRequired: true, hasBounds: true },
  { name: 'id', type: 'int64', description: 'Identifier', ucd: 'meta.id', isRequired: true },
  { name: 'ra', type: 'float64', unit: 'deg', description: 'Right ascension', isVaried: true, hasBounds: true },
  { name: 'dec', type: 'float64', unit: 'deg', description: 'Declination', isVaried: true, hasBounds: true },
  { name: 'mag', type: 'float64', unit: 'mag', description: 'Brightness' },
];
const MARGIN = { arcsec: 10, name: 'stars_10arcs' };

/** Writes stars as a collection of a catalog and its margin. */
function writeStars(collection: string, all: readonly Star[]): void {
  const sky = new SkyRows(MARGIN.arcsec);
  for (const { ra, dec } of all) sky.add(ra, dec);
  const write = (name: string, parts: readonly RowsOfPixel[]) =>
    parts.map(({ order, ipix, rows }) => {
      const inside = Array.from(rows, row => ({
        ...all[row]!,
        [HEALPIX_COLUMN]: pixel29(all[row]!.ra, all[row]!.dec),
      }));
      inside.sort((a, b) => (a[HEALPIX_COLUMN] < b[HEALPIX_COLUMN] ? -1 : 1));
      const valuesOf = (column: number) => inside.map(star => star[COLUMNS[column]!.name as keyof Star]);
      const path = join(collection, name, partitionFile({ order, ipix }));
      const bytes = writeRows(path, { program: 'test', columns: COLUMNS, length: inside.length, valuesOf });
      return { order, ipix, rows: inside.length, bytes };
    });
  const about = { columns: COLUMNS, ra: 'ra', dec: 'dec', maxRows: 200 };
  const facts = { program: 'test', builder: 'test 1', created: new Date(), further: { test_number: 7 } };
  const { partitions, margins } = sky.partitions(about.maxRows);
  const [written, margin] = [write('stars', partitions), write(MARGIN.name, margins)];
  const map = { order: 6, counts: sky.counts(6) };
  writeCatalogFiles(join(collection, 'stars'), { ...about, name: 'stars', partitions: written, map }, facts);
  const marginOf = { name: 'stars', arcsec: MARGIN.arcsec };
  writeCatalogFiles(
    join(collection, MARGIN.name),
    { ...about, name: MARGIN.name, partitions: margin, marginOf },
    facts,
  );
  writeCollectionFile(collection, 'stars', MARGIN.name);
}

/** What LSDB makes of two collections: whether both are valid, the rows, the rows of a cone, and the pairs within 1". */
const READ = `
import json, sys
import lsdb
from hats import read_hats
from hats.io.skymap import read_skymap
from hats.io.validation import is_valid_catalog
paths = sys.argv[1:3]
valid = [bool(is_valid_catalog(path, strict=True)) for path in paths]
a, b = (lsdb.open_catalog(path) for path in paths)
rows = a.compute()
cone = a.cone_search(ra=45, dec=41.8103, radius_arcsec=200).compute()
pairs = a.crossmatch(b, radius_arcsec=1, n_neighbors=100, suffixes=("_a", "_b"), suffix_method="all_columns").compute()
primary = read_hats(paths[0] + "/stars")
print(json.dumps({
    "valid": valid,
    "map": int(read_skymap(primary, None).sum()),
    "pixels": [[int(pixel.order), int(pixel.pixel)] for pixel in primary.get_healpix_pixels()],
    "ids": [str(each) for each in rows["id"]],
    "healpix": [str(each) for each in rows.index],
    "nulls": int(rows["mag"].isna().sum()),
    "unit": rows["mag"].dtype.kind,
    "cone": [str(each) for each in cone["id"]],
    "pairs": [f"{x} {y}" for x, y in zip(pairs["id_a"], pairs["id_b"])],
}))
`;

withPython('hats finds ours valid; LSDB reads every row, cones, and pairs across the edges of partitions', () =>
  withDirectory(async directory => {
    const ours = stars(4000, 11, 3);
    const others = ours
      .filter((_, i) => i % 3 === 0)
      .map((star, i) => ({
        ...star,
        id: BigInt(i),
        dec: star.dec > 0 ? star.dec - 0.4 / 3600 : star.dec + 0.4 / 3600,
      }));
    const paths = ['ours', 'others'].map(name => join(directory, name));
    writeStars(paths[0]!, ours);
    writeStars(paths[1]!, others);
    const found = JSON.parse((await runPython(python!, ['-c', READ, ...paths], { timeout: 600_000 })).trim());
    assert.equal(found.valid, [true, true]);
    assert.is(found.map, ours.length);
    const { partitions } = await openHats(paths[0]!);
    assert.equal(sorted(found.pixels), sorted(partitions.map(({ order, ipix }) => [order, ipix])));
    assert.ok(new Set(partitions.map(({ order }) => order)).size > 4);
    const pixels = new Map(ours.map(({ id, ra, dec }) => [`${id}`, `${pixel29(ra, dec)}`]));
    assert.equal(sorted(found.ids), sorted([...pixels.keys()]));
    assert.equal(
      found.healpix,
      found.ids.map((id: string) => pixels.get(id)),
    );
    assert.is(found.nulls, ours.filter(({ mag }) => mag === null).length);
    const within = ours.filter(({ ra, dec }) => separationArcsec(ra, dec, 45, 41.8103) <= 200);
    assert.equal(sorted(found.cone), sorted(within.map(({ id }) => `${id}`)));
    const pairs = ours.flatMap(a =>
      others
        .filter(b => Math.abs(a.dec - b.dec) < 1 / 3600 && separationArcsec(a.ra, a.dec, b.ra, b.dec) <= 1)
        .map(b => ({ a, b })),
    );
    assert.equal(sorted(found.pairs), sorted(pairs.map(({ a, b }) => `${a.id} ${b.id}`)));
    const ownerOf = ({ ra, dec }: Star) => partitions.findIndex(({ order, ipix }) => pixelOf(order, ra, dec) === ipix);
    assert.ok(pairs.filter(({ a, b }) => ownerOf(a) !== ownerOf(b)).length > 3);
  }),
);

/** Whether a position, or one 0.004 mas beside it, lies in a pixel of order 29: the last bits of a sine differ among programs. */
const isNear = (pixel: bigint, ra: number, dec: number) =>
  [0, 1e-9, -1e-9].some(x => [0, 1e-9, -1e-9].some(y => pixel29(ra + x, dec + y) >> 8n === pixel >> 8n));

const sorted = <T>(values: readonly T[]) => [...values].sort((a, b) => (`${a}` < `${b}` ? -1 : 1));

/** Writes the stars of a CSV file as catalogs: by hats-import with partitions as files and as folders, and by LSDB with a margin. */
const WRITE = `
import sys
import lsdb, pandas
from hats_import.catalog.arguments import ImportArguments
from hats_import.pipeline import pipeline
csv, directory = sys.argv[1:3]
if __name__ == "__main__":
    for name, suffix in (("files", ".parquet"), ("folders", "/")):
        pipeline(ImportArguments(
            output_path=directory, output_artifact_name=name, input_file_list=[csv], file_reader="csv",
            ra_column="ra", dec_column="dec", sort_columns="id", pixel_threshold=200, highest_healpix_order=9,
            npix_suffix=suffix, dask_n_workers=1, dask_threads_per_worker=1, progress_bar=False, simple_progress_bar=False,
        ))
    frame = pandas.read_csv(csv)
    made = lsdb.from_dataframe(frame, ra_column="ra", dec_column="dec", catalog_name="made", partition_rows=200, margin_threshold=10)
    made.write_catalog(directory + "/made")
`;

withPython('every row of theirs is read: of hats-import with files and with folders, and of LSDB with its margin', () =>
  withDirectory(async directory => {
    const all = stars(3000, 12, 0.5);
    const csv = join(directory, 'stars.csv');
    writeFileSync(
      csv,
      `id,ra,dec,mag\n${all.map(({ id, ra, dec, mag }) => `${id},${ra},${dec},${mag ?? ''}\n`).join('')}`,
    );
    const script = join(directory, 'write.py');
    writeFileSync(script, WRITE);
    mkdirSync(join(directory, 'catalogs'));
    await runPython(python!, [script, csv, join(directory, 'catalogs')], { timeout: 600_000 });
    for (const name of ['files', 'folders', 'made']) {
      const table = await openHats(join(directory, 'catalogs', name));
      assert.is(table.type, 'object', name);
      assert.is(table.properties.get('hats_nrows'), `${all.length}`);
      assert.ok(new Set(table.partitions.map(({ order }) => order)).size > 3, name);
      const rows = (await rowsOf(table)).sort((a, b) => (a.id < b.id ? -1 : 1));
      assert.equal(
        rows.map(({ id, mag }) => [id, mag]),
        all.map(({ id, mag }) => [id, mag]),
        name,
      );
      rows.forEach(({ ra, dec, pixel, order, ipix }, row) => {
        assert.is(pixelOf(order, ra, dec), ipix);
        // Readers of CSV may differ in the last bit.
        assert.ok(separationArcsec(ra, dec, all[row]!.ra, all[row]!.dec) < 1e-6, name);
        assert.ok(isNear(pixel, ra, dec), `${name}: ${pixel} is not the pixel of ${ra}, ${dec}`);
      });
      const map = await findSkymap(table);
      const file = await table.files.open(map!);
      let counted = 0;
      await (await openHealpixMap(file)).forEachCovered((_, value) => {
        counted += value;
      });
      file.close();
      assert.is(counted, all.length, name);
    }
    const { partitions } = await openHats(join(directory, 'catalogs/made'));
    const margin = await openHats(join(directory, 'catalogs/made/made_10arcs'));
    assert.is(margin.type, 'margin');
    const inMargin = new Set((await rowsOf(margin)).map(({ id, order, ipix }) => `${id} ${order}/${ipix}`));
    const owners = all.map(({ ra, dec }) => partitions.find(({ order, ipix }) => pixelOf(order, ra, dec) === ipix)!);
    let pairs = 0;
    for (const [i, a] of all.entries()) {
      for (const [j, b] of all.entries()) {
        if (owners[i] === owners[j] || Math.abs(a.dec - b.dec) > 10 / 3600) continue;
        if (separationArcsec(a.ra, a.dec, b.ra, b.dec) > 10) continue;
        pairs++;
        assert.ok(inMargin.has(`${a.id} ${owners[j]!.order}/${owners[j]!.ipix}`), `${a.id}`);
      }
    }
    assert.ok(pairs > 10, `${pairs} pairs`);
  }),
);

interface Row extends Star {
  readonly pixel: bigint;
  /** The partition that the row is stored in. */
  readonly order: number;
  readonly ipix: number;
}

async function rowsOf({ files, partitions }: HatsTable): Promise<Row[]> {
  const found: Row[] = [];
  for (const { order, ipix, files: names } of partitions) {
    assert.ok(names.length > 0);
    for (const name of names)
      await withParquet(files, name, async file => {
        const rows = [...Array(file.rows).keys()];
        const columns = [HEALPIX_COLUMN, 'id', 'ra', 'dec', 'mag'].map(column => file.readValues(column, rows));
        const [pixel, id, ra, dec, mag] = (await Promise.all(columns)) as [bigint[], bigint[], ...number[][]];
        for (const row of rows)
          found.push({
            order,
            ipix,
            pixel: pixel[row]!,
            id: id[row]!,
            ra: ra![row]!,
            dec: dec![row]!,
            mag: mag![row]!,
          });
      });
  }
  return found;
}

test.run();
