/** The projection of the map, offsets of the finder plot, and numbers as text. */

import { separationArcsec } from '@nearsky/sky-index';
import * as fc from 'fast-check';
import { cellToBoundary, cellToChildren, getRes0Cells } from 'h3-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { arcsec, count, sexagesimalDec, sexagesimalRa, time } from '../../../src/capabilities/pages/browser/format.js';
import {
  offsetsArcsec,
  Projection,
  SEMI_MAJOR,
  SEMI_MINOR,
  separationDegrees,
  vectorOf,
} from '../../../src/capabilities/pages/browser/projection.js';
import { outlineOf, polygonText } from '../../../src/capabilities/pages/browser/shapes.js';

const test = suite('pages/drawing');

const ra = fc.double({ min: 0, max: 360, noNaN: true });
const dec = fc.double({ min: -90, max: 90, noNaN: true });
const place = fc.record({ ra, dec });

function pointOf(projection: Projection, ra: number, dec: number, side = 0): { x: number; y: number } {
  const point = { x: 0, y: 0 };
  projection.project(...vectorOf(ra, dec), side, point);
  return point;
}

test('a point of the map is the position that was drawn there', () => {
  fc.assert(
    fc.property(place, place, (middle, position) => {
      const projection = new Projection(middle);
      const { x, y } = pointOf(projection, position.ra, position.dec);
      assert.ok((x / SEMI_MAJOR) ** 2 + (y / SEMI_MINOR) ** 2 < 1 + 1e-9, `${x} ${y}`);
      const back = projection.positionAt(x * (1 - 1e-12), y * (1 - 1e-12));
      assert.ok(back && separationArcsec(back.ra, back.dec, position.ra, position.dec) < 20, JSON.stringify(back));
    }),
  );
  assert.is(new Projection({ ra: 10, dec: 20 }).positionAt(SEMI_MAJOR, 0.1), undefined);
});

test('the middle is in the middle, north is up and east to the left', () => {
  fc.assert(
    fc.property(ra, fc.double({ min: -80, max: 80, noNaN: true }), (ra, dec) => {
      const projection = new Projection({ ra, dec });
      const middle = pointOf(projection, ra, dec);
      assert.ok(Math.hypot(middle.x, middle.y) < 1e-7);
      assert.ok(pointOf(projection, ra, dec + 1).y > 0);
      assert.ok(pointOf(projection, ra + 1, dec).x < 0);
      const degree = Math.PI / 180;
      assert.ok(Math.abs(pointOf(projection, ra, dec + 1).y - degree) < 1e-4 * degree + 1e-6);
    }),
  );
});

const SINGULAR = [
  { ra: 40, dec: -65 },
  { ra: 220, dec: 65 },
];

function isNearSeam(projection: Projection, { ra, dec }: { ra: number; dec: number }): boolean {
  const { x, y } = pointOf(projection, ra, dec);
  return (x / SEMI_MAJOR) ** 2 + (y / SEMI_MINOR) ** 2 > 0.98;
}

test('areas stay as they are: a small square has the same area wherever it is drawn', () => {
  const projection = new Projection({ ra: 40, dec: 25 });
  const [east, north] = [0.01, 0.01];
  for (let i = 0; i < 200; i++) {
    const at = { ra: (i * 137.5) % 360, dec: -75 + ((i * 31) % 150) };
    // Not across the seam, nor at the poles of the aspect, where the square is no square.
    if (SINGULAR.some(point => separationDegrees(at, point) < 5) || isNearSeam(projection, at)) continue;
    const a = pointOf(projection, at.ra, at.dec);
    const b = pointOf(projection, at.ra + east / Math.cos((at.dec * Math.PI) / 180), at.dec);
    const c = pointOf(projection, at.ra, at.dec + north);
    const area = Math.abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
    const drawn = area / (east * north * (Math.PI / 180) ** 2);
    assert.ok(Math.abs(drawn - 1) < 0.01, `${JSON.stringify(at)}: ${drawn}`);
  }
});

