/** Areas as clients send them: which are read, and which are refused with the violated limit. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mocCells, writeMoc } from '../../../src/capabilities/catalogs/moc.ts';
import { type ReadArea, readArea } from '../../../src/capabilities/catalogs/read_area.ts';
import { AreaError } from '../../../src/core/base/area_error.ts';
import { MAX_AREA_CELLS, MAX_POLYGON_VERTICES } from '../../../src/core/contract/limits.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';

const test = suite('vo/areas');

function read(area: string | Uint8Array, level?: number): ReadArea {
  const steps = readArea(typeof area === 'string' ? new TextEncoder().encode(area) : area, level);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function refused(area: string | Uint8Array, says: RegExp, level?: number): void {
  try {
    read(area, level);
  } catch (error) {
    assert.instance(error, AreaError);
    assert.match((error as Error).message, says);
    return;
  }
  throw new Error(`it is read: ${area.slice(0, 100)}`);
}

const boundsOf = (area: string | Uint8Array) => [...read(area).area.bounds];

test('a MOC of one order is the same in FITS, JSON and text, and as the service writes it [Areas]', () => {
  const ranges = Uint32Array.from([3, 8, 40, 41]);
  const bounds = [...ranges].map(pixel => pixel * 4 ** 12);
  for (const text of ['4/3-7 40', '4/3-7,40', '4/3 4,5-7\n40 29/', 's4/3-7 40', '4/40 5/12-31'])
    assert.equal(boundsOf(text), bounds, text);
  assert.equal(boundsOf('{"4": [3, 4, 5, 6, 7, 40], "29": []}'), bounds);
  for (const format of ['fits', 'json', 'txt'] as const)
    assert.equal(boundsOf(writeMoc(mocCells({ order: 4, ranges }), format, 'x')), bounds, format);
});

test('nothing is an area of nothing, but an empty text is none', () => {
  assert.equal(boundsOf('5/'), []);
  for (const text of ['{}', '{ }', '{ "0": [] }', '{"0":[],"3":[]}']) assert.equal(boundsOf(text), [], text);
  assert.equal(boundsOf(writeUniqFits({ cells: [], order: 3 })), []);
  refused('', /empty/);
  refused(' \n', /empty/);
});

test('what is no area is refused with the reason [Areas]', () => {
  refused('ELLIPSE 1 2 3 4', /must be CIRCLE, POLYGON, BOX, RANGE, or a MOC .*ELLIPSE 1 2/);
  refused('3', /must be CIRCLE/);
  refused('3/1-2-3', /must be CIRCLE/);
  refused('3/2-1', /0 to 767 \(2 to 1/);
  refused('3/768', /0 to 767/);
  refused('30/1', /orders of a MOC must be 0 to 29/);
  refused('29/3458764513820540928', /order 29 must be 0 to/);
  for (const text of [
    '{"3": [1.5]}',
    '{"3": [-1]}',
    '{"3": ["1"]}',
    '{"3": [1',
    '{"3": [1]',
    '{"3": [1]},',
    '{"3": [1] "4": [2]}',
    '{"3": [1,]}',
    '{,"3": [1]}',
  ])
    refused(text, /a list of cells/);
  refused('{"3": 1}', /a list of cells/);
  refused('{"x": [1]}', /a list of cells/);
  refused('{', /a list of cells/);
  refused('CIRCLE 1 2', /3 numbers.*2 were/);
  refused('CIRCLE 1 2 181', /0 to 180 degrees \(181/);
  refused('CIRCLE 1 91 1', /dec must be -90 to 90 degrees \(91/);
  refused('CIRCLE 1 inf 1', /decimal numbers.*inf/);
  refused('RANGE 1 2 nan 4', /decimal numbers.*nan/);
  refused('RANGE 1 2 4 3', /declinations of a range must ascend \(4 and 3/);
  refused('RANGE 1 2 3 91', /dec must be -90 to 90 degrees \(91/);
  refused('RANGE 1 2 3', /a range has 4 numbers: ra1, ra2, dec1, dec2 \(3 were/);
  refused('BOX 1 2 3', /a box has 4 numbers: ra, dec, width, height \(3 were/);
  refused('BOX 1 2 180 3', /less than 180 wide/);
  refused('BOX 1 89 3 3', /reach over a pole/);
  refused('CIRCLE 1 2 nan', /decimal numbers.*nan/);
  refused('CIRCLE(1 2 3', /decimal numbers/);
  refused('POLYGON 1 2 3 4 5', /pairs/);
  refused('POLYGON 1 2 3 4', /at least 3 vertices/);
  refused('POLYGON 0 0 180 0 90 80', /opposite/);
  refused('CIRCLE 1 2 3', /not a probability map/, 0.5);
  assert.is(read('CIRCLE 1 2 3', 0.9).level, null);
});

test('a polygon of half the sky is refused: its inside could be either part [Areas]', () => {
  refused('POLYGON 0 0 120 0 240 0', /two halves/);
  refused('POLYGON 240 0 120 0 0 0', /two halves/);
  refused('POLYGON 0 -30 90 30 180 -30 270 30', /two halves/);
  assert.is(read('POLYGON 0 0.001 120 0.001 240 0.001').area.contains(0, 80), true);
  assert.is(read('POLYGON 0 -0.001 120 -0.001 240 -0.001').area.contains(0, 80), false);
});

test('a frame that is not converted is refused by name [Areas]', () => {
  for (const frame of ['FK4', 'FK4 B1950', 'B1950', 'ECLIPTIC', 'SUPERGALACTIC', 'xyz', 'FK5 J2500']) {
    refused(`CIRCLE ${frame} 1 2 3`, new RegExp(`ICRS, FK5 or GALACTIC \\(${frame}`));
    refused(`POLYGON('${frame}', 1, 2, 3, 4, 5, 7)`, new RegExp(`ICRS, FK5 or GALACTIC \\(${frame}`));
  }
  refused('RANGE GALACTIC 1 2 3 4', /a RANGE must be in ICRS/);
  refused("RANGE('FK5', 1, 2, 3, 4)", /a RANGE must be in ICRS/);
});

test('shapes of other frames, boxes, ranges and any right ascension hold the positions that astropy finds inside [Areas]', () => {
  const fixture = readFileSync(new URL('../../fixtures/areas/shapes.json', import.meta.url), 'utf8');
  const { positions, inside } = JSON.parse(fixture) as {
    positions: [number, number][];
    inside: Record<string, number[]>;
  };
  for (const [text, wanted] of Object.entries(inside)) {
    const { area } = read(text);
    assert.ok(wanted.length > 10, text);
    assert.equal(
      positions.flatMap(([ra, dec], i) => (area.contains(ra, dec) ? i : [])),
      wanted,
      text,
    );
  }
});

test('the edges of a range are inside, and 0 and 360 are one meridian [Areas]', () => {
  const { area } = read('RANGE 350 360 -5 5');
  for (const [ra, dec] of [
    [350, -5],
    [360, 5],
    [0, 0],
    [355, 5],
  ])
    assert.is(area.contains(ra!, dec!), true, `${ra} ${dec}`);
  for (const [ra, dec] of [
    [349.999999, 0],
    [0.000001, 0],
    [355, 5.000001],
  ])
    assert.is(area.contains(ra!, dec!), false, `${ra} ${dec}`);
});

test('what is too large is refused with the bound [Areas]', () => {
  refused(`29/${Array.from({ length: MAX_AREA_CELLS + 1 }, (_, i) => 2 * i).join(' ')}`, /at most 200000 cells/);
  // It is refused before the rest is read.
  refused(`{"29": [${'1,'.repeat(MAX_AREA_CELLS + 2)} no JSON`, /at most 200000 cells/);
  const vertices = Array.from({ length: MAX_POLYGON_VERTICES + 1 }, (_, i) => `${i / 10} ${i % 2}`);
  refused(`POLYGON ${vertices.join(' ')}`, /at most 1000 vertices \(1001 were/);
  refused(`CIRCLE ${' '.repeat(70_000)}1 2 3`, /at most 64000 characters/);
  const cells = Array.from({ length: MAX_AREA_CELLS + 1 }, (_, i) => i);
  refused(writeUniqFits({ cells, order: 9, density: cells }), /at most 200000 cells/);
});

test('a FITS file that is cut, damaged, or of something else is refused [Areas]', () => {
  const cells = [1, 2, 3];
  const density = [1, 2, 3];
  const map = writeUniqFits({ cells, order: 3, density });
  assert.is(read(map).kind, 'probability_map');
  refused(map.slice(0, 5790), /ends early|no binary table/);
  refused(map.slice(0, 3000), /does not end within the file/);
  refused(writeUniqFits({ cells, order: 3, density: [1, -1, 0] }), /at least 0 \(-1/);
  refused(writeUniqFits({ cells, order: 3, density: [1, Number.NaN, 0] }), /at least 0 \(NaN/);
  refused(writeUniqFits({ cells, order: 3, density: [0, 0, 0] }), /above 0/);
  refused(writeUniqFits({ cells: [1, 1], order: 3, density: [1, 2] }), /overlap/);
  refused(writeUniqFits({ cells, order: 3, density: [1e308, 1e308, 0] }), /too large/);
  refused(writeUniqFits({ cells, order: 3, cards: { NAXIS1: 0, NAXIS2: 1e15, TFORM1: '0K' } }), /rows have no bytes/);
  refused(writeUniqFits({ cells, order: 17, density }), /orders 0 to 16/);
  refused(writeUniqFits({ cells, order: 3, cards: { COORDSYS: 'G' } }), /equatorial \(G/);
  refused(writeUniqFits({ cells, order: 3, cards: { MOCDIM: 'TIME' } }), /dimension SPACE \(TIME/);
  refused(writeUniqFits({ cells, order: 3, cards: { ORDERING: 'NUMBERED' } }), /ORDERING is NUMBERED/);
  refused(writeUniqFits({ cells: [-1], order: 0 }), /at least 4/);
  refused(writeUniqFits({ cells, order: 3, cards: { TFORM1: '0K' } }), /NAXIS1/);
  refused(writeUniqFits({ cells, order: 3, density, cards: { TFORM1: '2K', TFORM2: '0D' } }), /UNIQ and PROBDENSITY/);
  for (const NAXIS2 of [-1, 1.5, 1e300])
    refused(writeUniqFits({ cells, order: 3, cards: { NAXIS2 } }), /Cannot read the area/);
});

test('whatever a file holds, it is an area or refused', () => {
  const good = [
    writeUniqFits({ cells: [1, 2, 3], order: 3, density: [1, 2, 3] }),
    writeUniqFits({ cells: [5], order: 9 }),
  ];
  let state = 1;
  const random = (below: number) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  for (let i = 0; i < 2000; i++) {
    const bytes = good[i % 2]!.slice();
    for (let n = 1 + random(4); n > 0; n--) bytes[2880 + random(bytes.length - 2880)] = random(256);
    try {
      read(bytes);
    } catch (error) {
      assert.instance(error, AreaError, `${(error as Error).stack}`);
    }
  }
});

test.run();
