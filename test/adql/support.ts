/** Tables of a small sky, as queries see them. */
import type { DescribedTable } from '@nearsky/adql';
import type { Column, ColumnType } from '@nearsky/astrotables';

export const column = (name: string, type: ColumnType, unit?: string): Column => ({
  name,
  type,
  description: `The ${name}`,
  ...(unit && { unit }),
});

export const PLACE = [
  column('healpix_29', 'int64'),
  column('diaObjectId', 'int64'),
  column('ra', 'float64', 'deg'),
  column('dec', 'float64', 'deg'),
];
export const position = { ra: 'ra', dec: 'dec', pixel: 'healpix_29' };

export const TABLES: readonly DescribedTable[] = [
  {
    schema: 'nearsky',
    name: 'objects',
    description: 'Objects',
    columns: [
      ...PLACE,
      column('reliability', 'float64'),
      column('ingest_time', 'time'),
      column('status', 'text'),
      column('matches', 'int32'),
      column('tns_checked', 'boolean'),
    ],
    position,
  },
  {
    schema: 'nearsky',
    name: 'matches',
    description: 'Matches',
    columns: [
      ...PLACE,
      column('catalog_name', 'text'),
      column('separation', 'float64', 'arcsec'),
      column('source_ra', 'float64', 'deg'),
      column('source_dec', 'float64', 'deg'),
      column('pm', 'float64', 'mas.yr**-1'),
    ],
    position,
  },
  {
    schema: 'TAP_SCHEMA',
    name: 'columns',
    description: 'Columns',
    columns: [column('column_name', 'text'), column('size', 'int32'), column('pos', 'int32')],
  },
];