test('beyond the seam a point is drawn on the side that is asked for', () => {
  const projection = new Projection({ ra: 0, dec: 0 });
  assert.ok(pointOf(projection, 181, 10).x > 0 && pointOf(projection, 181, 10, 1).x < -2.7);
  assert.ok(pointOf(projection, 179, 10).x < 0 && pointOf(projection, 179, 10, -1).x > 2.7);
});

type Outline = [x: number, y: number][];

/** The strokes by which the outline of a cell is drawn. */
function outlinesOf(projection: Projection, cell: string): Outline[] {
  const corners = new Float64Array(cellToBoundary(cell).flatMap(([dec, ra]) => vectorOf(ra, dec)));
  const outlines: Outline[] = [];
  projection.trace(corners, 0, corners.length / 3, {
    moveTo: (x, y) => outlines.push([[x, y]]),
    lineTo: (x, y) => outlines.at(-1)!.push([x, y]),
    closePath: () => undefined,
  });
  return outlines;
}

/** Whether a point is within the outline, by the edges that a line from it to the right goes through. */
function isWithin([x, y]: readonly [x: number, y: number], outline: Outline): boolean {
  let within = false;
  for (const [i, [x1, y1]] of outline.entries()) {
    const [x2, y2] = outline.at(i - 1)!;
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) within = !within;
  }
  return within;
}

test('cells cover the whole map once, the seam and both poles of the view too', () => {
  const cells = getRes0Cells().flatMap(cell => cellToChildren(cell, 2));
  const middles = [
    { ra: 0, dec: 0 },
    { ra: 0, dec: 90 },
    { ra: 77, dec: -31 },
    { ra: 201, dec: 58 },
  ];
  for (const middle of middles) {
    const projection = new Projection(middle);
    const outlines = cells
      .flatMap(cell => outlinesOf(projection, cell))
      .map(outline => {
        const ys = outline.map(([, y]) => y);
        return { outline, from: Math.min(...ys), to: Math.max(...ys) };
      });
    const count = (at: readonly [x: number, y: number]) =>
      outlines.filter(({ outline, from, to }) => from <= at[1] && at[1] <= to && isWithin(at, outline)).length;
    let [asked, uncovered, twice] = [0, 0, 0];
    for (let i = 1; i < 400; i++) {
      // Points that fill the ellipse evenly, half of them within a few degrees of the rim.
      const r = i % 2 === 0 ? Math.sqrt(i / 400) : 0.98 + (0.0195 * i) / 400;
      const at = [SEMI_MAJOR * r * Math.cos(i * 2.4), SEMI_MINOR * r * Math.sin(i * 2.4)] as const;
      const times = count(at);
      asked++;
      if (times === 0) uncovered++;
      if (times > 1) twice++;
    }
    // Edges are straight on the map, and where one is meant to be bent its neighbours leave a little or overlap.
    assert.ok(uncovered + twice <= asked / 100, `${JSON.stringify(middle)}: ${uncovered} not covered, ${twice} twice`);
    for (const y of [-1, 1])
      for (const x of [-1, 0, 1]) assert.is(count([0.01 * x, SEMI_MINOR * y * 0.9995]), 1, `${x} ${y}`);
  }
});

test('offsets on the plane have the length of the separation', () => {
  const small = fc.double({ min: -60, max: 60, noNaN: true });
  fc.assert(
    fc.property(ra, fc.double({ min: -85, max: 85, noNaN: true }), small, small, (ra, dec, east, north) => {
      const to = { ra: (ra + east / 3600 / Math.cos((dec * Math.PI) / 180) + 360) % 360, dec: dec + north / 3600 };
      const found = offsetsArcsec({ ra, dec }, to);
      const separation = separationArcsec(ra, dec, to.ra, to.dec);
      assert.ok(Math.abs(Math.hypot(found.east, found.north) - separation) < 1e-5 * separation + 1e-6);
      if (Math.abs(east) > 0.01) assert.is(Math.sign(found.east), Math.sign(east));
      assert.ok(Math.abs(separationDegrees({ ra, dec }, to) * 3600 - separation) < 1e-6);
    }),
  );
});

