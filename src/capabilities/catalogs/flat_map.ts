/**
 * Reads probability maps of a single order, as healpy and ligo.skymap write them: either every pixel, with one or
 * several per row (IMPLICIT), or the pixels in a column PIXEL (EXPLICIT), in RING or NESTED order.
 */

import { type FitsColumn, type FitsTable, isNumeric, numberReader } from '@nearsky/astrotables/fits';
import { badValueOf, orderOf } from '@nearsky/hats/skymap';
import { MAX_AREA_ORDER, MAX_ORDER } from '@nearsky/sky-index';
import { MergingPixels, mergedPixels, nestedOfRing, type ProbabilityPixels } from '@nearsky/sky-index/areas';
import { invalidArea } from '../../core/base/area_error.ts';
import { MAX_AREA_CELLS } from '../../core/contract/limits.ts';
import { tooManyCells } from './moc_ranges.ts';

/** The number of pixels, and of bytes of rows, that are read between two yields. */
const [PIXELS_A_YIELD, BYTES_A_YIELD] = [4096, 32_768];
/** The maximum number of pixels from which the densest are selected, after merging pixels with equal probability. */
const MAX_PIXELS = 4_000_000;
/** When the maximum is exceeded, the least dense pixels are dropped until this number is left. */
const ENOUGH_PIXELS = (MAX_PIXELS * 15) / 16;
/** The bin of a density is the first two bytes of its float64. */
const BINS = 65_536;
/** An upper bound on the rounding error of a sum of probabilities. */
const ROUNDING = 1e-6;

type Reading<T> = Generator<undefined, T, undefined>;

/** Whether a table is such a map. A map with UNIQ and PROBDENSITY is not one, because it has another ORDERING. */
export function isFlatMap({ header }: FitsTable): boolean {
  return /^(?:RING|NEST|NESTED)$/i.test(String(header.get('ORDERING') ?? ''));
}

/**
 * A map that receives its rows once, in order. It holds at most MAX_PIXELS pixels, whatever the size of the map: beyond
 * that, it drops the least dense pixels.
 */
export class FlatMap {
  readonly rows: number;
  /** The number of bytes per row. */
  readonly width: number;
  readonly #order: number;
  readonly #isRing: boolean;
  readonly #repeat: number;
  readonly #bad: number;
  readonly #valueAt: (view: DataView, row: number, item: number) => number;
  /** Reads a pixel number in the ordering of the map. Undefined if the map lists all pixels. */
  readonly #indexAt: ((view: DataView, row: number, item: number) => number) | undefined;
  readonly #sums = new Float64Array(BINS);
  /** The pixels held so far. For a map in RING order, these are RING numbers until the end. */
  readonly #held = new MergingPixels();
  /** Pixels in bins below this one are dropped. */
  #leastHeld = 0;
  #next = 0;

  /** @throws AreaError */
  constructor({ header, columns, rows, width }: FitsTable) {
    const order = orderOf(header, MAX_ORDER);
    if (order === undefined)
      throw invalidArea(`its NSIDE must be a power of two up to ${2 ** MAX_ORDER} (${header.get('NSIDE')} was found)`);
    const numbers = columns.filter(isNumeric);
    const index = numbers.find(({ name, letter }) => /^(?:PIXEL|PIX|IPIX)$/i.test(name) && /^[IJK]$/.test(letter));
    const values = numbers.filter(({ letter, name }) => /^[DE]$/.test(letter) && !/DIST/i.test(name));
    const value = values.find(({ name }) => /^PROB/i.test(name)) ?? values[0];
    if (!value) throw invalidArea('it has no column of probabilities');
    if (index && index.repeat !== value.repeat)
      throw invalidArea('its columns of pixels and of probabilities differ in length');
    const pixels = pixelsOf(order);
    if (!index && rows * value.repeat !== pixels)
      throw invalidArea(`a map of NSIDE ${2 ** order} must have ${pixels} pixels (${rows * value.repeat} were found)`);
    this.rows = rows;
    this.width = width;
    this.#order = order;
    this.#isRing = String(header.get('ORDERING')).toUpperCase() === 'RING';
    this.#repeat = value.repeat;
    this.#bad = Math.fround(badValueOf(header));
    this.#valueAt = this.#itemsOf(value);
    this.#indexAt = index && this.#itemsOf(index);
  }

