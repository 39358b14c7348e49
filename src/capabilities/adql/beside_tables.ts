/** The tables beside those of objects: the registry, the journal and the catalogs. All states of the archive share them. */
import type { Column, ColumnType } from '@nearsky/astrotables';
import type { ListedTable } from './listed_table.ts';
import { POSITION, SCHEMA } from './table_names.ts';

export type BesideName = 'registry' | 'journal' | 'catalogs';

const column = (name: string, type: ColumnType, description: string, more: Partial<Column> = {}): Column => ({
  name,
  type,
  description,
  ...more,
});

export interface BesideTable extends ListedTable {
  readonly name: BesideName;
}

function table(
  name: BesideName,
  description: string,
  columns: readonly Column[],
  more: Pick<BesideTable, 'position'> = {},
): BesideTable {
  return { schema: SCHEMA, name, description, columns, refers: [], principal: PRINCIPAL, ...more };
}

const PRINCIPAL: ReadonlySet<string> = new Set([
  ...['objid', 'name_prefix', 'name', 'ra', 'dec', 'classification', 'created_at'],
  ...['entry', 'time', 'catalog_name', 'catalog_release', 'rows'],
]);

export const BESIDE: readonly BesideTable[] = [
  table(
    'registry',
    'The objects of the registry of transients (TNS), all of the present snapshot: one row each',
    [
      column(POSITION.pixel, 'int64', 'HEALPix pixel of the position at order 29, NESTED', { ucd: 'pos.healpix' }),
      column('objid', 'int64', "The registry's number of the object", { ucd: 'meta.id;meta.main' }),
      column(POSITION.ra, 'float64', 'Right ascension, ICRS', { unit: 'deg', ucd: 'pos.eq.ra;meta.main' }),
      column(POSITION.dec, 'float64', 'Declination, ICRS', { unit: 'deg', ucd: 'pos.eq.dec;meta.main' }),
      column('name', 'text', 'The designation without its prefix, such as 2026abc', { ucd: 'meta.id' }),
      column('name_prefix', 'text', 'The prefix of the designation, such as AT or SN'),
      column('classification', 'text', 'Type of the transient; null if it is not classified', { ucd: 'src.class' }),
      column('redshift', 'float64', 'Redshift', { ucd: 'src.redshift' }),
      column('created_at', 'time', 'When the registry made the entry, UTC; null if its file does not say', {
        ucd: 'time.creation',
      }),
      column('snapshot_epoch', 'time', 'When the registry was in this state, UTC', { ucd: 'time.epoch' }),
    ],
    { position: POSITION },
  ),
  table(
    'journal',
    'The entries of the journal, each of which changed objects: one row each, up to the state of the tables',
    [
      column('entry', 'int64', 'Number of the entry, for AT', { ucd: 'meta.id;meta.main' }),
      column('time', 'time', 'When its changes were stored, UTC; null for an import', { ucd: 'time' }),
      column('stored', 'int32', 'Objects that were stored for the first time', { ucd: 'meta.number' }),
      column('delivered', 'int32', 'Objects that a further broker delivered', { ucd: 'meta.number' }),
      column('crossmatched', 'int32', 'Objects that were crossmatched', { ucd: 'meta.number' }),
      column('removed', 'int32', 'Objects that were removed', { ucd: 'meta.number' }),
    ],
  ),
  table('catalogs', 'The catalogs that are registered now: one row each', [
    column('catalog_name', 'text', 'The catalog, as its tables are named', { ucd: 'meta.id;meta.main' }),
    column('catalog_release', 'text', 'Its release'),
    column('rows', 'int64', 'Rows of the catalog; null if its files do not say', { ucd: 'meta.number' }),
    column('partitions', 'int32', 'Partitions of the catalog', { ucd: 'meta.number' }),
    column('position_epoch', 'text', 'Epoch of its positions; null if they have none', { ucd: 'time.epoch' }),
    column('footprint_order', 'int32', 'HEALPix order of its footprint'),
    column('footprint_area', 'float64', 'Area of its footprint', { unit: 'deg2', ucd: 'phys.angArea' }),
    column('added_at', 'time', 'When it was added to this service, UTC'),
  ]),
];
