/** The matches of transients with a known class, by group, class and catalog. */
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { VERDICTS } from '../../core/contract/verdict.js';
import { SAMPLE_OUTCOMES, type SampleCell, type SampleRow } from '../sample/rows.ts';
import { wilsonInterval } from '../sample/statistics.ts';
import { rounded, Tally, zeros } from '../sample/summary.ts';

/** The first group whose pattern the registry's class matches. */
export const GROUPS = [
  { name: 'supernova', of: /^(SN|SLSN|Computed-)/i },
  { name: 'tde', of: /^TDE/i },
  { name: 'agn', of: /^(AGN|QSO|Blazar)/i },
  { name: 'cv', of: /^CV/i },
  { name: 'other', of: /^/ },
] as const;

/** The upper borders of the bins of `chance_probability`; only the last one is inclusive. */
const UPPER_CHANCES = [0.001, 0.01, 0.1, 1] as const;

class CatalogTally {
  readonly #all = new Tally();
  readonly #outcomes = zeros(SAMPLE_OUTCOMES);
  readonly #verdicts = zeros(VERDICTS);
  readonly #chances = UPPER_CHANCES.map(() => 0);
  #unknownChance = 0;
  readonly #ownArcsec: number | undefined;

  /** @param ownArcsec the catalog's own radius */
  constructor(ownArcsec: number | undefined) {
    this.#ownArcsec = ownArcsec;
  }

  add(cell: SampleCell, radiusArcsec: number): void {
    const { outcome, verdict, chance_probability: chance } = cell;
    this.#all.add(cell, this.#ownArcsec ?? radiusArcsec);
    this.#outcomes[outcome]++;
    if (verdict) this.#verdicts[verdict]++;
    if (outcome !== 'coincident_source') return;
    if (chance === null) this.#unknownChance++;
    else this.#chances[UPPER_CHANCES.findIndex(to => chance < to || to === 1)]!++;
  }

  described() {
    const { searched, coincident, ...expected } = this.#all.described();
    const { outside_footprint, skipped_read_failure } = this.#outcomes;
    return {
      searched,
      outside_footprint,
      skipped_read_failure,
      coincident,
      fraction: searched === 0 ? null : rounded(coincident / searched),
      interval: wilsonInterval(coincident, searched)?.map(rounded) ?? null,
      ...expected,
      verdicts: this.#verdicts,
      chance_probability: UPPER_CHANCES.map((to, bin) => ({
        from: UPPER_CHANCES[bin - 1] ?? 0,
        to,
        sources: this.#chances[bin]!,
      })),
      without_chance: this.#unknownChance,
    };
  }
}

class ClassTally {
  #transients = 0;
  readonly #catalogs: ReadonlyMap<string, CatalogTally>;

  constructor(catalogs: readonly CatalogDefinition[]) {
    this.#catalogs = new Map(catalogs.map(({ name, radius }) => [name, new CatalogTally(radius?.arcsec)]));
  }

  add({ catalogs }: SampleRow, radiusArcsec: number): void {
    this.#transients++;
    for (const [name, cell] of Object.entries(catalogs)) this.#catalogs.get(name)!.add(cell, radiusArcsec);
  }

  described() {
    const catalogs = Object.fromEntries(Array.from(this.#catalogs, ([name, tally]) => [name, tally.described()]));
    return { transients: this.#transients, catalogs };
  }
}

export class Classes {
  readonly #catalogs: readonly CatalogDefinition[];
  readonly #groups: ReadonlyMap<string, ClassTally>;
  readonly #classes: ReadonlyMap<string, Map<string, ClassTally>>;

  constructor(catalogs: readonly CatalogDefinition[]) {
    this.#catalogs = catalogs;
    this.#groups = new Map(GROUPS.map(({ name }) => [name, new ClassTally(catalogs)]));
    this.#classes = new Map(GROUPS.map(({ name }) => [name, new Map()]));
  }

  add(classification: string, row: SampleRow, radiusArcsec: number): void {
    const { name } = GROUPS.find(({ of }) => of.test(classification))!;
    const classes = this.#classes.get(name)!;
    const tally = classes.get(classification) ?? new ClassTally(this.#catalogs);
    classes.set(classification, tally);
    for (const each of [this.#groups.get(name)!, tally]) each.add(row, radiusArcsec);
  }

  described() {
    return GROUPS.map(({ name }) => ({
      group: name,
      ...this.#groups.get(name)!.described(),
      classes: Array.from(this.#classes.get(name)!, ([classification, tally]) => ({
        classification,
        ...tally.described(),
      })).sort((a, b) => b.transients - a.transients || (a.classification < b.classification ? -1 : 1)),
    }));
  }
}
