/**
 * The density of a catalog around one of its sources (docs/statistics.md). Along the NESTED curve of HEALPix equal
 * lengths are equal areas. So the gaps between consecutive unrelated sources, as areas, have an exponential
 * distribution, whose mean is the inverse of the density. Neighbours on the curve are neighbours on the sky, and the
 * rows of a HATS catalog are sorted by it: a few dozen rows around a row are enough, all in the same partition.
 */
import { placeOf } from '@nearsky/hats/positions';
import { pixel24 } from '@nearsky/sky-index';

/** The number of gaps that are used on each side of a source. */
const GAPS_PER_SIDE = 16;
/** With fewer gaps, no density is given. */
const MIN_GAPS = 8;
/**
 * Gaps longer than this multiple of the mean are left out, because there the curve leaves the footprint, or a cluster,
 * and comes back. The mean is computed from the remaining gaps, which have a truncated exponential distribution.
 */
const LONGEST_GAP = 4;
/**
 * The inverse of a mean of n gaps is on average n / (n - BIAS) times the density, because the mean is not known exactly.
 * That matters where densities are added up. The value is measured, for 8 to 32 gaps in uniform fields.
 */
const BIAS = 1.7;
const PIXELS_PER_ARCMIN2 = (12 * 4 ** 24) / (4 * Math.PI * ((180 / Math.PI) * 60) ** 2);
/** The number of positions that are compared to find out whether the rows are sorted. */
const PROBES = 64;

/** What a row group has around a position. */
export interface Around {
  /** Sources per square arcmin; NaN if it cannot be estimated. */
  readonly density: number;
  /** How far the nearest row is along the curve, pixels of order 24; infinite without any. */
  readonly distance: number;
  /** The first row that is not before the position; undefined if the rows are not sorted. */
  readonly row: number | undefined;
}

interface Window extends Pick<Around, 'row'> {
  readonly places: Float64Array;
  readonly own: number;
  readonly count: number;
}

/** The first index that is not before the sought place, of `length` in order. */
function lowerBound(length: number, isBefore: (at: number) => boolean): number {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The places of the rows of one row group along the curve. */
export interface RowPlaces {
  readonly length: number;
  /** Whether the rows are known to be sorted by their places. */
  readonly isSorted: boolean;
  /** Fills in the places of the rows from `from` to `to` (exclusive); NaN for rows without a position. */
  fill(from: number, to: number, places: Float64Array): void;
}

/** The places of rows by their positions: degrees, right ascensions in any convention. */
export function placesOf(ra: Float64Array, dec: Float64Array): RowPlaces {
  return {
    length: ra.length,
    isSorted: false,
    fill: (from, to, places) => {
      for (let row = from; row < to; row++) places[row - from] = placeOf(ra[row]!, dec[row]!);
    },
  };
}

/** The density at the rows of one row group. */
export class RowDensity {
  readonly #rows: RowPlaces;
  /** The positions of all rows along the curve, ascending, if the rows are not sorted by them. */
  #sorted: Float64Array | undefined;
  /** The positions of some rows along the curve. It is longer if some of the rows have no position. */
  #window = new Float64Array(2 * GAPS_PER_SIDE + 1);
  readonly #gaps = new Float64Array(2 * GAPS_PER_SIDE);

  constructor(rows: RowPlaces) {
    this.#rows = rows;
    if (rows.isSorted) return;
    let before = 0;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = this.#placeOf(Math.floor((probe * rows.length) / PROBES));
      if (place < before) {
        this.#sort();
        return;
      }
      if (place > before) before = place;
    }
  }

  #sort(): void {
    const sorted = new Float64Array(this.#rows.length);
    this.#rows.fill(0, sorted.length, sorted);
    // NaN is sorted to the end.
    const end = sorted.sort().findLastIndex(place => !Number.isNaN(place)) + 1;
    this.#sorted = sorted.subarray(0, end);
  }

  #placeOf(row: number): number {
    const place = new Float64Array(1);
    this.#rows.fill(row, row + 1, place);
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

  /**
   * The density around a position, whether or not a source is there. The gap that holds the position is left out: a long
   * gap holds a random position more often than a short one.
   */
  around(ra: number, dec: number): Around {
    const place = pixel24(ra, dec);
    const { row, places, own, count } = this.#sorted ? this.#sortedWindow(place) : this.#rowsWindow(place);
    let gaps = 0;
    for (let i = 0; i + 1 < count; i++) {
      const gap = places[i + 1]! - places[i]!;
      if (gap < 0) {
        this.#sort();
        return this.around(ra, dec);
      }
      if (i + 1 !== own) this.#gaps[gaps++] = gap;
    }
    let distance = Number.POSITIVE_INFINITY;
    for (let at = Math.max(0, own - 1); at <= own && at < count; at++)
      distance = Math.min(distance, Math.abs(places[at]! - place));
    const unbiased = 1 - BIAS / gaps;
    return { density: (unbiased * PIXELS_PER_ARCMIN2) / meanOf(this.#gaps, gaps), distance, row };
  }

  /** The positions around a place on the curve: `own` is the index of the first one that is not before the place. */
  #sortedWindow(place: number): Window {
    const low = lowerBound(this.#sorted!.length, at => this.#sorted![at]! < place);
    const from = Math.max(0, low - GAPS_PER_SIDE - 1);
    const places = this.#sorted!.slice(from, low + GAPS_PER_SIDE + 1);
    return { row: undefined, places, own: low - from, count: places.length };
  }

  /** The same for rows that are sorted. Rows without a position are passed over. */
  #rowsWindow(place: number): Window {
    const rows = this.#rows.length;
    const row = lowerBound(rows, at => {
      let known = at;
      let found = this.#placeOf(known);
      while (Number.isNaN(found) && ++known < rows) found = this.#placeOf(known);
      return found < place;
    });
    for (let reach = GAPS_PER_SIDE + 1; ; reach *= 2) {
      const [from, to] = [Math.max(0, row - reach), Math.min(rows, row + reach)];
      const all = new Float64Array(to - from);
      this.#rows.fill(from, to, all);
      let [known, own] = [0, 0];
      for (let i = 0; i < to - from; i++) {
        if (Number.isNaN(all[i]!)) continue;
        if (from + i < row) own++;
        all[known++] = all[i]!;
      }
      const isEnough = (own > GAPS_PER_SIDE || from === 0) && (known - own > GAPS_PER_SIDE || to === rows);
      if (!isEnough) continue;
      const first = Math.max(0, own - GAPS_PER_SIDE - 1);
      const places = all.subarray(first, Math.min(known, own + GAPS_PER_SIDE + 1));
      return { row, places, own: own - first, count: places.length };
    }
  }

  /** Finds the gaps around a row of sorted rows. Returns their number; -1 if the rows turn out not to be sorted. */
  #gapsAround(row: number): number {
    const rows = this.#rows.length;
    for (let reach = GAPS_PER_SIDE; ; reach *= 2) {
      const from = Math.max(0, row - reach);
      const to = Math.min(rows, row + reach + 1);
      if (this.#window.length < to - from) this.#window = new Float64Array(2 * reach + 1);
      const places = this.#window;
      this.#rows.fill(from, to, places);
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
    return this.#gapsOf(
      sorted,
      lowerBound(sorted.length, at => sorted[at]! < place),
      sorted.length,
    );
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
