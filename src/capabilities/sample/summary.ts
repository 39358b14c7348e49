/** The summary of a report. Rows are added one at a time, so that a sample of any size needs little memory. */
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { INPUT_STATUSES, OBJECT_STATUSES } from '../../core/contract/enums.ts';
import { VERDICTS, type Verdict } from '../../core/contract/verdict.js';
import { chanceProbability } from '../../core/store/match_statistics.ts';
import { releaseOf } from '../../core/store/provenance.ts';
import type { CatalogRelease } from '../../core/store/types.ts';
import { SAMPLE_OUTCOMES, type SampleCell, type SampleOutcome, type SampleRow } from './rows.ts';
import { poissonInterval, wilsonInterval } from './statistics.ts';

/** The upper borders of the bins of the absolute Galactic latitude, degrees; only the last one is inclusive. */
const UPPER_LATITUDES = [10, 20, 40, 90] as const;
/** The maximum number of listed groups of duplicates, and of rows of a group. */
const [MAX_GROUPS, MAX_GROUP] = [1000, 100];

/** The counts of one catalog, over all rows or those of a bin. */
export class Tally {
  searched = 0;
  coincident = 0;
  expected = 0;
  withoutDensity = 0;

  add({ outcome, source_density: density }: SampleCell, radiusArcsec: number): void {
    if (!isSearched(outcome)) return;
    this.searched++;
    if (outcome === 'coincident_source') this.coincident++;
    // Every searched row counts, with a source or without.
    if (density === null) this.withoutDensity++;
    else this.expected += chanceProbability(density, radiusArcsec);
  }

  described() {
    return {
      searched: this.searched,
      coincident: this.coincident,
      expected_by_chance: rounded(this.expected),
      expected_interval: poissonInterval(this.expected),
      without_density: this.withoutDensity,
    };
  }
}

interface CatalogTally {
  readonly radiusArcsec: number;
  /** The members of a catalog with a radius of its own. */
  readonly own: Pick<CatalogRelease, 'radius_arcsec' | 'radius_column'>;
  readonly all: Tally;
  readonly outcomes: Record<SampleOutcome, number>;
  readonly verdicts: Record<Verdict, number>;
  readonly bins: readonly Tally[];
}

export type DescribedSummary = ReturnType<Summary['described']>;

export class Summary {
  readonly #catalogs: ReadonlyMap<string, CatalogTally>;
  readonly #statuses: Record<string, number> = {};
  readonly #binRows = UPPER_LATITUDES.map(() => 0);
  /** The searched rows of each bin, and those of them on a star or a quasar. */
  readonly #binSearched = UPPER_LATITUDES.map(() => 0);
  readonly #binContaminated = UPPER_LATITUDES.map(() => 0);
  /** The ids of the rows with an object, and the indexes of these rows, in parallel. */
  #ids = new BigInt64Array(64);
  #rows = new Uint32Array(64);
  #withObject = 0;
  #inputs = 0;
  #searched = 0;
  #stars = 0;
  #quasars = 0;
  #contaminated = 0;
  #samePlace = 0;
  #bright = 0;

