/** Random cones over real stars, and over the catalogs of the sample, against a scan. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Arena, buildArena, ConeHits, type PointColumns, SkyIndex } from '@nearsky/sky-index';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareBigint, coneByScan, nearestByScan } from '../oracle/brute_force.ts';
import { offset, type Place, seededRandom } from '../oracle/skies.ts';

const test = suite('real sky');
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Tycho-2 stars on both sides of right ascension 0, and of a part of the Milky Way. */
const stars = join(root, 'test/fixtures/published/sky/tycho2_excerpt.parquet');
const CONES = 1000;

async function readPositions(file: string, raName: string, decName: string): Promise<Place[]> {
  const rows = await parquetReadObjects({
    file: await asyncBufferFromFile(file),
    columns: [raName, decName],
    compressors,
  });
  return rows.map(row => ({ ra: row[raName] as number, dec: row[decName] as number }));
}

/** The points whose declination alone does not rule them out: the separation of two positions is never less than its difference. */
function band({ ra, dec, id }: PointColumns, centre: Place, radiusArcsec: number): PointColumns {
  const reach = radiusArcsec / 3600 + 1e-9;
  const rows: number[] = [];
  for (let i = 0; i < dec.length; i++) if (Math.abs(dec[i]! - centre.dec) <= reach) rows.push(i);
  return {
    ra: Float64Array.from(rows, i => ra[i]!),
    dec: Float64Array.from(rows, i => dec[i]!),
    id: BigInt64Array.from(rows, i => id[i]!),
  };
}

/** Cones of 0.1" to 60", most of them around a point, every hit and the nearest compared; returns how many hits there were. */
function compareCones(places: readonly Place[], seed: number): number {
  const points = {
    ra: Float64Array.from(places, place => place.ra),
    dec: Float64Array.from(places, place => place.dec),
    id: BigInt64Array.from(places, (_, i) => 9_000_000_000_000_000_000n + BigInt(i)),
  };
  const index = new SkyIndex([new Arena(buildArena(points))]);
  const hits = new ConeHits();
  const random = seededRandom(seed);
  let total = 0;
  for (let i = 0; i < CONES; i++) {
    const radius = 0.1 * 600 ** random();
    const near = places[Math.floor(random() * places.length)]!;
    const centre = offset(near, radius * 1.2 * random(), random() * 2 * Math.PI);
    const candidates = band(points, centre, radius);
    index.coneSearch(centre.ra, centre.dec, radius, hits);
    const ids = Array.from(hits.row.subarray(0, hits.count), row => index.arenas[0]!.id(row)).sort(compareBigint);
    assert.equal(ids, coneByScan(candidates, centre.ra, centre.dec, radius));
    const nearest = index.nearest(centre.ra, centre.dec, radius);
    assert.is(nearest?.id, nearestByScan(candidates, centre.ra, centre.dec, radius)?.id);
    total += ids.length;
  }
  return total;
}

test('1,000 cones over the catalogs of the sample', async () => {
  const names: Record<string, [string, string]> = {
    gaia_dr3: ['ra', 'dec'],
    des_y6_gold: ['RA', 'DEC'],
    delve_dr3_gold: ['RA', 'DEC'],
    skymapper_dr4: ['raj2000', 'dej2000'],
  };
  const places: Place[] = [];
  for (const [catalog, [ra, dec]] of Object.entries(names)) {
    const dataset = join(root, 'sample/catalogs', catalog, 'dataset');
    for (const name of readdirSync(dataset, { recursive: true, encoding: 'utf8' }))
      if (/Npix=.*\.parquet$/.test(name)) places.push(...(await readPositions(join(dataset, name), ra, dec)));
  }
  assert.ok(places.length > 100, `${places.length} rows`);
  assert.ok(compareCones(places, 1) > CONES / 2);
});

test('1,000 cones over real stars', async () => {
  const places = await readPositions(stars, 'ra', 'dec');
  assert.ok(places.length > 10_000, `${places.length} stars`);
  assert.ok(compareCones(places, 2) > CONES / 2);
});

test.run();
