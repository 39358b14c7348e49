/** Stars that move, at hard places, and objects that most of them have moved to. */
import { join } from 'node:path';
import { movedStar } from '@nearsky/sky-index/motion';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import type { HatsOptions } from '../../core/catalogs/write_hats.ts';
import { TestApp } from '../../core/http/support.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import type { World } from './world.ts';

/** Julian years from J2016.0 to a time, UTC, milliseconds since 1970. */
export const yearsTo = (ms: number) => 2000 + (ms / 1000 + 69.184 - 946_728_000) / 86_400 / 365.25 - 2016;
/** To the event of every object of a world. */
export const YEARS = yearsTo(Date.UTC(2026, 0, 1));

/** A row of Gaia; motions in mas a year. */
export interface Star extends Place {
  readonly pmra: number | null;
  readonly pmdec: number | null;
  readonly parallax: number | null;
}

export const idOf = (row: number) => 4_000_000_000_000_000_000n + BigInt(row);

export async function addStars(
  world: World,
  stars: readonly Star[],
  options: Partial<HatsOptions> = {},
): Promise<void> {
  const ids = stars.map((_, row) => idOf(row));
  const [ra, dec] = [stars.map(star => star.ra), stars.map(star => star.dec)];
  const columns = catalogColumns(catalogDefinition('gaia_dr3')!, ra, dec, ids).map(column => {
    const { name } = column;
    return name === 'pmra' || name === 'pmdec' || name === 'parallax'
      ? { ...column, data: stars.map(star => star[name]) }
      : column;
  });
  await world.addCatalog('gaia_dr3', stars, { columns, ...options }, ids);
}

/** The position of a star that many years after J2016.0, by default at the time of the events; undefined for a star that is compared at its catalog position. */
export function placeThen({ ra, dec, pmra, pmdec, parallax }: Star, years = YEARS): Place | undefined {
  if (pmra === null || pmdec === null) return undefined;
  const motion = Math.hypot(pmra, pmdec);
  if (motion === 0 || motion > 20_000) return undefined;
  const known = parallax !== null && parallax > 0 && parallax <= 1000 ? parallax : 0;
  return movedStar({ ra, dec, pmra, pmdec, parallax: known, radialVelocity: 0 }, years);
}

/** The match of the newest version, in the same form. */
export function found({ store }: World, id: bigint): [string, number, number | undefined] | undefined {
  const { matches, records } = store.getObject(id)!;
  const match = matches.find(({ matchVersion }) => matchVersion === records.at(-1)!.matchVersion);
  return match && [match.catalogSourceId, match.separationArcsec, match.separationAtEpochArcsec];
}

/** Stars of every speed at hard places, and objects that most of them have moved to. */
export function sky(seed: number, count: number, years = YEARS): { readonly stars: Star[]; readonly objects: Place[] } {
  const random = seededRandom(seed);
  const stars = Array.from({ length: count }, (_, row): Star => {
    const place = offset(HARD_PLACES[row % HARD_PLACES.length]!, 600 * random() ** 2, 2 * Math.PI * random());
    if (row % 17 === 0) return { ...place, pmra: row % 2 ? null : 100, pmdec: null, parallax: null };
    const [motion, angle] = [10 ** (4.35 * random()), 2 * Math.PI * random()];
    const parallax = [null, -3, 0, 1e9, 10 ** (3 * random())][row % 5]!;
    return { ...place, pmra: motion * Math.sin(angle), pmdec: motion * Math.cos(angle), parallax };
  });
  const objects = stars.map(star => {
    const there = random() < 0.8 ? (placeThen(star, years) ?? star) : star;
    return offset(there, [0, 0.3, 0.99, 1.01, 5][Math.floor(5 * random())]!, 2 * Math.PI * random());
  });
  return { stars, objects };
}

/** Moves 1 arcsec a year to the north. */
export const FAST: Star = { ra: 10, dec: 5, pmra: 0, pmdec: 1000, parallax: 2 };
export const THEN = placeThen(FAST)!;

export async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  const settings = { CROSSMATCH_PROPER_MOTION: 'yes' };
  const app = await new TestApp(join(world.directory, 'data'), settings).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}
