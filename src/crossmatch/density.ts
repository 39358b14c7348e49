/**
 * The density of a catalog around one of its sources (docs/statistics.md). Along the NESTED curve of HEALPix equal
 * lengths are equal areas. So the gaps between consecutive unrelated sources, as areas, have an exponential
 * distribution, whose mean is the inverse of the density. Neighbours on the curve are neighbours on the sky, and the
 * rows of a HATS catalog are sorted by it: a few dozen rows around a row are enough, all in the same partition.
 */
import { isPosition, pixel24, wrapRa } from '@nearsky/sky-index';

/** The number of gaps that are used on each side of a source. */
const GAPS_PER_SIDE = 16;
/** With fewer gaps, no density is given. */
const MIN_GAPS = 8;
/**
 * Gaps longer than this multiple of the mean are left out, because there the curve leaves the footprint, or a cluster,
 * and comes back. The mean is computed from the remaining gaps, which have a truncated exponential distribution.
 */
const LONGEST_GAP = 4;
const PIXELS_PER_ARCMIN2 = (12 * 4 ** 24) / (4 * Math.PI * ((180 / Math.PI) * 60) ** 2);
/** The number of positions that are compared to find out whether the rows are sorted. */
const PROBES = 64;

/** The density at the rows of one row group. */
export class RowDensity {
  readonly #ra: Float64Array;
  readonly #dec: Float64Array;
  /** The positions of all rows along the curve, ascending, if the rows are not sorted by them. */
  #sorted: Float64Array | undefined;
  /** The positions of some rows along the curve. It is longer if some of the rows have no position. */
  #window = new Float64Array(2 * GAPS_PER_SIDE + 1);
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
    const sorted = new Float64Array(this.#ra.length);
    findPlaces(this.#ra, this.#dec, 0, sorted.length, sorted);
    // NaN is sorted to the end.
    const end = sorted.sort().findLastIndex(place => !Number.isNaN(place)) + 1;
    this.#sorted = sorted.subarray(0, end);
  }

  #placeOf(row: number): number {
    const place = new Float64Array(1);
    findPlaces(this.#ra, this.#dec, row, row + 1, place);
    return place[0]!;
  }

  /** Sources per square arcmin around a row that has a position; NaN if it cannot be estimated. */
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
    const rows = this.#ra.length;
    for (let reach = GAPS_PER_SIDE; ; reach *= 2) {
      const from = Math.max(0, row - reach);
      const to = Math.min(rows, row + reach + 1);
      if (this.#window.length < to - from) this.#window = new Float64Array(2 * reach + 1);
      const places = this.#window;
      findPlaces(this.#ra, this.#dec, from, to, places);
      let [count, own] = [0, 0];
      for (let i = 0; i < to - from; i++) {
        if (Number.isNaN(places[i]!)) continue;
        if (from + i === row) own = count;
        places[count++] = places[i]!;
      }
      const [before, after] = [own, count - 1 - own];
      if ((before >= GAPS_PER_SIDE || from === 0) && (after >= GAPS_PER_SIDE || to === rows))
        return this.#gapsOf(places, own, count);
    }
  }

  /** Finds the gaps around a position on the curve. Returns their number. */
  #gapsAt(sorted: Float64Array, place: number): number {
    let low = 0;
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return this.#gapsOf(sorted, low, sorted.length);
  }

  /** Finds the gaps around one of the first `count` positions. Returns the number of gaps; -1 if a gap is negative. */
  #gapsOf(places: Float64Array, own: number, count: number): number {
    const first = Math.max(0, own - GAPS_PER_SIDE);
    const last = Math.min(count - 1, own + GAPS_PER_SIDE);
    for (let at = first; at < last; at++) {
      const gap = places[at + 1]! - places[at]!;
      if (gap < 0) return -1;
      this.#gaps[at - first] = gap;
    }
    return last - first;
  }
}

/** Finds the positions on the curve of the rows from `from` to `to` (exclusive); NaN for rows without a position. */
function findPlaces(ra: Float64Array, dec: Float64Array, from: number, to: number, places: Float64Array): void {
  for (let row = from; row < to; row++) {
    const wrapped = wrapRa(ra[row]!);
    places[row - from] = isPosition(wrapped, dec[row]!) ? pixel24(wrapped, dec[row]!) : Number.NaN;
  }
}

/** The mean gap of a uniform field with the first `count` gaps, which are reordered; NaN without enough of them. */
function meanOf(gaps: Float64Array, count: number): number {
  if (count < MIN_GAPS) return Number.NaN;
  const half = count >> 1;
  moveShortest(gaps, count, half);
  // The mean of the shorter half alone is a first value that no long gap affects.
  let sum = 0;
  let longestOfHalf = 0;
  for (let i = 0; i < half; i++) {
    sum += gaps[i]!;
    if (gaps[i]! > longestOfHalf) longestOfHalf = gaps[i]!;
  }
  let mean = (sum + (count - half) * longestOfHalf) / half;
  for (let round = 0; round < 2; round++) {
    const longest = LONGEST_GAP * mean;
    let kept = 0;
    let length = 0;
    for (let i = 0; i < count; i++) {
      if (gaps[i]! > longest) continue;
      kept++;
      length += gaps[i]!;
    }
    mean = longest / rateOf(length / kept / longest);
  }
  return mean > 0 ? mean : Number.NaN;
}

/** Moves the shortest `wanted` of the first `count` gaps to the front, in any order (Hoare's selection). */
function moveShortest(gaps: Float64Array, count: number, wanted: number): void {
  let first = 0;
  let last = count - 1;
  while (first < last) {
    const pivot = gaps[wanted]!;
    let low = first;
    let high = last;
    while (low <= high) {
      while (gaps[low]! < pivot) low++;
      while (pivot < gaps[high]!) high--;
      if (low > high) break;
      const gap = gaps[low]!;
      gaps[low++] = gaps[high]!;
      gaps[high--] = gap;
    }
    if (high < wanted) first = low;
    if (wanted < low) last = high;
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
