/** Moved stars against astropy's, of which test/fixtures/motion has some; MOTION_STARS=100000 makes that many more. */
import { readFileSync } from 'node:fs';
import { separationArcsec } from '@nearsky/sky-index';
import { movedStar } from '@nearsky/sky-index/motion';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pythonWith, runPython } from '../python.ts';

const test = suite('index/motion');
const FIXTURES = new URL('../fixtures/motion/', import.meta.url);
/** Hundred times the rounding of a position in degrees. */
const TOLERANCE_ARCSEC = 2e-8;

/** How far this program's places and astropy's lie apart at most, arcsec, and how many there are. */
function compare(csv: string): { readonly stars: number; readonly worst: number } {
  const rows = csv.trim().split('\n').slice(1);
  let worst = 0;
  for (const row of rows) {
    const [ra, dec, pmra, pmdec, parallax, radialVelocity, years, raThen, decThen] = row.split(',').map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const moved = movedStar({ ra, dec, pmra, pmdec, parallax, radialVelocity }, years);
    assert.ok(moved.ra >= 0 && moved.ra < 360, `right ascension ${moved.ra}`);
    const apart = separationArcsec(moved.ra, moved.dec, raThen, decThen);
    assert.ok(apart <= TOLERANCE_ARCSEC, `${apart} arcsec apart: ${row}`);
    worst = Math.max(worst, apart);
  }
  return { stars: rows.length, worst };
}

test("the shipped stars, Barnard's first", () => {
  const { stars } = compare(readFileSync(new URL('stars.csv', FIXTURES), 'utf8'));
  assert.is(stars, 200);
});

test('Barnard’s star goes 269 arcsec in 26 years, a star at rest nowhere', () => {
  const barnard = { ra: 269.45207695, dec: 4.69336497, pmra: -801.551, pmdec: 10362.394, parallax: 546.9759 };
  const moved = movedStar({ ...barnard, radialVelocity: -110.51 }, 26);
  const gone = separationArcsec(barnard.ra, barnard.dec, moved.ra, moved.dec);
  assert.ok(Math.abs(gone - 270.6) < 0.5, `${gone}`);
  for (const years of [0, 26]) {
    const still = { ra: 10, dec: -89.5, pmra: years ? 0 : 500, pmdec: 0, parallax: 1, radialVelocity: 0 };
    const place = movedStar(still, years);
    assert.ok(separationArcsec(10, -89.5, place.ra, place.dec) < TOLERANCE_ARCSEC);
  }
});

const count = Number(process.env.MOTION_STARS ?? 0);
if (count > 0) {
  test(`${count} further stars [Proper motion]`, async () => {
    const python = pythonWith('astropy');
    assert.ok(python, 'TEST_PYTHON must name a Python with astropy');
    const csv = await runPython(python, [new URL('make.py', FIXTURES).pathname, String(count)]);
    const { stars, worst } = compare(csv);
    assert.is(stars, count);
    console.log(`${stars} stars, at most ${worst} arcsec from astropy's places`);
  });
}

test.run();
