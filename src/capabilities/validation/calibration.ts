/** How many random positions have a source within a radius, and how many the density there lets expect. */
import { chanceProbability, roundedDensity } from '../../core/store/match_statistics.ts';
import type { PositionRead } from '../sample/read_catalog.ts';
import { poissonInterval } from '../sample/statistics.ts';
import { rounded } from '../sample/summary.ts';

/** The lower borders of the bins of the density, sources per square arcmin, inclusive. */
export const DENSITIES = [0, 1, 3, 10, 30, 100] as const;

class Bin {
  positions = 0;
  #observed = 0;
  #expected = 0;

  add(isObserved: boolean, chance: number): void {
    this.positions++;
    if (isObserved) this.#observed++;
    this.#expected += chance;
  }

  described() {
    return {
      positions: this.positions,
      observed: this.#observed,
      expected_by_chance: rounded(this.#expected),
      expected_interval: poissonInterval(this.#expected),
    };
  }
}

/** The counts of one catalog. */
export function calibrationOf(read: readonly PositionRead[], radii: readonly number[], outside: number) {
  const searched = read.filter(({ outcome }) => outcome === 'searched');
  const known = searched.filter(({ density }) => !Number.isNaN(density));
  return {
    searched: searched.length,
    outside_footprint: outside,
    skipped_read_failure: read.length - searched.length,
    without_density: searched.length - known.length,
    radii: radii.map(radius => {
      const all = new Bin();
      const bins = DENSITIES.map(() => new Bin());
      for (const { density, nearest } of known) {
        const isObserved = nearest !== undefined && nearest.separationArcsec <= radius;
        const chance = chanceProbability(roundedDensity(density), radius);
        for (const bin of [all, bins[DENSITIES.findLastIndex(from => density >= from)]!]) bin.add(isObserved, chance);
      }
      return {
        radius_arcsec: radius,
        ...all.described(),
        source_density: bins.flatMap((bin, i) =>
          bin.positions === 0 ? [] : [{ from: DENSITIES[i]!, to: DENSITIES[i + 1] ?? null, ...bin.described() }],
        ),
      };
    }),
  };
}
