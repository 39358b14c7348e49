/**
 * Right ascensions as surveys write them: -180 to 180, below 0, turns beyond 360. The catalogs were written by LSDB, whose own crossmatch
 * is the oracle (test/fixtures/conventions).
 */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { CatalogSearch } from '../../../src/capabilities/crossmatch/catalog_search.ts';
import { openCatalog } from '../../../src/capabilities/crossmatch/plan.ts';
import type { CatalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { columnsNamed } from '../../core/catalogs/small_catalog.ts';
import { withDirectory } from '../../directory.ts';
import { unpacked } from './unpacked.ts';
import { pool } from './world.ts';

const test = suite('conventions of right ascension');

const fixtures = fileURLToPath(new URL('../../fixtures/conventions', import.meta.url));

const definition: CatalogDefinition = {
  ...catalogDefinition('gaia_dr3')!,
  idColumn: 'id',
  raColumn: 'ra',
  decColumn: 'dec',
  columns: columnsNamed('mag', 'ra', 'dec'),
};

interface Expected {
  readonly ra: number;
  readonly dec: number;
  /** Empty if there is no match. */
  readonly id: string;
  readonly separationArcsec: number;
}

function expectedOf(name: string): Expected[] {
  const [, ...lines] = readFileSync(join(fixtures, `${name}.csv`), 'utf8')
    .trim()
    .split('\n');
  return lines.map(line => {
    const [ra, dec, id = '', separation] = line.split(',');
    return { ra: Number(ra), dec: Number(dec), id, separationArcsec: Number(separation) };
  });
}

/** Above what float64 loses of a right ascension of a thousand turns. */
const TOLERANCE_ARCSEC = 1e-6;

/** Compares with what LSDB found; each object alone, so that it alone decides which files and row groups are read. */
async function check(name: string, location: string): Promise<void> {
  const catalog = openCatalog(await registerCatalog(definition, location, { addedAtUs: 0 }));
  const objects = expectedOf(name);
  let beyond = 0;
  for (const part of [objects, ...objects.slice(0, 60).map(object => [object])]) {
    const [ra, dec] = [part.map(object => object.ra), part.map(object => object.dec)].map(values =>
      Float64Array.from(values),
    );
    const search = new CatalogSearch(
      catalog,
      { ra: ra!, dec: dec!, timeUs: new Float64Array(ra!.length), errorMas: ra!.map(() => Number.NaN) },
      1,
    );
    await Promise.all(search.searches.map(async file => search.take(file, await pool.run(search.task(file)))));
    assert.equal(search.problems, []);
    part.forEach(({ id, separationArcsec, ...place }, at) => {
      const match = search.match(at);
      assert.is(match?.catalogSourceId ?? '', id, `${name} at ${place.ra} ${place.dec}`);
      if (!match) return;
      assert.is(search.outcome(at), 'searched');
      assert.ok(Math.abs(match.separationArcsec - separationArcsec) < TOLERANCE_ARCSEC, `${match.separationArcsec}`);
      const { ra, payload } = unpacked(match.source) as { ra: number; payload: Record<string, unknown> };
      const published = payload.ra as number;
      assert.ok(ra >= 0 && ra <= 360, `${ra}`);
      assert.ok(Math.abs(Math.sin(((published - ra) * Math.PI) / 360)) < 1e-9, `${published} ${ra}`);
      if (published !== ra) beyond++;
    });
  }
  assert.ok(beyond > 50, `only ${beyond} sources outside 0 to 360`);
}

for (const name of ['signed', 'negative', 'mixed']) {
  test(`${name}: matches and separations are those of LSDB, the payload as published [Catalogs]`, () =>
    check(name, join(fixtures, name)));
}

test('the footprint from rows of any convention is that of the map', () =>
  withDirectory(async directory => {
    for (const name of ['signed', 'negative', 'mixed']) {
      const location = join(directory, name);
      cpSync(join(fixtures, name), location, { recursive: true });
      const fromMap = await registerCatalog(definition, location, { addedAtUs: 0 });
      rmSync(join(location, 'skymap.fits'));
      const fromRows = await registerCatalog(definition, location, { addedAtUs: 0 });
      assert.is(fromRows.coverage.source, 'rows');
      assert.equal(fromRows.coverage.ranges, fromMap.coverage.ranges);
    }
  }));

test.run();
