/**
 * The density of a catalog around one of its sources (docs/statistics.md). Along the NESTED curve of HEALPix equal
 * lengths are equal areas. So the gaps between unrelated sources that follow each other along the curve are exponential
 * areas, whose mean is the inverse of the density. Neighbours on the curve are neighbours on the sky, and the rows of a
 * HATS catalog are sorted by it: a few dozen rows around a row are enough, and no partition's edge is crossed.
 */
import { isPosition, pixel24, wrapRa } from '@nearsky/sky-index';

/** Gaps that are used on each side of a source. */
const GAPS_PER_SIDE = 16;
/** With fewer gaps there is no density. */
const MIN_GAPS = 8;
/**
 * Gaps longer than so many times the mean are left out: the curve leaves the footprint, or a cluster, and comes back.
 * The mean follows from the gaps that are left, which are a truncated exponential distribution.
 */
const LONGEST_GAP = 4;
const PIXELS_PER_ARCMIN2 = (12 * 4 ** 24) / (4 * Math.PI * ((180 / Math.PI) * 60) ** 2);
/** Places that are compared to learn whether the rows are sorted. */
const PROBES = 64;

/** The density at the rows of one row group. */
export class RowDensity {
  readonly #ra: Float64Array;
  readonly #dec: Float64Array;
  /** The places of all rows, ascending, if the rows are not sorted by them. */
  #sorted: Float64Array | undefined;
  readonly #gaps = new Float64Array(2 * GAPS_PER_SIDE);

  /** @param ra degrees in any convention; rows without a valid position are no sources */
  constructor(ra: Float64Array, dec: Float64Array) {
    this.#ra = ra;
    this.#dec = dec;
    let before = 0;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = this.#placeOf(Math.floor((probe * ra.length) / PROBES));
      if (place < before) {
        this.#sort();
        return;
      }
      if (place > before) before = place;
    }
  }

  #sort(): void {
    const places = Float64Array.from(this.#ra.keys(), row => this.#placeOf(row));
    // NaN is sorted to the end.
    const sorted = places.sort();
    const end = sorted.findLastIndex(place => !Number.isNaN(place)) + 1;
    this.#sorted = sorted.subarray(0, end);
  }

  /** NaN for a row without a position. */
  #placeOf(row: number): number {
    const ra = wrapRa(this.#ra[row]!);
    const dec = this.#dec[row]!;
    return isPosition(ra, dec) ? pixel24(ra, dec) : Number.NaN;
  }

  /** Sources per square arcmin around a row that has a position; NaN if the rows around it do not tell. */
  at(row: number): number {
    if (!this.#sorted) {
      const count = this.#gapsAround(row);
      if (count >= 0) return PIXELS_PER_ARCMIN2 / meanOf(this.#gaps, count);
      this.#sort();
    }
    return PIXELS_PER_ARCMIN2 / meanOf(this.#gaps, this.#gapsAt(this.#sorted!, this.#placeOf(row)));
  }

  /** Finds the gaps around a row of sorted rows. Returns their number; -1 if the rows turn out not to be sorted. */
  #gapsAround(row: number): number {
    const own = this.#placeOf(row);
    let count = 0;
    for (let [at, next] = [row - 1, own]; at >= 0 && count < GAPS_PER_SIDE; at--) {
      const place = this.#placeOf(at);
      if (place > next) return -1;
      if (Number.isNaN(place)) continue;
      this.#gaps[count++] = next - place;
      next = place;
    }
    const most = count + GAPS_PER_SIDE;
    for (let [at, last] = [row + 1, own]; at < this.#ra.length && count < most; at++) {
      const place = this.#placeOf(at);
      if (place < last) return -1;
      if (Number.isNaN(place)) continue;
      this.#gaps[count++] = place - last;
      last = place;
    }
    return count;
  }

  /** Finds the gaps around a place. Returns their number. */
  #gapsAt(sorted: Float64Array, place: number): number {
    let low = 0;
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < place) low = middle + 1;
      else high = middle;
    }
    const first = Math.max(0, low - GAPS_PER_SIDE);
    const last = Math.min(sorted.length - 1, low + GAPS_PER_SIDE);
    for (let at = first; at < last; at++) this.#gaps[at - first] = sorted[at + 1]! - sorted[at]!;
    return last - first;
  }
}

/** The mean gap of a uniform field with the first `count` gaps, which are sorted here; NaN without enough of them. */
function meanOf(gaps: Float64Array, count: number): number {
  if (count < MIN_GAPS) return Number.NaN;
  sortFew(gaps, count);
  // The shorter half alone gives a first value that no long gap reaches.
  const half = count >> 1;
  let sum = 0;
  for (let i = 0; i < half; i++) sum += gaps[i]!;
  let mean = (sum + (count - half) * gaps[half - 1]!) / half;
  for (let round = 0; round < 2; round++) {
    const longest = LONGEST_GAP * mean;
    let kept = 0;
    let length = 0;
    for (; kept < count && gaps[kept]! <= longest; kept++) length += gaps[kept]!;
    mean = longest / rateOf(length / kept / longest);
  }
  return mean > 0 ? mean : Number.NaN;
}

/** Sorts the first `count` numbers, which are few: the runtime's own sort takes longer for them. */
function sortFew(values: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const value = values[i]!;
    let at = i;
    for (; at > 0 && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}

/** The rate of an exponential distribution that is cut off at 1, from its mean: 1 / rate - 1 / (exp(rate) - 1). */
function rateOf(mean: number): number {
  let rate = LONGEST_GAP;
  for (let step = 0; step < 4; step++) {
    const tail = Math.expm1(rate);
    const slope = (tail + 1) / tail ** 2 - 1 / rate ** 2;
    rate = Math.max(0.1, rate - (1 / rate - 1 / tail - mean) / slope);
  }
  return rate;
}