  /** @param radiusArcsec for catalogs without a radius of their own */
  constructor(catalogs: readonly CatalogDefinition[], radiusArcsec: number) {
    this.#catalogs = new Map(
      catalogs.map(catalog => [
        catalog.name,
        {
          radiusArcsec: catalog.radius?.arcsec ?? radiusArcsec,
          own: ownRadius(catalog),
          all: new Tally(),
          outcomes: zeros(SAMPLE_OUTCOMES),
          verdicts: zeros(VERDICTS),
          bins: this.#binRows.map(() => new Tally()),
        },
      ]),
    );
  }

  add(row: SampleRow, index: number): void {
    this.#inputs++;
    this.#statuses[row.status] = (this.#statuses[row.status] ?? 0) + 1;
    if (row.same_place.length > 0) this.#samePlace++;
    if (row.bright_stars.length > 0) this.#bright++;
    if (row.diaObjectId_str !== null) this.#addObject(BigInt(row.diaObjectId_str), index);
    const latitude = Math.abs(row.galactic_latitude ?? Number.NaN);
    const bin = UPPER_LATITUDES.findIndex(to => latitude < to || (latitude === 90 && to === 90));
    if (bin >= 0) this.#binRows[bin]!++;
    const cells = Object.entries(row.catalogs);
    for (const [name, cell] of cells) {
      const tally = this.#catalogs.get(name)!;
      tally.outcomes[cell.outcome]++;
      tally.all.add(cell, tally.radiusArcsec);
      if (bin >= 0) tally.bins[bin]!.add(cell, tally.radiusArcsec);
      if (cell.verdict) tally.verdicts[cell.verdict]++;
    }
    if (!cells.some(([, { outcome }]) => isSearched(outcome))) return;
    this.#searched++;
    if (bin >= 0) this.#binSearched[bin]!++;
    const says = (verdict: Verdict) => cells.some(([, cell]) => cell.verdict === verdict);
    if (says('star')) this.#stars++;
    if (says('quasar')) this.#quasars++;
    if (!says('star') && !says('quasar')) return;
    this.#contaminated++;
    if (bin >= 0) this.#binContaminated[bin]!++;
  }

  #addObject(id: bigint, index: number): void {
    if (this.#withObject === this.#ids.length) {
      const [ids, rows] = [new BigInt64Array(2 * this.#ids.length), new Uint32Array(2 * this.#ids.length)];
      ids.set(this.#ids);
      rows.set(this.#rows);
      [this.#ids, this.#rows] = [ids, rows];
    }
    this.#ids[this.#withObject] = id;
    this.#rows[this.#withObject++] = index;
  }

  /** The rows of each object that has several, in the order of their first rows. */
  #duplicates(): number[][] {
    const [ids, rows] = [this.#ids, this.#rows];
    const order = Uint32Array.from({ length: this.#withObject }, (_, i) => i).sort((a, b) =>
      ids[a]! < ids[b]! ? -1 : ids[a]! > ids[b]! ? 1 : rows[a]! - rows[b]!,
    );
    const groups: number[][] = [];
    for (let from = 0; from < order.length; ) {
      let to = from + 1;
      while (to < order.length && ids[order[to]!] === ids[order[from]!]) to++;
      if (to - from > 1) groups.push(Array.from(order.subarray(from, to), i => rows[i]!));
      from = to;
    }
    return groups.sort((a, b) => a[0]! - b[0]!);
  }

  described() {
    const duplicates = this.#duplicates();
    return {
      inputs: this.#inputs,
      statuses: Object.fromEntries(
        [...OBJECT_STATUSES, ...INPUT_STATUSES].flatMap(({ name }) => {
          const count = this.#statuses[name];
          return count ? [[name, count] as const] : [];
        }),
      ),
      catalogs: Object.fromEntries(
        Array.from(this.#catalogs, ([name, { own, all, outcomes, verdicts }]) => {
          const { outside_footprint, skipped_read_failure, no_position, not_registered } = outcomes;
          const others = { outside_footprint, skipped_read_failure, no_position, not_registered };
          return [name, { ...own, ...all.described(), ...others, verdicts }] as const;
        }),
      ),
      contaminated: {
        searched: this.#searched,
        with_star: this.#stars,
        with_quasar: this.#quasars,
        with_star_or_quasar: this.#contaminated,
        ...fractionOf(this.#contaminated, this.#searched),
      },
      galactic_latitude: UPPER_LATITUDES.map((to, bin) => ({
        from: UPPER_LATITUDES[bin - 1] ?? 0,
        to,
        rows: this.#binRows[bin]!,
        contaminated: {
          searched: this.#binSearched[bin]!,
          with_star_or_quasar: this.#binContaminated[bin]!,
          ...fractionOf(this.#binContaminated[bin]!, this.#binSearched[bin]!),
        },
        catalogs: Object.fromEntries(
          Array.from(this.#catalogs, ([name, { bins }]) => [name, bins[bin]!.described()] as const),
        ),
      })),
      with_bright_star: this.#bright,
      with_same_place: this.#samePlace,
      duplicates: {
        rows: duplicates.reduce((sum, rows) => sum + rows.length, 0),
        groups: duplicates.slice(0, MAX_GROUPS).map(rows => rows.slice(0, MAX_GROUP)),
      },
    };
  }
}

function ownRadius(catalog: CatalogDefinition): CatalogTally['own'] {
  const { radius_arcsec, radius_column } = releaseOf(catalog, false);
  return {
    ...(radius_arcsec !== undefined && { radius_arcsec }),
    ...(radius_column !== undefined && { radius_column }),
  };
}

const fractionOf = (contaminated: number, searched: number) => ({
  fraction: searched === 0 ? null : rounded(contaminated / searched),
  interval: wilsonInterval(contaminated, searched)?.map(rounded) ?? null,
});

const isSearched = (outcome: SampleOutcome) => outcome === 'coincident_source' || outcome === 'no_coincident_source';

export const zeros = <Name extends string>(names: readonly { readonly name: Name }[]) =>
  Object.fromEntries(names.map(({ name }) => [name, 0])) as Record<Name, number>;

/** To six digits: the densities are known to three at best. */
export const rounded = (value: number) => Number(value.toPrecision(6));
