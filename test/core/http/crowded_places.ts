/** Objects and their sources in a few crowded places, for the tests of the cone searches. */

import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import type { CrossmatchResult, SkyPosition } from '../../../src/core/store/types.ts';
import { Dice } from './random_objects.ts';
import { delivery, NOW_US, PROVENANCE, reshape, type World } from './support.ts';

export interface TrueSource {
  readonly catalog: string;
  readonly id: string;
  readonly position: SkyPosition | null;
}

export interface TrueObject {
  readonly id: bigint;
  readonly position: SkyPosition;
  readonly reliability: number | null;
  readonly state: 'pending' | 'crossmatched' | 'unrecorded';
  readonly searched: readonly string[];
  readonly sources: readonly TrueSource[];
}

/** Their neighbourhoods have a pole and the seam of right ascension. */
export const CENTRES: readonly SkyPosition[] = [
  { ra: 150, dec: 2 },
  { ra: 0.01, dec: -40 },
  { ra: 77, dec: 89.9 },
];

export const NAMES: readonly string[] = CATALOGS.map(({ name }) => name);
const FIRST_ID = 2n ** 63n - 100_000n;

/** A place at random, up to so many degrees from another, and not uniformly. */
function near({ ra, dec }: SkyPosition, degrees: number, random: () => number): SkyPosition {
  const [angle, distance] = [2 * Math.PI * random(), degrees * Math.sqrt(random())];
  const [over, north] = [
    ra + (distance * Math.cos(angle)) / Math.cos((dec * Math.PI) / 180),
    dec + distance * Math.sin(angle),
  ];
  // Positions beyond the pole are on its other side.
  const [east, there] = north > 90 ? [over + 180, 180 - north] : [over, north];
  return { ra: ((east % 360) + 360) % 360, dec: there };
}

/** Numbers at random, but the same each time. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function trueObjects(count: number): TrueObject[] {
  const random = randomOf(5);
  const dice = new Dice(random);
  return Array.from({ length: count }, (_, i): TrueObject => {
    const position = near(dice.pick(CENTRES), 0.4, random);
    const searched = NAMES.filter(() => dice.chance(0.7));
    const sources = searched
      .filter(() => dice.chance(0.5))
      .map((catalog): TrueSource => {
        // Since the epoch of Gaia, a star may have moved further than any crossmatch radius.
        const furthest = catalog === 'gaia_dr3' ? 0.07 : 0.016;
        const lies = dice.chance(0.05) ? null : near(position, dice.chance(0.3) ? furthest : 0.0003, random);
        return { catalog, id: `${2n ** 63n - 1n - BigInt(dice.below(2 * count))}`, position: lies };
      });
    const state = dice.pick(['pending', 'crossmatched', 'crossmatched', 'crossmatched', 'unrecorded'] as const);
    const reliability = dice.pick([null, 0.25, 0.875]);
    return { id: FIRST_ID + BigInt(i), position, reliability, state, searched, sources };
  });
}

function resultOf({ id, searched, sources }: TrueObject): CrossmatchResult {
  return {
    diaObjectId: id,
    catalogOutcomes: NAMES.map(name => [name, searched.includes(name) ? 'searched' : 'outside_footprint'] as const),
    matches: sources.map(({ catalog, id: catalogSourceId, position }) => ({
      catalogName: catalog,
      catalogSourceId,
      separationArcsec: 0.5,
      source: { ra: position?.ra ?? null, dec: position?.dec ?? null, payload: payloadOf(catalogSourceId) },
    })),
  };
}

/** Some values have the wrong type, as an import may bring them. */
export function payloadOf(sourceId: string): Record<string, unknown> {
  return { parallax: Number(BigInt(sourceId) % 7n), ruwe: 'much', ext_mash: BigInt(sourceId), flags: 1.5, pmra: null };
}

/** Stores them; pending objects have matches left over from earlier. */
export async function storeObjects(world: World, objects: readonly TrueObject[]): Promise<void> {
  const { writer } = world;
  await writer.ingest(
    objects.map(({ id, position, reliability }) => delivery(id, { position, reliability })),
    NOW_US,
  );
  await writer.recordCrossmatches(objects.map(resultOf), PROVENANCE, NOW_US);
  for (const { id, state } of objects) {
    if (state === 'pending') reshape(world, id, { state });
    if (state === 'unrecorded') reshape(world, id, { records: [] });
  }
}
