/** Areas against a test of every point: circles, polygons, ranges of pixels, maps of probability. */

import {
  Arena,
  buildArena,
  type PointColumns,
  pixel29,
  pixelCentre,
  pixelOf,
  SkyIndex,
  separationArcsec,
} from '@nearsky/sky-index';
import {
  Area,
  type AreaPlace,
  type AreaRow,
  areaOfProbability,
  areaOfRanges,
  areaOfShape,
  circle,
  countArea,
  polygon,
  type Shape,
  touchedPixels,
  walkArea,
} from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sortedBy } from '../../index/area.ts';
import { maxCellRadius, pixelOfDeepCell } from '../../index/healpix.ts';
import { anywhere, HARD_PLACES, offset, type Place, seededRandom } from '../oracle/skies.ts';

const test = suite('index/area');

const ROWS = Number(process.env.TEST_AREA_ROWS ?? 6000);
const AREAS = Number(process.env.TEST_AREAS ?? 10);

/** Points everywhere, and many at hard places, in arenas of different sizes. */
function randomPoints(seed: number): { points: PointColumns; index: SkyIndex } {
  const random = seededRandom(seed);
  const places = Array.from({ length: ROWS }, (_, i): Place => {
    if (i % 3 === 0) return anywhere(random);
    return offset(HARD_PLACES[i % HARD_PLACES.length]!, 3600 * 30 * random() ** 4, 7 * random());
  });
  const points = {
    ra: Float64Array.from(places, ({ ra }) => ra),
    dec: Float64Array.from(places, ({ dec }) => dec),
    id: BigInt64Array.from(places, (_, i) => BigInt((i * 7919) % ROWS)),
  };
  const cuts = [0, ROWS >> 4, ROWS >> 1, ROWS];
  const part = (from: number, to: number) => ({
    ra: points.ra.slice(from, to),
    dec: points.dec.slice(from, to),
    id: points.id.slice(from, to),
  });
  const arenas = cuts.slice(1).map((to, i) => new Arena(buildArena(part(cuts[i]!, to))));
  return { points, index: new SkyIndex(arenas) };
}

function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function walked(index: SkyIndex, area: Area, after?: AreaPlace): AreaRow[] {
  return [...walkArea(index, area, after)].flat();
}

/** The rows and the count agree with a test of all points; each walk that resumes gives the rest. */
function assertHolds(
  index: SkyIndex,
  points: PointColumns,
  area: Area,
  isInside: (row: number) => boolean,
  what: string,
) {
  const rows = walked(index, area);
  const expected = [...points.id].filter((_, row) => isInside(row)).sort((a, b) => (a < b ? -1 : 1));
  assert.equal(
    rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1)),
    expected,
    what,
  );
  assert.is(finished(countArea(index, area)), expected.length, what);
  const contained = [...points.id].filter((_, row) => area.contains(points.ra[row]!, points.dec[row]!));
  assert.equal(
    contained.sort((a, b) => (a < b ? -1 : 1)),
    expected,
    what,
  );
  const inOrder = rows.toSorted((a, b) => a.level - b.level || a.pixel - b.pixel || (a.id < b.id ? -1 : 1));
  assert.equal(rows, inOrder, what);
  for (const at of [0, rows.length >> 1, rows.length - 1].filter(at => at in rows))
    assert.equal(walked(index, area, rows[at]), rows.slice(at + 1), `${what}, resumed after ${at}`);
}

/** The area as another process restores it from its arrays. */
const taken = (area: Area) => Area.of(structuredClone(area.arrays));

const { points, index } = randomPoints(1);
const rowsOf =
  <T>(f: (ra: number, dec: number) => T) =>
  (row: number) =>
    f(points.ra[row]!, points.dec[row]!);

