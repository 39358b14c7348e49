import {
  Arena,
  buildArena,
  ConeHits,
  mergeArenas,
  NO_MATCH,
  nearestJoin,
  type PointColumns,
  SkyIndex,
  separationArcsec,
} from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareBigint, coneByScan, nearestByScan } from '../oracle/brute_force.ts';
import { HARD_PLACES, offset, randomSky, seededRandom, somewhere } from '../oracle/skies.ts';

const test = suite('sky index');
const hits = new ConeHits();
const CONES = Number(process.env.TEST_CONES ?? 150);

function coneIds(index: SkyIndex, ra: number, dec: number, radiusArcsec: number): bigint[] {
  const count = index.coneSearch(ra, dec, radiusArcsec, hits);
  assert.is(count, hits.count);
  const ids: bigint[] = [];
  for (let i = 0; i < count; i++) ids.push(index.arenas[hits.arena[i]!]!.id(hits.row[i]!));
  return ids.sort(compareBigint);
}

function slice(points: PointColumns, from: number, to: number): PointColumns {
  return {
    ra: points.ra.slice(from, to),
    dec: points.dec.slice(from, to),
    id: points.id.slice(from, to),
    time: points.time?.slice(from, to),
  };
}

function assertSameAsScan(index: SkyIndex, points: PointColumns, ra: number, dec: number, radiusArcsec: number): void {
  const where = `ra ${ra} dec ${dec} radius ${radiusArcsec}`;
  assert.equal(coneIds(index, ra, dec, radiusArcsec), coneByScan(points, ra, dec, radiusArcsec), where);
  const nearest = index.nearest(ra, dec, radiusArcsec);
  const expected = nearestByScan(points, ra, dec, radiusArcsec);
  assert.is(nearest?.id, expected?.id, where);
  assert.is(nearest?.separationArcsec, expected?.separationArcsec, where);
}

for (const [seed, rows] of [
  [1, 0],
  [2, 1],
  [3, 15],
  [4, 17],
  [5, 300],
  [6, 5000],
  [7, 20000],
] as const) {
  test(`cones and nearest equal a scan: ${rows} points`, () => {
    const { points, centres } = randomSky(seed, rows);
    const whole = new SkyIndex([new Arena(buildArena(points))]);
    const third = Math.floor(rows / 3);
    const parts = new SkyIndex(
      [slice(points, 0, third), slice(points, third, third), slice(points, third, rows)].map(
        p => new Arena(buildArena(p)),
      ),
    );
    const random = seededRandom(seed + 100);
    for (let i = 0; i < CONES; i++) {
      const { ra, dec } = somewhere(random, centres);
      const radius = random() < 0.05 ? 0 : 10 ** (random() * 4.556 - 1);
      assertSameAsScan(whole, points, ra, dec, radius);
      assertSameAsScan(parts, points, ra, dec, radius);
    }
  });
}

test('a point at exactly the radius is found, and not at the float64 below', () => {
  const random = seededRandom(11);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < 2000; i++) {
    const centre = somewhere(random, HARD_PLACES);
    const point = offset(centre, 10 ** (random() * 3 - 2), random() * 2 * Math.PI);
    const separation = separationArcsec(centre.ra, centre.dec, point.ra, point.dec);
    if (separation === 0) continue;
    const index = new SkyIndex([
      new Arena(
        buildArena({ ra: Float64Array.of(point.ra), dec: Float64Array.of(point.dec), id: BigInt64Array.of(7n) }),
      ),
    ]);
    view.setFloat64(0, separation);
    view.setBigUint64(0, view.getBigUint64(0) - 1n);
    assert.equal(coneIds(index, centre.ra, centre.dec, separation), [7n]);
    assert.equal(coneIds(index, centre.ra, centre.dec, view.getFloat64(0)), []);
    assert.is(index.nearest(centre.ra, centre.dec, separation)?.id, 7n);
    assert.is(index.nearest(centre.ra, centre.dec, view.getFloat64(0)), undefined);
  }
});

test('no row is lost a float64 below ra 360, where faces meet', () => {
  for (const dec of [41.8103148957786, -41.81031489577859, -41.8103148957786, 0]) {
    const points = {
      ra: Float64Array.of(100, 360 - 2 ** -44, 0, 360),
      dec: Float64Array.of(10, dec, dec, dec),
      id: BigInt64Array.of(1n, 2n, 3n, 4n),
    };
    const index = new SkyIndex([new Arena(buildArena(points))]);
    for (const ra of points.ra.slice(1)) {
      assert.equal(coneIds(index, ra, dec, 1), [2n, 3n, 4n], `ra ${ra} dec ${dec}`);
      assertSameAsScan(index, points, ra, dec, 1);
    }
    assert.equal(coneIds(index, 100, 10, 0), [1n]);
  }
});

