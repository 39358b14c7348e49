/** Probability maps whose pixels all have one order. */
import { type ProbabilityPixels, sortedBy } from './area.ts';
import { FacePoint, MAX_AREA_ORDER, nestedCell } from './healpix.ts';

/** The number of pixels, and of merge steps, between two yields. */
const PIXELS_A_YIELD = 4096;

/**
 * The same map in as few pixels as possible: four sibling pixels with the same density become their parent. The
 * generator yields when other work may run.
 * @param pixels in any order
 */
export function* mergedPixels(pixels: ProbabilityPixels): Generator<undefined, ProbabilityPixels, undefined> {
  const { length } = pixels.firsts;
  const places = new Uint32Array(length);
  for (let i = 0; i < length; i++) places[i] = i;
  const bySky = yield* sortedBy(pixels.firsts, places);
  const merged = new MergingPixels(length);
  for (let at = 0; at < length; at++) {
    if (at % PIXELS_A_YIELD === 0) yield;
    const place = bySky[at]!;
    merged.add(pixels.firsts[place]!, pixels.ends[place]!, pixels.density[place]!);
  }
  return merged.pixels;
}

/** Pixels of a map. When four siblings with the same density are added in sequence, they become their parent. */
export class MergingPixels {
  #firsts: Float64Array;
  #ends: Float64Array;
  #density: Float64Array;
  length = 0;

  /** @param capacity the expected number of pixels; more are accepted */
  constructor(capacity = 1024) {
    [this.#firsts, this.#ends, this.#density] = [0, 1, 2].map(() => new Float64Array(capacity)) as ThreeColumns;
  }

  /** See `ProbabilityPixels`. */
  add(first: number, end: number, density: number): void {
    if (this.length === this.#firsts.length) this.#grow();
    this.#firsts[this.length] = first;
    this.#ends[this.length] = end;
    this.#density[this.length++] = density;
    while (areSiblings(this.#firsts, this.#ends, this.#density, this.length - 4)) {
      this.#ends[this.length - 4] = this.#ends[this.length - 1]!;
      this.length -= 3;
    }
  }

  /** Omits the pixels whose density is rejected. */
  filter(passes: (density: number) => boolean): void {
    let kept = 0;
    for (let i = 0; i < this.length; i++) {
      if (!passes(this.#density[i]!)) continue;
      this.#firsts[kept] = this.#firsts[i]!;
      this.#ends[kept] = this.#ends[i]!;
      this.#density[kept++] = this.#density[i]!;
    }
    this.length = kept;
  }

  #grow(): void {
    [this.#firsts, this.#ends, this.#density] = [this.#firsts, this.#ends, this.#density].map(column => {
      const larger = new Float64Array(2 * column.length + 4);
      larger.set(column);
      return larger;
    }) as ThreeColumns;
  }

  get densities(): Float64Array {
    return this.#density.subarray(0, this.length);
  }

  /** A view of the pixels so far, valid until another one is added. */
  get pixels(): ProbabilityPixels {
    const { length } = this;
    return {
      firsts: this.#firsts.subarray(0, length),
      ends: this.#ends.subarray(0, length),
      density: this.#density.subarray(0, length),
    };
  }
}

type ThreeColumns = [Float64Array, Float64Array, Float64Array];

/** Whether the last four pixels, from index `at` on, are siblings with the same density. */
function areSiblings(firsts: Float64Array, ends: Float64Array, density: Float64Array, at: number): boolean {
  if (at < 0) return false;
  const side = ends[at]! - firsts[at]!;
  if (side >= 4 ** MAX_AREA_ORDER || firsts[at]! % (4 * side) !== 0) return false;
  for (let i = at + 1; i < at + 4; i++)
    if (firsts[i] !== ends[i - 1] || ends[i]! - firsts[i]! !== side || density[i] !== density[at]) return false;
  return true;
}

const point = new FacePoint();

/** The NESTED pixel of a RING pixel; order 0 to 13 (Górski et al. 2005, section 5.1). */
export function nestedOfRing(order: number, ipix: number): number {
  const nside = 1 << order;
  const pixels = 12 * nside * nside;
  const cap = 2 * nside * (nside - 1);
  const isSouth = ipix >= pixels - cap;
  if (!isSouth && ipix >= cap) {
    const ring = Math.floor((ipix - cap) / (4 * nside)) + nside;
    const z = ((2 * nside - ring) * 2) / (3 * nside);
    const shift = (ring + nside) % 2 === 0 ? 0.5 : 0;
    return nestedAt(order, (((ipix - cap) % (4 * nside)) + shift) / nside, z, Math.sqrt(1 - z * z));
  }
  // The polar caps are mirror images.
  const fromPole = isSouth ? pixels - 1 - ipix : ipix;
  const ring = Math.floor((1 + Math.sqrt(1 + 2 * fromPole)) / 2);
  const along = fromPole - 2 * ring * (ring - 1);
  const quarters = ((isSouth ? 4 * ring - 1 - along : along) + 0.5) / ring;
  const height = (ring * ring) / (3 * nside * nside);
  return nestedAt(order, quarters, isSouth ? height - 1 : 1 - height, Math.sqrt(height * (2 - height)));
}

/** @param quarters right ascension in units of 90° */
function nestedAt(order: number, quarters: number, z: number, cosDec: number): number {
  point.set(90 * quarters, z, cosDec);
  return nestedCell(order, point);
}
