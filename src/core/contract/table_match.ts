/** The enumerated values of a table's crossmatch. */
import type { Catalogs } from './catalogs.ts';
import type { Named, NameOf } from './enums.ts';

/** The value of `against` for all registered catalogs. */
export const ALL_CATALOGS = 'all';

/** The values of `against`: the objects, a catalog's name, or all catalogs. */
export function againstNames({ all }: Catalogs): Named[] {
  const sources = all.map(({ name, release }) => ({
    name,
    meaning: `the sources of ${release}, read from the catalog itself`,
  }));
  return [
    { name: 'objects', meaning: 'the objects of this service' },
    ...sources,
    { name: ALL_CATALOGS, meaning: 'the nearest source of every registered catalog, side by side in one row' },
  ];
}

export const FINDS = [
  {
    name: 'nearest',
    meaning: 'the nearest one within the radius; of several at the same separation, the one with the lowest id',
  },
  { name: 'all', meaning: 'every one within the radius, nearest first, with a row for each' },
] as const satisfies readonly Named[];
export type Find = NameOf<typeof FINDS>;

export const ROWS_KEPT = [
  { name: 'all', meaning: 'every row of the table' },
  { name: 'matched', meaning: 'the rows with a match' },
] as const satisfies readonly Named[];
export type RowsKept = NameOf<typeof ROWS_KEPT>;

/** The units of right ascensions that a request may state. */
export const RA_UNITS = [
  { name: 'deg', meaning: 'decimal degrees' },
  { name: 'h', meaning: 'decimal hours' },
] as const satisfies readonly Named[];
export type RaUnit = NameOf<typeof RA_UNITS>;

/** The result of a row, in its column `nearsky_status`. */
const ROW_STATUSES = [
  { name: 'matched', meaning: 'something was found' },
  { name: 'no_match', meaning: 'nothing lies there' },
  { name: 'outside_footprint', meaning: 'the position is outside the catalog footprint' },
  { name: 'skipped_read_failure', meaning: 'the catalog cannot be read there now' },
  { name: 'invalid_position', meaning: 'the row has no valid position: it is missing, not a number, or out of range' },
] as const satisfies readonly Named[];
export type RowStatus = NameOf<typeof ROW_STATUSES>;

/** The path with the largest body limit. */
export const TABLE_PATH = '/api/crossmatch';

/** The list of crossmatch jobs of the Universal Worker Service. */
export const JOBS_PATH = '/vo/jobs';

/** The maximum radius of a search, arcsec, inclusive. */
export const MAX_MATCH_RADIUS_ARCSEC = 60;
export const DEFAULT_MATCH_RADIUS_ARCSEC = 1;