  #itemsOf(column: FitsColumn): (view: DataView, row: number, item: number) => number {
    const read = numberReader(column);
    const { width } = this;
    return (view, row, item) => read(view, row * width + column.offset, item);
  }

  /**
   * Receives the next rows.
   * @throws AreaError if a value is not a probability, or a pixel is outside the sky
   */
  take(view: DataView, rows: number): void {
    for (let row = 0; row < rows; row++)
      for (let item = 0; item < this.#repeat; item++, this.#next++) {
        const value = this.#valueAt(view, row, item);
        // NaN passes none of these tests.
        if (value > 0 && value < Number.POSITIVE_INFINITY) this.#add(view, row, item, value);
        else if (value < 0 ? Math.fround(value) !== this.#bad : value === Number.POSITIVE_INFINITY)
          throw invalidArea(`a probability must be a number of at least 0 (${value} was found)`);
      }
  }

  #add(view: DataView, row: number, item: number, value: number): void {
    if (Math.fround(value) === this.#bad) return;
    const bin = binOf(value);
    this.#sums[bin]! += value;
    if (bin < this.#leastHeld) return;
    const pixel = this.#checked(this.#indexAt ? this.#indexAt(view, row, item) : this.#next);
    const side = this.#side;
    if (this.#isRing) this.#held.add(pixel, pixel, value);
    else this.#held.add(pixel * side, (pixel + 1) * side, value);
    if (this.#held.length > MAX_PIXELS) this.#dropLeastDense();
  }

  #checked(pixel: number): number {
    const pixels = pixelsOf(this.#order);
    if (Number.isInteger(pixel) && pixel >= 0 && pixel < pixels) return pixel;
    throw invalidArea(`the pixels of NSIDE ${2 ** this.#order} are 0 to ${pixels - 1} (${pixel} was found)`);
  }

  /** The width of a pixel of the map, as a number of order-16 pixels. */
  get #side(): number {
    return 4 ** (MAX_AREA_ORDER - this.#order);
  }

  #dropLeastDense(): void {
    const counts = new Uint32Array(BINS);
    for (const density of this.#held.densities) counts[binOf(density)]!++;
    let least = BINS;
    for (let count = 0; least > 0 && count + counts[least - 1]! <= ENOUGH_PIXELS; ) count += counts[--least]!;
    this.#leastHeld = least;
    this.#held.filter(density => binOf(density) >= least);
  }

  /**
   * Returns the pixels after all rows were received, without pixels that are certainly outside the area with this share
   * of the probability.
   * @throws AreaError
   */
  *pixels(share: number): Reading<ProbabilityPixels> {
    const sums = this.#sums;
    const total = sums.reduce((sum, each) => sum + each, 0);
    if (total === 0) throw invalidArea('it has no pixel with a probability above 0');
    let least = BINS - 1;
    for (let sum = sums[least]!; least > 0 && sum <= share * total * (1 + ROUNDING); sum += sums[least]!) least--;
    if (least < this.#leastHeld && this.#isDropped(least))
      throw invalidArea(`its area has more than ${ENOUGH_PIXELS} pixels: use a lower level`);
    this.#held.filter(density => binOf(density) >= least);
    yield;
    if (this.#isRing) yield* this.#nest();
    const merged = yield* mergedPixels(this.#held.pixels);
    if (merged.firsts.length > MAX_AREA_CELLS) throw tooManyCells();
    return { ...merged, total: total * this.#side };
  }

  /** Converts the held pixels to NESTED order. This comes last because it is slower than dropping pixels. */
  *#nest(): Reading<void> {
    const { firsts, ends } = this.#held.pixels;
    for (let i = 0; i < firsts.length; i++) {
      if (i % PIXELS_A_YIELD === 0) yield;
      firsts[i] = nestedOfRing(this.#order, firsts[i]!) * this.#side;
      ends[i] = firsts[i]! + this.#side;
    }
  }

  /** Whether any pixels in this bin or a higher one were dropped. */
  #isDropped(least: number): boolean {
    return this.#sums.subarray(least, this.#leastHeld).some(sum => sum > 0);
  }
}

/** The pixels of a map whose rows are all in memory. @throws AreaError */
export function* readFlatMap(table: FitsTable, rows: DataView, share: number): Reading<ProbabilityPixels> {
  const map = new FlatMap(table);
  const step = Math.max(1, Math.floor(BYTES_A_YIELD / table.width));
  for (let row = 0; row < table.rows; row += step) {
    yield;
    const count = Math.min(step, table.rows - row);
    map.take(new DataView(rows.buffer, rows.byteOffset + row * table.width, count * table.width), count);
  }
  return yield* map.pixels(share);
}

const pixelsOf = (order: number) => 12 * 4 ** order;

const double = new Float64Array(1);
const bytesOfDouble = new Uint16Array(double.buffer);

/** The bin of a number of at least 0. A larger number never has a lower bin. */
function binOf(value: number): number {
  double[0] = value;
  return bytesOfDouble[3]!;
}
