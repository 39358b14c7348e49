/** Computes the fraction of each cell of the sky that the catalogs cover. */
import type { Coverage } from '@nearsky/sky-index/areas';
import { ancestor, centreOfKey, everyKey, WHOLE_SKY_RESOLUTION } from './cells.ts';

/**
 * Coverage is sampled. At a resolution that is available for the whole sky, the coverage of a cell is the fraction of
 * its descendants whose centres are covered. It samples 49 descendants, or 7 if 49 would delay the first answer too
 * long. A finer cell counts as covered if its own centre is.
 */
function sampledResolution(resolution: number): number {
  return resolution < 2 ? resolution + 2 : resolution + 1;
}

interface Footprint {
  readonly name: string;
  readonly coverage: Coverage;
}

/** All keys of a sampled resolution, and the bits of each key in the same order. */
interface Samples {
  readonly keys: Int32Array;
  readonly bits: Uint8Array;
}

const BITS = 8;

export class SkyCoverage {
  readonly #footprints: readonly Footprint[];
  /** The number of bytes per key: one bit per catalog, in the order of the footprints. */
  readonly #stride: number;
  /** The samples of each resolution, made on first use. */
  readonly #samples = new Map<number, Samples>();

  constructor(footprints: readonly Footprint[]) {
    this.#footprints = footprints;
    this.#stride = Math.ceil(footprints.length / BITS);
  }

  /**
   * The cells of a resolution that are at least partly covered, as H3 keys, ascending; and the covered fraction of each
   * in the same order, 0 to 1, by catalog name.
   * @param within only these keys; undefined for the whole sky
   */
  list(resolution: number, within?: ReadonlySet<number>) {
    const shares =
      resolution <= WHOLE_SKY_RESOLUTION ? this.#sumSamples(resolution, within) : this.#askCentres(resolution, within);
    const keys = [...shares.keys()].sort((a, b) => a - b);
    const columns = this.#footprints.map(({ name }, i) => [name, keys.map(key => shares.get(key)![i]!)] as const);
    return { keys, byCatalog: Object.fromEntries(columns) };
  }

  #sumSamples(resolution: number, within: ReadonlySet<number> | undefined): Map<number, number[]> {
    const sampled = sampledResolution(resolution);
    const { keys, bits } = this.#samplesOf(sampled);
    const levels = sampled - resolution;
    const sums = new Map<number, number[]>();
    const samples = new Map<number, number>();
    for (let at = 0; at < keys.length; at++) {
      const key = ancestor(keys[at]!, levels);
      if (within && !within.has(key)) continue;
      samples.set(key, (samples.get(key) ?? 0) + 1);
      if (!this.#isCovered(bits, at * this.#stride)) continue;
      let sum = sums.get(key);
      if (!sum) sums.set(key, (sum = this.#footprints.map(() => 0)));
      for (let i = 0; i < sum.length; i++) sum[i]! += bitOf(bits, at * this.#stride, i);
    }
    for (const [key, sum] of sums) {
      sums.set(
        key,
        sum.map(covered => Math.round((covered / samples.get(key)!) * 1000) / 1000),
      );
    }
    return sums;
  }

  #askCentres(resolution: number, within: ReadonlySet<number> | undefined): Map<number, number[]> {
    const shares = new Map<number, number[]>();
    const bits = new Uint8Array(this.#stride);
    for (const key of within ?? everyKey(resolution)) {
      this.#setBits(key, resolution, bits.fill(0), 0);
      if (this.#isCovered(bits, 0))
        shares.set(
          key,
          this.#footprints.map((_, i) => bitOf(bits, 0, i)),
        );
    }
    return shares;
  }

  #samplesOf(resolution: number): Samples {
    let samples = this.#samples.get(resolution);
    if (!samples) {
      const keys = Int32Array.from(everyKey(resolution));
      const bits = new Uint8Array(keys.length * this.#stride);
      for (const [at, key] of keys.entries()) this.#setBits(key, resolution, bits, at * this.#stride);
      samples = { keys, bits };
      this.#samples.set(resolution, samples);
    }
    return samples;
  }

  /** Sets the bits of a key, which must be 0 before, in the bytes from `at`. */
  #setBits(key: number, resolution: number, bits: Uint8Array, at: number): void {
    const { ra, dec } = centreOfKey(key, resolution);
    for (const [i, { coverage }] of this.#footprints.entries())
      if (coverage.contains(ra, dec)) bits[at + Math.floor(i / BITS)]! |= 1 << (i % BITS);
  }

  #isCovered(bits: Uint8Array, at: number): boolean {
    for (let i = at; i < at + this.#stride; i++) if (bits[i] !== 0) return true;
    return false;
  }
}

/** The bit of footprint `i`, in the bytes from `at`. */
function bitOf(bits: Uint8Array, at: number, i: number): number {
  return (bits[at + Math.floor(i / BITS)]! >> (i % BITS)) & 1;
}
