/**
 * The catalogs themselves as tables, `CATALOG.sources`: every row of a registered catalog, with the columns of its
 * definition in the catalog's own case. The rows stay in the catalog's files; a query reads the parts that it needs.
 */
import type { Column } from '@nearsky/astrotables';
import type { CatalogDefinition, Catalogs } from '../contract/catalogs.ts';
import type { CatalogRegistration } from '../store/catalog_registration.ts';
import { positionKeys } from '../tables/payload_columns.ts';
import type { ListedTable } from './listed_table.ts';

/** The name of the table in the schema of its catalog. */
export const SOURCES = 'sources';

/** The catalog's own columns: the id, the position, then the others. */
function sourceColumns({ idColumn, idType, raColumn, decColumn, columns, ...rest }: CatalogDefinition): Column[] {
  const repeated = positionKeys({ raColumn, decColumn });
  const place = (name: string, ucd: string, description: string): Column => {
    const stated = columns.find(column => column.name.toLowerCase() === name.toLowerCase());
    return {
      name,
      type: 'float64',
      unit: 'deg',
      ucd: `${ucd};meta.main`,
      description: stated?.description ?? description,
    };
  };
  const id = {
    name: idColumn,
    type: idType ?? 'int64',
    ucd: 'meta.id;meta.main',
    description: `Identifier in ${rest.release}`,
  };
  return [
    id,
    place(raColumn, 'pos.eq.ra', 'Right ascension'),
    place(decColumn, 'pos.eq.dec', 'Declination'),
    ...columns.filter(
      ({ name }) => !repeated.includes(name.toLowerCase()) && name.toLowerCase() !== idColumn.toLowerCase(),
    ),
  ];
}

/** One table for each registered catalog. */
export function sourceTables({ all, footprintOrders }: Catalogs): ListedTable[] {
  return all.flatMap(catalog => {
    const { name, release, idPixel } = catalog;
    if (!footprintOrders?.has(name)) return [];
    const columns = sourceColumns(catalog);
    const [id, ra, dec] = columns as [Column, Column, Column];
    return {
      schema: name,
      name: SOURCES,
      description: `All sources of ${release}, from the files of the catalog. A query gives an area, positions or ids`,
      columns,
      position: { ra: ra.name, dec: dec.name },
      partial: { id: id.name, ...(idPixel && { idPixel }) },
      refers: [],
    };
  });
}

/** The column of the files that a column of the table is; undefined if this copy of the catalog lacks it. */
export function fileColumn(
  { columns: { id, ra, dec, payload } }: Pick<CatalogRegistration, 'columns'>,
  { columns }: Pick<ListedTable, 'columns'>,
  name: string,
): string | undefined {
  const place = columns.findIndex(column => column.name === name);
  if (place < 3) return [id, ra, dec][place];
  return payload.find(({ key }) => key === name.toLowerCase())?.column ?? undefined;
}