test('of equal separations the lowest id wins, also across arenas and for negative ids', () => {
  const at = (ids: bigint[]) =>
    new Arena(
      buildArena({
        ra: new Float64Array(ids.length).fill(10),
        dec: new Float64Array(ids.length).fill(-20),
        id: BigInt64Array.from(ids),
      }),
    );
  assert.is(new SkyIndex([at([5n, 3n, 9n])]).nearest(10, -20, 1)?.id, 3n);
  assert.is(new SkyIndex([at([5n]), at([4n]), at([6n])]).nearest(10, -20, 1)?.id, 4n);
  assert.is(
    new SkyIndex([at([5n, 9223372036854775807n]), at([-9223372036854775808n])]).nearest(10, -20.0001, 1)?.id,
    -9223372036854775808n,
  );
});

test('many points at one place: more than a bucket can split', () => {
  const rows = 300_000;
  const points = {
    ra: new Float64Array(rows).fill(77.7),
    dec: new Float64Array(rows).fill(-69.1),
    id: BigInt64Array.from({ length: rows }, (_, i) => BigInt(rows - i)),
  };
  const index = new SkyIndex([new Arena(buildArena(points))]);
  assert.is(index.coneSearch(77.7, -69.1, 0, hits), rows);
  assert.is(index.coneSearch(77.7, -69.1003, 1, hits), 0);
  assert.is(index.nearest(77.7, -69.1, 60)?.id, 1n);
});

test('a join is nearest for every position', () => {
  const { points, centres } = randomSky(41, 4000);
  const index = new SkyIndex([
    new Arena(buildArena(slice(points, 0, 1500))),
    new Arena(buildArena(slice(points, 1500, 4000))),
  ]);
  const random = seededRandom(42);
  const positions = Array.from({ length: 3000 }, () => somewhere(random, centres));
  const ra = Float64Array.from(positions, position => position.ra);
  const dec = Float64Array.from(positions, position => position.dec);
  const join = nearestJoin(index, ra, dec, 30);
  let matched = 0;
  for (let i = 0; i < positions.length; i++) {
    const nearest = index.nearest(ra[i]!, dec[i]!, 30);
    assert.is(join.arena[i], nearest ? nearest.arena : NO_MATCH);
    if (!nearest) continue;
    matched++;
    assert.equal([join.row[i], join.separationArcsec[i]], [nearest.row, nearest.separationArcsec]);
  }
  assert.is(join.matched, matched);
  assert.ok(matched > 500 && matched < 3000);
});

test('merged arenas hold every point once, with its time', () => {
  const { points } = randomSky(21, 3000);
  const merged = new Arena(
    mergeArenas([
      new Arena(buildArena(slice(points, 0, 1000))),
      new Arena(buildArena(slice(points, 1000, 1000))),
      new Arena(buildArena(slice(points, 1000, 3000))),
    ]),
  );
  const rowOf = new Map(Array.from(points.id, (id, i) => [id, i]));
  assert.is(merged.length, 3000);
  for (let row = 0; row < merged.length; row++) {
    const i = rowOf.get(merged.id(row))!;
    rowOf.delete(merged.id(row));
    assert.equal([merged.ra(row), merged.dec(row), merged.time(row)], [points.ra[i], points.dec[i], points.time![i]]);
  }
});

test('positions and radii out of range are refused by name', () => {
  const index = new SkyIndex([]);
  assert.throws(() => index.coneSearch(-1, 0, 1, hits), /ra .*-1/);
  assert.throws(() => index.coneSearch(0, 90.5, 1, hits), /dec .*90.5/);
  assert.throws(() => index.coneSearch(0, 0, 3601, hits), /radius .*3601/);
  assert.throws(() => index.coneSearch(0, Number.NaN, 1, hits), /dec .*NaN/);
  assert.throws(() => index.nearest(0, 0, Number.NaN), /radius .*NaN/);
  assert.throws(
    () => buildArena({ ra: Float64Array.of(361), dec: Float64Array.of(0), id: BigInt64Array.of(1n) }),
    /ra .*361/,
  );
  assert.throws(
    () => buildArena({ ra: Float64Array.of(1), dec: Float64Array.of(), id: BigInt64Array.of(1n) }),
    /1 rows: one has 0/,
  );
});

test('bytes that are not an arena are refused', () => {
  const good = buildArena(randomSky(31, 100).points);
  const copy = (length: number) => {
    const bytes = new SharedArrayBuffer(length);
    new Uint8Array(bytes).set(new Uint8Array(good).subarray(0, length));
    return bytes;
  };
  assert.is(new Arena(copy(good.byteLength)).length, 100);
  assert.throws(() => new Arena(copy(64)), /shorter than its header/);
  assert.throws(() => new Arena(copy(good.byteLength - 8)), /must have \d+ bytes/);
  const other = copy(good.byteLength);
  new Float64Array(other)[0] = 1;
  assert.throws(() => new Arena(other), /not one/);
  const newer = copy(good.byteLength);
  new Float64Array(newer)[1] = 99;
  assert.throws(() => new Arena(newer), /version must be 3: it is 99/);
});

test.run();
