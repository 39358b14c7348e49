/** The table form of the sources near a position, and of the objects of a source: one row for each. */
import { type Cell, type Column, type Row, type Table, withOwnNames } from '@nearsky/astrotables/columns';
import type { CatalogDefinition } from '../../core/contract/catalog.ts';
import { columnOf, MATCH_FIELDS, OBJECT_FIELDS, WORTH_FIELDS } from '../../core/contract/object_fields.ts';
import { payloadCell, payloadColumns } from '../catalogs/payload_columns.ts';

/** A source or an object, as in JSON answers. */
export type Listed = Readonly<Record<string, unknown>>;

interface Field extends Column {
  readonly cell: (listed: Listed) => Cell | undefined;
}

/** A table whose rows are made from the JSON of a list. */
export interface ListedTable extends Table {
  row(listed: Listed): Row;
}

/** A table of a list of your own; `own` makes fields that read the member of their name. */
export class FieldTable implements ListedTable {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Field[];

  constructor(name: string, description: string, fields: readonly Field[]) {
    this.name = name;
    this.description = description;
    this.columns = withOwnNames(fields);
  }

  row(listed: Listed): Row {
    return this.columns.map(({ cell }) => cell(listed) ?? null);
  }
}

/** The table of the sources of some catalogs near a position. */
export function sourceTable(catalogs: readonly CatalogDefinition[]): ListedTable {
  return new FieldTable('sources', 'Sources of the catalogs near a position, nearest first.', [
    own({ name: 'catalog_name', type: 'text', ucd: 'meta.id', description: 'Name of the catalog.' }),
    own({
      name: 'catalog_source_id',
      type: 'text',
      ucd: 'meta.id',
      description: 'Identifier of the source, unique only within its catalog.',
    }),
    own({
      ...columnOf('separation_arcsec', MATCH_FIELDS.separation_arcsec),
      description: 'Separation of the source from the position.',
    }),
    ...Object.entries(WORTH_FIELDS).map(([name, field]) => own(columnOf(name, field))),
    own({
      name: 'magnitude',
      type: 'float64',
      unit: 'mag',
      ucd: 'phot.mag',
      description: 'Magnitude in the band; null if the source has none.',
    }),
    own({
      name: 'band',
      type: 'text',
      ucd: 'meta.id;instr.bandpass',
      description: "The catalog's main band, or the reddest one in which the source has a magnitude.",
    }),
    own({ name: 'verdict', type: 'text', ucd: 'src.class', description: 'What the catalog says of the source.' }),
    own({ name: 'verdict_reason', type: 'text', ucd: 'meta.note', description: 'The values of the verdict.' }),
    own({ ...columnOf('ra', OBJECT_FIELDS.ra), description: 'Right ascension of the source, as its catalog has it.' }),
    own({ ...columnOf('dec', OBJECT_FIELDS.dec), description: 'Declination of the source, as its catalog has it.' }),
    ...catalogs.flatMap(payloadFields),
  ]);
}

function payloadFields(catalog: CatalogDefinition): Field[] {
  return payloadColumns(catalog).map(column => ({
    ...column,
    name: `${catalog.name}_${column.name}`,
    cell: ({ catalog_name, catalog_payload }) =>
      catalog_name === catalog.name ? payloadCell(column, (catalog_payload as Listed | null)?.[column.name]) : null,
  }));
}

/** The table of the objects for which a source is recorded. */
export function sourceObjectTable(): ListedTable {
  return new FieldTable('source_objects', 'Objects for which a source is recorded, by ascending identifier.', [
    {
      ...columnOf('diaObjectId', OBJECT_FIELDS.diaObjectId),
      cell: ({ diaObjectId_str }) => BigInt(diaObjectId_str as string),
    },
    ...Object.entries(MATCH_FIELDS).map(([name, field]) => own(columnOf(name, field))),
  ]);
}

/** A column with the value of its name. */
export function own(column: Column): Field {
  const { name, type } = column;
  return { ...column, cell: listed => (type === 'int32' ? (listed[name] as Cell) : payloadCell(column, listed[name])) };
}