test('circles of all sizes equal a scan', () => {
  const random = seededRandom(2);
  for (let i = 0; i < AREAS; i++) {
    const centre = i % 2 ? anywhere(random) : HARD_PLACES[i % HARD_PLACES.length]!;
    const radius = [0, 1e-3, 1, 60, 3600, 36_000, 180_000, 324_000, 500_000, 648_000][i % 10]! * (1 - 0.3 * random());
    const area = finished(areaOfShape(circle(centre.ra, centre.dec, radius)));
    const isInside = rowsOf((ra, dec) => separationArcsec(centre.ra, centre.dec, ra, dec) <= radius);
    assertHolds(index, points, area, isInside, `circle ${centre.ra} ${centre.dec} ${radius}`);
  }
});

/** Whether the vertices go around a point, as it sees them: the angles between them sum up to a whole circle. For polygons of less than a hemisphere's width. */
function windsAround(vertices: readonly Place[], ra: number, dec: number): boolean {
  const k = Math.PI / 180;
  const bearing = (to: Place) => {
    const d = (to.ra - ra) * k;
    const y = Math.sin(d) * Math.cos(to.dec * k);
    const x = Math.cos(dec * k) * Math.sin(to.dec * k) - Math.sin(dec * k) * Math.cos(to.dec * k) * Math.cos(d);
    return Math.atan2(y, x);
  };
  let sum = 0;
  for (let i = 0; i < vertices.length; i++) {
    const turn = bearing(vertices[(i + 1) % vertices.length]!) - bearing(vertices[i]!);
    sum += Math.atan2(Math.sin(turn), Math.cos(turn));
  }
  return Math.abs(sum) > Math.PI;
}

/** A polygon of random corners around a place, as seen from it in order: a star that need not be convex. */
function star(random: () => number, centre: Place, size: number, corners: number): Place[] {
  const turn = random() < 0.5 ? 1 : -1;
  return Array.from({ length: corners }, (_, i) =>
    offset(centre, size * (0.3 + 0.7 * random()), (turn * 2 * Math.PI * (i + 0.3 * random())) / corners),
  );
}

const asPairs = (vertices: readonly Place[]) => vertices.map(({ ra, dec }) => [ra, dec] as const);

test('polygons of all sizes, over the poles and RA 0, either way round, equal a scan [Areas]', () => {
  const random = seededRandom(3);
  for (let i = 0; i < AREAS; i++) {
    const { ra, dec } = i % 3 ? HARD_PLACES[i % HARD_PLACES.length]! : anywhere(random);
    // At a pole, all bearings of `offset` give the same position.
    const centre = { ra, dec: Math.max(-89.9999, Math.min(89.9999, dec)) };
    const size = [5, 300, 3600, 36_000, 108_000, 250_000][i % 6]!;
    const vertices = star(random, centre, size, 3 + Math.floor(random() * (i % 7 === 0 ? 300 : 9)));
    const area = finished(areaOfShape(polygon(asPairs(vertices))));
    const near = (ra: number, dec: number) => separationArcsec(centre.ra, centre.dec, ra, dec) <= 300_000;
    const isInside = rowsOf((ra, dec) => near(ra, dec) && windsAround(vertices, ra, dec));
    assertHolds(index, points, area, isInside, `polygon ${i} of ${vertices.length} around ${centre.ra} ${centre.dec}`);
  }
});

