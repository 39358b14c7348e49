/**
 * HEALPix maps of probability of one order, as healpy and ligo.skymap write them: every pixel in a row of its own or
 * many in a row (IMPLICIT), or the pixels of a column PIXEL (EXPLICIT), in RING or NESTED order.
 */
import { type FlatPixels, MAX_ORDER, mergedPixels, nestedOfRing, type ProbabilityPixels } from '../../index/mod.ts';
import { MAX_AREA_CELLS } from '../contract/limits.ts';
import { type FitsColumn, type FitsTable, isNumeric, numberReader } from '../fits/table.ts';
import { invalidArea } from './area_error.ts';
import { tooManyCells } from './moc_ranges.ts';

/** The pixels that are read between two moments to yield. */
const PIXELS_A_YIELD = 4096;
/** The most pixels that are put in order, before those of one probability become larger ones. */
const MAX_PIXELS = 4_000_000;
/** The densities are counted by the first two bytes of the double. */
const BINS = 65_536;
/** More than what rounding makes of a sum. */
const ROUNDING = 1e-6;
/** The value of pixels without data, unless BAD_DATA says otherwise. */
const UNSEEN = -1.6375e30;

/** The first table of a file. */
export interface AreaTable extends FitsTable {
  /** The rows. */
  readonly view: DataView;
}

type Reading<T> = Generator<undefined, T, undefined>;

interface FlatMap {
  readonly order: number;
  readonly length: number;
  probability(at: number): number;
  /** NESTED. */
  pixel(at: number): number;
}

/**
 * The pixels of a map, without those that are surely less probable than the area of a share reaches.
 * @throws AreaError
 */
export function* readFlatMap(table: AreaTable, share: number): Reading<ProbabilityPixels> {
  const map = flatMap(table);
  const { least, total } = yield* leastDense(map, share);
  const merged = yield* mergedPixels(yield* denserPixels(map, least));
  if (merged.firsts.length > MAX_AREA_CELLS) throw tooManyCells();
  return { ...merged, total: total * 4 ** (16 - map.order) };
}

function flatMap({ header, columns, rows, width, view }: AreaTable): FlatMap {
  const order = Math.log2(Number(header.get('NSIDE')));
  if (!(Number.isInteger(order) && order >= 0 && order <= MAX_ORDER))
    throw invalidArea(`its NSIDE must be a power of two up to ${2 ** MAX_ORDER} (${header.get('NSIDE')} was found)`);
  const isRing = String(header.get('ORDERING')).toUpperCase() === 'RING';
  const numbers = columns.filter(isNumeric);
  const index = numbers.find(({ name, letter }) => /^(?:PIXEL|PIX|IPIX)$/i.test(name) && /^[IJK]$/.test(letter));
  const values = numbers.filter(({ letter, name }) => /^[DE]$/.test(letter) && !/DIST/i.test(name));
  const value = values.find(({ name }) => /^PROB/i.test(name)) ?? values[0];
  if (!value) throw invalidArea('it has no column of probabilities');
  if (index && index.repeat !== value.repeat)
    throw invalidArea('its columns PIXEL and of probabilities differ in length');
  const { repeat } = value;
  const pixels = 12 * 4 ** order;
  if (!index && rows * repeat !== pixels)
    throw invalidArea(`a map of NSIDE ${2 ** order} must have ${pixels} pixels (${rows * repeat} were found)`);
  const bad = Math.fround(Number(header.get('BAD_DATA') ?? UNSEEN));
  const itemAt = (column: FitsColumn) => {
    const read = numberReader(column);
    return (at: number) => read(view, Math.floor(at / repeat) * width + column.offset, at % repeat);
  };
  const valueAt = itemAt(value);
  const indexAt = index && itemAt(index);
  return {
    order,
    length: rows * repeat,
    probability(at) {
      const found = valueAt(at);
      if (Number.isNaN(found) || Math.fround(found) === bad) return 0;
      if (found >= 0 && found < Number.POSITIVE_INFINITY) return found;
      throw invalidArea(`a probability must be a number of 0 or more (${found} was found)`);
    },
    pixel(at) {
      const pixel = indexAt ? indexAt(at) : at;
      if (!(Number.isInteger(pixel) && pixel >= 0 && pixel < pixels))
        throw invalidArea(`the pixels of NSIDE ${2 ** order} are 0 to ${pixels - 1} (${pixel} was found)`);
      return isRing ? nestedOfRing(order, pixel) : pixel;
    },
  };
}

const double = new Float64Array(1);
const bytesOfDouble = new Uint16Array(double.buffer);

/** The bin of a number of 0 or more: bins ascend with the numbers. */
function binOf(value: number): number {
  double[0] = value;
  return bytesOfDouble[3]!;
}

/** The bin of the least dense pixels that the area may have, and the sum of all. */
function* leastDense({ length, probability }: FlatMap, share: number): Reading<{ least: number; total: number }> {
  const sums = new Float64Array(BINS);
  for (let at = 0; at < length; at++) {
    if (at % PIXELS_A_YIELD === 0) yield;
    const value = probability(at);
    sums[binOf(value)]! += value;
  }
  const total = sums.reduce((sum, each) => sum + each, 0);
  if (total === 0) throw invalidArea('it has no pixel with a probability above 0');
  let least = BINS - 1;
  for (let sum = sums[least]!; least > 0 && sum <= share * total * (1 + ROUNDING); sum += sums[least]!) least--;
  return { least, total };
}

function* denserPixels({ order, length, probability, pixel }: FlatMap, least: number): Reading<FlatPixels> {
  let pixels = new Float64Array(1024);
  let density = new Float64Array(1024);
  let count = 0;
  for (let at = 0; at < length; at++) {
    if (at % PIXELS_A_YIELD === 0) yield;
    const value = probability(at);
    if (value === 0 || binOf(value) < least) continue;
    if (count === MAX_PIXELS) throw invalidArea(`its area has more than ${MAX_PIXELS} pixels: ask for a lower level`);
    if (count === pixels.length) [pixels, density] = [grown(pixels), grown(density)];
    pixels[count] = pixel(at);
    density[count++] = value;
  }
  return { order, pixel: pixels.subarray(0, count), density: density.subarray(0, count) };
}

function grown(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * values.length);
  larger.set(values);
  return larger;
}
