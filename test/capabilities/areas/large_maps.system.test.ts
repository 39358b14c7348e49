/**
 * Probability maps that are larger than the part kept in memory, against the results of ligo.skymap
 * (make_large_map.py).
 */
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { fitsHeader } from '@nearsky/astrotables/fits';
import { pixel29 } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PackedArea } from '../../../src/capabilities/areas/packed_area.ts';
import { flatMapAt } from '../../../src/capabilities/catalogs/area_fits.ts';
import type { FlatMap } from '../../../src/capabilities/catalogs/flat_map.ts';
import { type ReadArea, readArea } from '../../../src/capabilities/catalogs/read_area.ts';
import { AreaError } from '../../../src/core/base/area_error.ts';
import { MAX_UNPACKED_AREA_BYTES } from '../../../src/core/contract/limits.ts';

const test = suite('vo/large_maps');

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/areas/${name}`, import.meta.url));

function read(sent: Uint8Array | FlatMap, level?: number): ReadArea {
  const steps = readArea(sent, level);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function readPacked(packed: Uint8Array, level?: number): Promise<ReadArea> {
  const area = await PackedArea.open(packed);
  try {
    return read(area.isMap ? await area.readMap() : await area.readAll(), level);
  } finally {
    area.close();
  }
}

async function refused(packed: Uint8Array, says: RegExp): Promise<void> {
  try {
    await readPacked(packed);
  } catch (error) {
    assert.instance(error, AreaError, `${error}`);
    assert.match((error as Error).message, says);
    return;
  }
  throw new Error('it is read');
}

/** The level of a position; undefined outside of the area. */
function levelAt({ area }: ReadArea, ra: number, dec: number): number | undefined {
  const pixel = Number(pixel29(ra, dec) >> 26n);
  for (let i = 0; i < area.length; i++)
    if (area.bounds[2 * i]! <= pixel && pixel < area.bounds[2 * i + 1]!) return area.levelOf(i);
  return undefined;
}

test('a map of NSIDE 1024 in doubles, 100 MB, has the levels of ligo.skymap [Areas]', async () => {
  const packed = gunzipSync(fixture('nside1024.fits.gz.gz'));
  const positions: [number, number, number | null][] = JSON.parse(fixture('nside1024.json').toString());
  for (const share of [0.5, 0.9, 1]) {
    const found = await readPacked(packed, share);
    let inside = 0;
    for (const [ra, dec, level] of positions) {
      if (level !== null && Math.abs(level - share) < 1e-9) continue;
      const own = levelAt(found, ra, dec);
      const isInside = level !== null && level < share;
      if (isInside) inside++;
      assert.is(own !== undefined, isInside, `${ra} ${dec} ${level} at ${share}`);
      if (isInside) assert.ok(Math.abs(own! - level) < 1e-9, `${own} is not ${level}`);
    }
    assert.ok(inside > 50, `${inside}`);
  }
});

const ORDER = 10;
const PIXELS = 12 * 4 ** ORDER;

/** The beginning of a file with a map of NSIDE 1024. */
function headOf(cards: Readonly<Record<string, string | number>> = {}): Uint8Array {
  const table = {
    XTENSION: 'BINTABLE',
    BITPIX: 8,
    NAXIS: 2,
    NAXIS1: 8,
    NAXIS2: PIXELS,
    PCOUNT: 0,
    GCOUNT: 1,
    TFIELDS: 1,
    TTYPE1: 'PROB',
    TFORM1: 'D',
    PIXTYPE: 'HEALPIX',
    ORDERING: 'NESTED',
    NSIDE: 2 ** ORDER,
    COORDSYS: 'C',
    ...cards,
  };
  return Buffer.from(fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0 }) + fitsHeader(table));
}

/** A map whose pixels have these values. */
function mapOf(densityOf: (pixel: number) => number, cards: Readonly<Record<string, string | number>> = {}): FlatMap {
  const { map } = flatMapAt(headOf(cards))!;
  const rows = new DataView(new ArrayBuffer(8 * 4096));
  for (let pixel = 0; pixel < PIXELS; pixel += 4096) {
    for (let i = 0; i < 4096; i++) rows.setFloat64(8 * i, densityOf(pixel + i));
    map.take(rows, 4096);
  }
  return map;
}

test('of more pixels than are held, the least dense are dropped; where the area needs these, it is refused [Areas]', () => {
  // Each has another value, and they rise all the way.
  const rising = (pixel: number) => 1e-9 * (1 + pixel / PIXELS);
  const dense = new Set(Array.from({ length: 1000 }, (_, i) => i * 12_000));
  const { area } = read(mapOf(pixel => (dense.has(pixel) ? 1 + pixel / PIXELS : rising(pixel))));
  const pixels = [...dense].toSorted((a, b) => b - a);
  const total = pixels.reduce((sum, pixel) => sum + 1 + pixel / PIXELS, 0);
  const side = 4 ** (16 - ORDER);
  let [sum, inside] = [0, 0];
  for (const pixel of pixels) {
    sum += 1 + pixel / PIXELS;
    if (sum / (total + 0.02) > 0.9) break;
    inside++;
  }
  assert.ok(inside > 800 && Math.abs(area.length - inside) <= 1, `${area.length} of ${inside}`);
  for (let i = 0; i < 800; i++) assert.is(area.bounds[2 * i], pixels[i]! * side);
  assert.throws(() => read(mapOf(rising)), /its area has more than 3750000 pixels: use a lower level/);
  assert.is(
    read(
      mapOf(() => 1),
      1,
    ).area.withoutLevels().length,
    1,
  );
  assert.throws(() => read(mapOf(() => 1, { ORDERING: 'RING' })), /more than 3750000 pixels/);
});

test('what is packed and no map of one order is held whole, up to a bound', async () => {
  const text = `CIRCLE 1 2 3${' '.repeat(2 ** 21)}`;
  assert.is((await readPacked(gzipSync(text))).kind, 'circle');
  await refused(gzipSync(Buffer.alloc(MAX_UNPACKED_AREA_BYTES + 1, ' ')), /more than 67108864 bytes/);
  await refused(gzipSync(text).subarray(0, 500), /damaged/);
});

test('a large map that is cut, damaged or of another frame is refused', async () => {
  const zeros = Buffer.alloc(2 ** 21);
  await refused(gzipSync(Buffer.concat([headOf(), zeros])), /ends early/);
  const packed = gzipSync(Buffer.concat([headOf(), zeros]));
  await refused(packed.subarray(0, packed.length - 10), /damaged/);
  await refused(gzipSync(Buffer.concat([headOf({ COORDSYS: 'G' }), zeros])), /equatorial \(G/);
  await refused(gzipSync(Buffer.concat([headOf({ NSIDE: 512 }), zeros])), /must have 3145728 pixels/);
  await refused(
    gzipSync(Buffer.concat([headOf({ NAXIS1: 8 * PIXELS, NAXIS2: 1, TFORM1: `${PIXELS}D` }), zeros])),
    /more than/,
  );
  const negative = Buffer.alloc(2 ** 21, 0xc0);
  await refused(gzipSync(Buffer.concat([headOf(), negative])), /at least 0/);
});

test.run();