test('edges along meridians and the equator, through pixel centres and base faces, and a vertex at a pole', () => {
  const inBox = (a: number, b: number, c: number, d: number) => (ra: number, dec: number) =>
    ra > a && ra < b && dec > c && dec < d;
  // The sky's own points lie on these edges, so they are left out.
  const random = seededRandom(4);
  const places = Array.from({ length: 3000 }, () => anywhere(random));
  const cases: [Place[], (ra: number, dec: number) => boolean][] = [
    [
      [
        { ra: 0, dec: 0 },
        { ra: 90, dec: 0 },
        { ra: 0, dec: 90 },
      ],
      inBox(0, 90, 0, 90),
    ],
    [
      [
        { ra: 45, dec: 0 },
        { ra: 135, dec: 0 },
        { ra: 77, dec: -90 },
      ],
      inBox(45, 135, -90, 0),
    ],
    [
      [
        { ra: 270, dec: 0 },
        { ra: 0, dec: 0 },
        { ra: 0, dec: 90 },
      ],
      inBox(270, 360, 0, 90),
    ],
    [
      [
        { ra: 0, dec: 0 },
        { ra: 90, dec: 0 },
        { ra: 180, dec: 0 },
        { ra: 180, dec: 60 },
        { ra: 0, dec: 90 },
      ],
      (ra, dec) => inBox(0, 180, 0, 90)(ra, dec),
    ],
  ];
  for (const [vertices, isInside] of cases) {
    const columns = {
      ra: Float64Array.from(places, ({ ra }) => ra),
      dec: Float64Array.from(places, ({ dec }) => dec),
      id: BigInt64Array.from(places, (_, i) => BigInt(i)),
    };
    const sky = new SkyIndex([new Arena(buildArena(columns))]);
    const area = finished(areaOfShape(polygon(asPairs(vertices))));
    assertHolds(sky, columns, area, row => isInside(columns.ra[row]!, columns.dec[row]!), JSON.stringify(vertices));
  }
});

test('polygons that cannot be are refused [Areas]', () => {
  const of =
    (...vertices: [number, number][]) =>
    () =>
      polygon(vertices) as Shape<unknown>;
  assert.throws(of([1, 2], [3, 4]), /at least 3 vertices/);
  assert.throws(of([1, 2], [3, 4], [1, 2], [1, 2]), /opposite|at least 3/);
  assert.throws(of([0, 0], [180, 0], [90, 10]), /opposite/);
  assert.throws(of([0, 0], [400, 0], [90, 10]), /ra must be/);
});

test('the pixels that a shape touches: what its edge crosses is bounded before any of them is searched', () => {
  let tests = 0;
  const whole = circle(10, 20, 3 * 3600);
  const counted: Shape<unknown> = {
    ...(whole as Shape<unknown>),
    testOf(part) {
      tests++;
      return whole.testOf(part as never);
    },
  };
  assert.is(finished(touchedPixels(counted, 1000, 13)), undefined);
  assert.is(tests, 0);
  const touched = finished(touchedPixels(counted, 1000, 9));
  assert.ok(tests > 0);
  // The distance of a pixel's centre decides, except at the edge.
  const { bounds } = touched!;
  const size = 4 ** 7;
  for (let row = 0; row < 120; row++)
    for (let column = 0; column < 120; column++) {
      const pixel = pixelOf(9, 4 + 0.1 * column, 14 + 0.1 * row);
      const { ra, dec } = pixelCentre(9, pixel);
      const far = separationArcsec(ra, dec, 10, 20) / 3600;
      if (Math.abs(far - 3) < 0.15) continue;
      const after = bounds.findIndex(bound => bound > pixel * size);
      assert.is(after >= 0 && after % 2 === 1, far < 3, `pixel ${pixel}`);
    }
});

test('the area of a shape is no arrays', () => {
  const area = finished(areaOfShape(circle(10, 20, 60)));
  assert.throws(() => area.arrays, /more than arrays/);
});

test('ranges of order-29 pixels, deep and overlapping ones, equal a scan', () => {
  const random = seededRandom(5);
  for (let i = 0; i < AREAS; i++) {
    const firsts: bigint[] = [];
    const ends: bigint[] = [];
    for (let n = 0; n < 1 + (i % 9) * 30; n++) {
      const order = Math.floor(random() * 30);
      const row = Math.floor(random() * ROWS);
      const shift = BigInt(2 * (29 - order));
      const pixel = pixel29(points.ra[row]!, points.dec[row]!) >> shift;
      firsts.push(pixel << shift);
      ends.push((pixel + 1n) << shift);
    }
    const area = finished(areaOfRanges(BigInt64Array.from(firsts), BigInt64Array.from(ends)));
    const isInside = rowsOf((ra, dec) => {
      const pixel = pixel29(ra, dec);
      return firsts.some((first, n) => first <= pixel && pixel < ends[n]!);
    });
    for (const each of [area, taken(area)]) assertHolds(index, points, each, isInside, `ranges ${i}`);
  }
});

