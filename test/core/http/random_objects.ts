/** Random objects in every state that an import can bring, for tests against an oracle. */
import type { ImportItem } from '../../../src/core/store/import.ts';
import type { RecordedOutcome } from '../../../src/core/store/types.ts';
import type { TrueFilters, TrueMatch, TrueObject } from '../../oracle/qualification.ts';
import { NOW_US, PROVENANCE, type World } from './support.ts';

export const FIELDS: Readonly<Record<string, readonly string[]>> = {
  gaia_dr3: [
    'parallax',
    'parallax_error',
    'pmra',
    'pmdec',
    'ruwe',
    'classprob_dsc_combmod_star',
    'classprob_dsc_combmod_galaxy',
    'classprob_dsc_combmod_quasar',
  ],
  des_y6_gold: ['dnf_z', 'dnf_zsigma', 'ext_mash'],
  delve_dr3_gold: ['dnf_z', 'dnf_zsigma', 'ext_mash'],
  skymapper_dr4: ['class_star'],
};
const NUMBERS = [-1, 0, 0.5, 1, 1.5, 3];
const VALUES: readonly unknown[] = [...NUMBERS, ...NUMBERS, 1n, 3n, null, '1.5', true, Number.NaN];

export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** 0 to `n - 1`. */
  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

export function randomObject(dice: Dice, id: bigint): TrueObject {
  const catalogs = Object.keys(FIELDS);
  const matches = Array.from({ length: dice.chance(0.4) ? 0 : dice.below(5) }, (_, i): TrueMatch => {
    const catalog = dice.pick(catalogs);
    const payload = Object.fromEntries(
      FIELDS[catalog]!.filter(() => dice.chance(0.9)).map(field => [field, dice.pick(VALUES)]),
    );
    return {
      version: 1 + dice.below(2),
      catalog,
      sourceId: `${dice.below(2) + 10 * dice.below(2) + (i > 2 ? 100 : 0)}`,
      separation: dice.pick([0, 0.25, 0.5, 1]),
      payload: dice.chance(0.05) ? null : payload,
    };
  });
  const key = ({ version, catalog, sourceId }: TrueMatch) => `${version} ${catalog} ${sourceId}`;
  return {
    id,
    reliability: dice.pick([null, 0, 0.25, 0.5, 0.75, 1]),
    pending: dice.chance(0.2),
    record: dice.pick(['none', 'searched', 'searched', 'not searched']),
    matches: [...new Map(matches.map(match => [key(match), match])).values()],
  };
}

/** At most three filters, one in three of them of several catalogs. */
export function randomFilters(dice: Dice): TrueFilters {
  const names = [
    'catalog',
    'separation_arcsec_max',
    'reliability_min',
    'reliability_max',
    ...Object.entries(FIELDS).flatMap(([catalog, fields]) =>
      catalog === 'skymapper_dr4'
        ? []
        : [...fields, ...(catalog === 'gaia_dr3' ? ['parallax_over_error'] : [])].flatMap(field => [
            `${catalog}.${field}_min`,
            `${catalog}.${field}_max`,
          ]),
    ),
  ];
  const filters: Record<string, number | string> = {};
  const catalog = dice.pick(Object.keys(FIELDS));
  for (let wanted = 1 + dice.below(3); wanted > 0; wanted--) {
    const name = dice.pick(names);
    if (dice.chance(0.8) && name.includes('.') && !name.startsWith(catalog)) continue;
    if (name === 'catalog') filters[name] = catalog;
    else filters[name] = name === 'separation_arcsec_max' ? dice.pick([0, 0.25, 0.7]) : dice.pick(NUMBERS);
  }
  return filters;
}

/** Stores them, at the position that each is given. */
export async function store(
  { writer }: World,
  objects: readonly (TrueObject & { readonly ra: number; readonly dec: number; readonly timeUs: number })[],
): Promise<void> {
  const items = objects.flatMap(({ id, ra, dec, timeUs, reliability, pending, record, matches }): ImportItem[] => {
    const outcome: RecordedOutcome = record === 'searched' ? 'searched' : 'outside_footprint';
    const fields = {
      position: { ra, dec },
      reliability,
      ingestTimeUs: timeUs,
      eventTimeUs: NOW_US,
      brokers: ['lasair'],
    };
    return [
      { kind: 'object', diaObjectId: id, object: { ...fields, state: pending ? 'pending' : 'crossmatched' } },
      ...(record === 'none'
        ? []
        : [
            {
              kind: 'crossmatch_record',
              diaObjectId: id,
              record: {
                matchVersion: 2,
                crossmatchedAtUs: NOW_US,
                brokersAtCrossmatch: [],
                catalogOutcomes: [['gaia_dr3', outcome]],
              },
              provenance: PROVENANCE,
            } as const,
          ]),
      ...matches.map(
        ({ version, catalog, sourceId, separation, payload }) =>
          ({
            kind: 'match',
            diaObjectId: id,
            match: {
              matchVersion: version,
              catalogName: catalog,
              catalogSourceId: sourceId,
              separationArcsec: separation,
            },
            source: { ra, dec, payload },
          }) as const,
      ),
    ];
  });
  const outcomes = await writer.import(items);
  if (outcomes.some(outcome => outcome !== 'imported')) throw new Error(JSON.stringify(outcomes));
}
