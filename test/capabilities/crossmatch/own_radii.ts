/** Two catalogs with radii of their own beside gaia_dr3, and a scan of all their rows. */
import { join } from 'node:path';
import { separationArcsec } from '@nearsky/sky-index';
import type { CatalogDescription } from '../../../src/capabilities/catalogs/definition.ts';
import type { CatalogPositionsWriter } from '../../../src/capabilities/catalogs/positions_writer.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { onAnEdge } from './edges.ts';
import type { World } from './world.ts';

export interface RadiusCatalog {
  readonly name: string;
  readonly radius: NonNullable<CatalogDescription['radius']>;
  readonly places: readonly Place[];
  readonly ids: readonly bigint[];
  /** The column of errors, arcsec. */
  readonly errors: readonly (number | null)[];
}

/** A catalog within 20", and one in which each source has three times its error, at most 10". */
export const RADII = {
  galaxies: { arcsec: 20 },
  xray: { arcsec: 10, column: 'POS_ERR', factor: 3 },
} as const;

/** Positions near poles, the seam of right ascension, and edges of partitions of several orders. */
export function seams(each: number, reachArcsec: number, seed: number): Place[] {
  const random = seededRandom(64);
  const edges = [1, 3, 6].flatMap(order => Array.from({ length: 6 }, () => onAnEdge(order, random)));
  const around = seededRandom(seed);
  return [...HARD_PLACES, ...edges].flatMap(place =>
    Array.from({ length: each }, () => offset(place, reachArcsec * Math.sqrt(around()), 2 * Math.PI * around())),
  );
}

/** @param positions stores the positions of its rows, if given */
export async function addRadiusCatalog(
  world: World,
  name: keyof typeof RADII,
  positions?: CatalogPositionsWriter,
): Promise<RadiusCatalog> {
  const places = seams(9, 40, name.length);
  // Some sources twice, so that separations tie; the lower id comes last.
  places.push(...places.slice(0, 60));
  const ids = places.map((_, row) => 9_007_199_254_740_993n - BigInt(row));
  const random = seededRandom(7);
  const errors = places.map((_, row) => (row % 11 === 0 ? null : row % 13 === 0 ? 0 : 5 * random()));
  const location = join(world.directory, name);
  writeHats(location, {
    name,
    columns: [
      { name: 'id', type: 'INT64', data: ids },
      { name: 'ra', type: 'DOUBLE', data: places.map(({ ra }) => ra) },
      { name: 'dec', type: 'DOUBLE', data: places.map(({ dec }) => dec) },
      { name: 'POS_ERR', type: 'FLOAT', data: errors },
    ],
    ra: 'ra',
    dec: 'dec',
    maxRows: 4,
    maxOrder: 6,
    rowGroupSize: 3,
  });
  const radius = RADII[name];
  const description: CatalogDescription = {
    release: `The ${name}`,
    radius,
    columns: [{ name: 'ra' }, { name: 'dec' }, { name: 'POS_ERR', unit: 'arcsec' }],
  };
  await world.writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog({ name, idColumn: 'id', description }, location, { addedAtUs: 1, positions }),
  });
  return { name, radius, places, ids, errors: errors.map(error => (error === null ? null : Math.fround(error))) };
}

/** Every source that a position matches, nearest first, the lower id first of equal separations. */
export function scan({ radius, places, ids, errors }: RadiusCatalog, { ra, dec }: Place, fixedArcsec?: number) {
  const found: { id: bigint; separationArcsec: number }[] = [];
  places.forEach((place, row) => {
    if (Math.abs(place.dec - dec) > 61 / 3600) return;
    const own = radius.column === undefined ? radius.arcsec : Math.min(radius.arcsec, 3 * (errors[row] ?? Number.NaN));
    const separation = separationArcsec(ra, dec, place.ra, place.dec);
    const isWithin = fixedArcsec === undefined ? separation <= own && own > 0 : separation <= fixedArcsec;
    if (isWithin) found.push({ id: ids[row]!, separationArcsec: separation });
  });
  return found.sort((a, b) => a.separationArcsec - b.separationArcsec || (a.id < b.id ? -1 : 1));
}