test('a map of probability: the densest pixels first, each with the share of those at least as dense', () => {
  const random = seededRandom(6);
  // Pixels of orders 2 and 3 that cover the sky, some equally dense.
  const pixels = Array.from({ length: 192 }, (_, ipix) =>
    random() < 0.5
      ? [{ order: 2, ipix, density: Math.floor(20 * random() ** 4) }]
      : [0, 1, 2, 3].map(child => ({ order: 3, ipix: 4 * ipix + child, density: Math.floor(50 * random() ** 4) })),
  ).flat();
  const size = (order: number) => 4 ** (16 - order);
  const map = {
    firsts: Float64Array.from(pixels, ({ order, ipix }) => ipix * size(order)),
    ends: Float64Array.from(pixels, ({ order, ipix }) => (ipix + 1) * size(order)),
    density: Float64Array.from(pixels, ({ density }) => density),
  };
  const total = pixels.reduce((sum, { order, density }) => sum + density * size(order), 0);
  const levelOf = (dense: number) =>
    pixels
      .filter(({ density }) => density >= dense)
      .reduce((sum, { order, density }) => sum + density * size(order), 0) / total;
  const at = rowsOf((ra, dec) => {
    const pixel = Number(pixel29(ra, dec) >> 26n);
    return pixels.find(({ order, ipix }) => Math.floor(pixel / size(order)) === ipix)!;
  });
  for (const level of [0.01, 0.5, 0.9, 1]) {
    const area = finished(areaOfProbability(map, level));
    const isInside = (row: number) => at(row).density > 0 && levelOf(at(row).density) <= level + 1e-12;
    for (const each of [area, taken(area)]) assertHolds(index, points, each, isInside, `level ${level}`);
    const row = walked(index, area).at(-1);
    if (row) assert.ok(Math.abs(row.level - levelOf(at([...points.id].indexOf(row.id)).density)) < 1e-12);
  }
});

test('items are sorted by their keys and stay in their order where these are equal, few and many', () => {
  const random = seededRandom(8);
  for (const length of [0, 1, 1024, 1025, 5000]) {
    const keys = Float64Array.from({ length: 2 * length }, () => Math.floor(300 * random()) / 7);
    const items = Uint32Array.from({ length }, () => Math.floor(2 * length * random()));
    const expected = [...items].sort((a, b) => keys[a]! - keys[b]!);
    assert.equal([...finished(sortedBy(keys, items))], expected, `${length}`);
  }
});

test('the discs around cells hold them', () => {
  const random = seededRandom(7);
  for (let order = 0; order <= 13; order++) {
    for (let i = 0; i < 2000; i++) {
      const { ra, dec } =
        i % 2 ? anywhere(random) : offset(HARD_PLACES[i % HARD_PLACES.length]!, 1000 * random(), 7 * random());
      const pixel = Number(pixel29(ra, dec) >> BigInt(2 * (29 - order)));
      const middle = pixelCentre(order, pixel);
      // The place in the middle is off it by at most a tenth of this.
      const radius = maxCellRadius(order) / 1.15;
      assert.ok(
        separationArcsec(middle.ra, middle.dec, ra, dec) <= (radius * 648_000 * (1 + 1e-9)) / Math.PI,
        `${order} ${ra} ${dec}`,
      );
    }
  }
  assert.is(pixelOfDeepCell(16, 11, 65535, 65535), 12 * 4 ** 16 - 1);
});

test.run();
