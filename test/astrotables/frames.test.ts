/** Conversions to ICRS, compared with astropy's; and the names of frames. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeFrame, type Frame, FrameError, frameOf, toIcrs } from '@nearsky/astrotables/frames';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('astrotables/frames');

interface Positions {
  readonly ra: readonly number[];
  readonly dec: readonly number[];
}

/** What `positions.py` prints. */
interface Converted {
  readonly lon: readonly number[];
  readonly lat: readonly number[];
  readonly frames: Readonly<Record<string, Positions>>;
  readonly observed_1983_5: Positions;
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** Microarcseconds. Releases of astropy differ by half of one, in the precession of FK5. */
const MOST = 1;

function compare({ lon, lat, frames, observed_1983_5 }: Converted): void {
  assert.is(Object.keys(frames).length, 13);
  const furthest = (frame: Frame, { ra, dec }: Positions) => {
    const convert = toIcrs(frame);
    return Math.max(
      ...lon.map((each, i) => {
        const [foundRa, foundDec] = convert(each, lat[i]!);
        assert.ok(foundRa >= 0 && foundRa <= 360, `${foundRa}`);
        return 1e6 * separationArcsec(foundRa, foundDec, ra[i]!, dec[i]!);
      }),
    );
  };
  for (const [name, positions] of Object.entries(frames)) {
    const found = furthest(frameOf(name), positions);
    assert.ok(found < MOST, `${name}: ${found} microarcseconds`);
  }
  const observed = furthest({ system: 'FK4', equinox: 1950, obstime: 1983.5 }, observed_1983_5);
  assert.ok(observed < MOST, `observed in 1983.5: ${observed} microarcseconds`);
}

test('conversions equal those that astropy 8.0.2 has written down', () => {
  compare(JSON.parse(readFileSync(file('positions.json'), 'utf8')));
});

needs(test, whyNoPython('astropy'))(
  'conversions of 5,000 positions in 13 frames equal those of the astropy here',
  async () => {
    compare(JSON.parse(await runPython(pythonWith('astropy')!, [file('positions.py'), '5000'])));
  },
);

test('positions in ICRS stay as they are; what is none becomes none', () => {
  assert.equal(toIcrs(frameOf('ICRS'))(-0, 123.456), [-0, 123.456]);
  for (const [lon, lat] of [
    [Number.NaN, 0],
    [0, Number.NaN],
    [0, 90.0001],
    [Number.POSITIVE_INFINITY, 0],
  ] as const)
    assert.ok(toIcrs(frameOf('FK4'))(lon, lat).every(Number.isNaN), `${lon} ${lat}`);
});

test('the names of frames', () => {
  const names = {
    ICRS: ['icrs', 'ICRS', ' Icrs ', 'ICRF'],
    'FK5 J2000': ['FK5', 'fk5', 'J2000', 'j2000.0', 'FK5 J2000', 'FK5(J2000.0)', 'eq_FK5', 'FK5, J2000', 'fk5 2000'],
    'FK5 J1975': ['FK5 J1975', 'fk5(j1975)', 'J1975.0', 'FK5 equinox=J1975'],
    'FK4 B1950': ['FK4', 'B1950', 'b1950.0', 'eq_FK4', 'fk4 1950', 'FK4(B1950.0)'],
    'FK4 B1875': ['B1875', 'FK4 B1875.0'],
    GALACTIC: ['galactic', 'GALACTIC', 'gal', 'galactic_II'],
  };
  for (const [name, spellings] of Object.entries(names))
    for (const each of [name, ...spellings]) assert.is(describeFrame(frameOf(each)), name, each);
  assert.is(describeFrame(frameOf('eq_FK5', 'J1975')), 'FK5 J1975');
  assert.is(describeFrame(frameOf('FK4', '1900.0')), 'FK4 B1900');
  assert.is(describeFrame(frameOf('FK5', '')), 'FK5 J2000');
});

test('other frames are refused by name', () => {
  const others =
    'ecl_FK5 ecliptic supergalactic altaz cirs gappt fk4noeterms barycentrictrueecliptic FK3 1950 nonsense B1950.x FK4(J2000) FK5(B1950) ICRS(J1975)';
  for (const name of [...others.split(' '), '', ' ', 'FK5 J9000', 'FK5 J2000 extra', 'x'.repeat(10_000)])
    assert.throws(
      () => frameOf(name),
      (error: unknown) =>
        error instanceof FrameError &&
        (error.message.includes(name.slice(0, 3).trim()) || /J9000/.test(name)) &&
        error.message.length < 400,
      name.slice(0, 40),
    );
  assert.throws(() => frameOf('FK5', 'soon'), /the equinox soon/);
});

test.run();