test('the outline of a circle lies at its radius, that of a polygon goes by great circles through its corners', () => {
  fc.assert(
    fc.property(ra, dec, fc.double({ min: 0.001, max: 90, noNaN: true }), (ra, dec, radius) => {
      const outline = outlineOf(`CIRCLE(${ra}, ${dec}, ${radius})`);
      assert.is(outline.length, 73);
      for (const point of outline) assert.ok(Math.abs(separationDegrees({ ra, dec }, point) - radius) < 1e-7);
    }),
  );
  const corners = [
    { ra: 350, dec: -20 },
    { ra: 10.5, dec: 30 },
    { ra: 1e1, dec: -40 },
  ];
  const outline = outlineOf(polygonText(corners));
  for (const corner of corners) assert.ok(outline.some(point => separationDegrees(corner, point) < 1e-6));
  for (let i = 0; i + 1 < 17; i++) {
    const [from, to] = [corners[0]!, corners[1]!];
    const detour = separationDegrees(from, outline[i]!) + separationDegrees(outline[i]!, to);
    assert.ok(Math.abs(detour - separationDegrees(from, to)) < 1e-6, `${i}`);
  }
  assert.equal(outlineOf("CIRCLE('ICRS', 1, 2, 1)"), outlineOf('circle icrs 1 2 1e0'));
  const shapes = ['CIRCLE 1 2', "CIRCLE('ICRS', x, 2, 1)", 'CIRCLE 1.2.3 4 5'];
  // The service converts these frames; the map must not show another place.
  const frames = ['CIRCLE GALACTIC 1 2 1', "CIRCLE('GALACTIC', 1, 2, 1)", 'POLYGON J2000 1 2 3 4 5 6'];
  for (const text of ['', '5/1-3', ...shapes, ...frames]) assert.equal(outlineOf(text), [], text);
});

test('sexagesimal text never has sixty seconds, and is the position', () => {
  assert.is(sexagesimalRa(359.9999999), '00ʰ00ᵐ00.00ˢ');
  assert.is(sexagesimalRa(15 * (10 + 59.99999999 / 3600)), '10ʰ01ᵐ00.00ˢ');
  assert.is(sexagesimalDec(-0.5), '−00°30′00.0″');
  assert.is(sexagesimalDec(41.2691666, 0), '+41°16′09″');
  fc.assert(
    fc.property(ra, dec, (ra, dec) => {
      const [h, m, s] = /^(\d\d)ʰ(\d\d)ᵐ(\d\d\.\d\d)ˢ$/.exec(sexagesimalRa(ra))!.slice(1).map(Number) as number[];
      assert.ok(h! < 24 && m! < 60 && s! < 60);
      const off = Math.abs(15 * (h! + m! / 60 + s! / 3600) - ra);
      assert.ok(Math.min(off, Math.abs(off - 360)) < 1e-4);
      const [, sign, ...parts] = /^([+−])(\d\d)°(\d\d)′(\d\d\.\d)″$/.exec(sexagesimalDec(dec))!;
      const [d, dm, ds] = parts.map(Number) as [number, number, number];
      assert.ok(dm < 60 && ds < 60 && Math.abs((sign === '−' ? -1 : 1) * (d + dm / 60 + ds / 3600) - dec) < 1e-4);
    }),
  );
});

test('figures', () => {
  assert.equal([count(0), count(999), count(1000), count(1234567)], ['0', '999', '1\u202f000', '1\u202f234\u202f567']);
  assert.equal([arcsec(0.0123), arcsec(0.35), arcsec(null)], ['0.012″', '0.35″', '–']);
  assert.is(time('2026-10-07T09:15:00.004210+00:00'), '2026-10-07 09:15:00 UTC');
  assert.is(time(null), '–');
});

test.run();
