/**
 * The catalogs themselves as tables, `CATALOG.sources`: every row of a registered catalog, with the columns of its
 * definition in the catalog's own case and, where the files agree, in their own types. The rows stay in the catalog's files; a query reads the parts that it needs.
 */
import { spelled } from '@nearsky/adql';
import type { Column } from '@nearsky/astrotables';
import { MAX_OUTSIDE_ARCSEC } from '@nearsky/hats/layout';
import { motionColumns, type NarrowType } from '../../core/contract/catalog.ts';
import type { CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { positionKeys } from '../catalogs/payload_columns.ts';
import type { ListedTable } from './listed_table.ts';

/** The name of the table in the schema of its catalog. */
export const SOURCES = 'sources';

/**
 * The catalog's own columns: the id, the position, then the others.
 * @param narrowTypes the types that the files have instead, by key
 */
function sourceColumns(catalog: CatalogDefinition, narrowTypes: Readonly<Record<string, NarrowType>>): Column[] {
  const { idColumn, idType, raColumn, decColumn, columns, epoch, release } = catalog;
  const repeated = positionKeys({ raColumn, decColumn });
  const place = (name: string, ucd: string, description: string): Column => {
    const stated = columns.find(column => column.name.toLowerCase() === name.toLowerCase());
    return {
      name,
      type: 'float64',
      unit: 'deg',
      ucd: `${ucd};meta.main`,
      ...(epoch && { epoch: epoch.value }),
      description: stated?.description ?? description,
    };
  };
  const id = {
    name: idColumn,
    type: idType ?? 'int64',
    ucd: 'meta.id;meta.main',
    description: `Identifier in ${release}`,
  };
  return [
    id,
    place(raColumn, 'pos.eq.ra', 'Right ascension'),
    place(decColumn, 'pos.eq.dec', 'Declination'),
    ...columns.flatMap(column => {
      const key = column.name.toLowerCase();
      if (repeated.includes(key) || key === idColumn.toLowerCase()) return [];
      return { ...column, type: narrowTypes[key] ?? column.type };
    }),
  ];
}

/** The number of left-out columns that a description names. */
const NAMED = 20;

function leftOutText(leftOut: Readonly<Record<string, string>>): string {
  const columns = Object.entries(leftOut).map(([name, type]) => `${spelled(name)} (${type})`);
  if (columns.length === 0) return '';
  const more = columns.length > NAMED ? ` and ${columns.length - NAMED} more` : '';
  return `. Left out, because queries do not have their types: ${columns.slice(0, NAMED).join(', ')}${more}`;
}

/** One table for each registered catalog. */
export function sourceTables({ all, footprintOrders, narrowTypes, leftOut }: Catalogs): ListedTable[] {
  return all.flatMap(catalog => {
    const { name, release, idPixel } = catalog;
    if (!footprintOrders?.has(name)) return [];
    const principal = principalKeys(catalog);
    const columns = sourceColumns(catalog, narrowTypes.get(name) ?? {});
    const left = leftOut.get(name) ?? {};
    const [id, ra, dec] = columns as [Column, Column, Column];
    return {
      schema: name,
      name: SOURCES,
      description: `All sources of ${release}, from the files of the catalog. A query gives an area, positions or ids${leftOutText(left)}`,
      columns,
      leftOut: left,
      position: { ra: ra.name, dec: dec.name },
      partial: { id: id.name, ...(idPixel && { idPixel }), outsideArcsec: MAX_OUTSIDE_ARCSEC },
      refers: [],
      principal: new Set(
        [id, ra, dec, ...columns.filter(column => principal.has(column.name.toLowerCase()))].map(column => column.name),
      ),
    };
  });
}

/** The most important payload keys: magnitudes, parallaxes, motions, and the values shown in chats. */
export function principalKeys(catalog: CatalogDefinition): ReadonlySet<string> {
  const magnitudes = catalog.photometry.bands.map(({ magnitude }) => magnitude);
  return new Set([...magnitudes, ...motionColumns(catalog), ...catalog.chatKeys].map(name => name.toLowerCase()));
}

/** The column of the files that provides a column of the table; undefined if this copy of the catalog lacks it. */
export function fileColumn(
  { columns: { id, ra, dec, payload } }: Pick<CatalogRegistration, 'columns'>,
  { columns }: Pick<ListedTable, 'columns'>,
  name: string,
): string | undefined {
  const place = columns.findIndex(column => column.name === name);
  if (place < 3) return [id, ra, dec][place];
  return payload.find(({ key }) => key === name.toLowerCase())?.column ?? undefined;
}
