/** The answer to a crossmatch of a table: its own columns, then what was found. */
import { ByteSink } from '../base/bytes.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { TableFormat } from '../contract/formats.ts';
import { OBJECT_FIELDS } from '../contract/object_fields.ts';
import type { RowsKept } from '../contract/table_match.ts';
import { distinctName, type InputTable } from '../table_input/input_table.ts';
import type { Cell, Column } from '../tables/columns.ts';
import { tableFormat } from '../tables/formats.ts';
import { payloadColumns } from '../tables/payload_columns.ts';
import type { Pairs } from './pairs.ts';

/** A part of an answer. */
const PART_BYTES = 1 << 20;
/** Rows that a format which stores columns keeps together. */
const CHUNK_ROWS = 65_536;

export interface Result {
  readonly table: InputTable;
  readonly pairs: Pairs;
  /** Undefined for the objects. */
  readonly catalog: CatalogDefinition | undefined;
  readonly rows: RowsKept;
  readonly format: TableFormat;
  /** The information of the answer beside its rows, as JSON. */
  readonly about: string;
}

/** The answer in parts of about a mebibyte. */
export async function* resultParts({ table, pairs, catalog, rows, format, about }: Result): AsyncGenerator<Uint8Array> {
  const begin = await tableFormat(format);
  const out = new ByteSink();
  const matched = matchedColumns(catalog);
  const names = new Set(table.columns.map(({ name }) => name));
  const columns = [...table.columns, ...matched.map(column => ({ ...column, name: distinctName(column.name, names) }))];
  const described = {
    name: 'crossmatch',
    description: `A table, crossmatched with ${catalog?.release ?? 'the objects of nearsky'}.`,
    columns,
  };
  const writer = begin(out, described, about, CHUNK_ROWS);
  const nothing: Cell[] = matched.slice(1).map(() => null);
  let row = 0;
  for await (const block of table.blocks(table.columns.map((_, place) => place))) {
    for (let i = 0; i < block.rows; i++, row++) {
      const found = pairs.of(row);
      if (found.length === 0 && rows === 'matched') continue;
      const cells: Cell[] = block.cells.map(column => column[i]!);
      if (found.length === 0) writer.row([...cells, pairs.status(row), ...nothing]);
      for (const { batch, at } of found) {
        const [ra, dec, ...payload] = batch.cells(at);
        writer.row([...cells, 'matched', batch.id[at]!, ra!, dec!, batch.separationArcsec[at]!, ...payload]);
      }
      if (out.length < PART_BYTES) continue;
      yield out.bytes.slice(0, out.length);
      out.length = 0;
    }
  }
  writer.end();
  yield out.bytes.slice(0, out.length);
}

/** The status, the id, the position, the separation, and the columns of a catalog. */
function matchedColumns(definition: CatalogDefinition | undefined): Column[] {
  const { ra, dec } = OBJECT_FIELDS;
  const whose = definition ? 'the source' : 'the object';
  const position = (name: 'ra' | 'dec'): Column => ({
    name: `nearsky_${name}`,
    type: 'float64',
    unit: 'deg',
    ucd: { ra, dec }[name].ucd,
    description: `${name === 'ra' ? 'Right ascension' : 'Declination'} of ${whose}, ICRS.`,
  });
  return [
    { name: 'nearsky_status', type: 'text', isAscii: true, ucd: 'meta.code', description: 'The result of the row.' },
    {
      name: definition ? 'nearsky_source_id' : 'nearsky_diaObjectId',
      type: 'int64',
      ucd: 'meta.id',
      description: `The id of ${whose}.`,
    },
    position('ra'),
    position('dec'),
    {
      name: 'nearsky_separation_arcsec',
      type: 'float64',
      unit: 'arcsec',
      ucd: 'pos.angDistance',
      description: `The separation of ${whose} from the row's position.`,
    },
    ...(definition ? catalogColumns(definition) : []),
  ];
}

function catalogColumns(definition: CatalogDefinition): Column[] {
  return payloadColumns(definition).map(column => ({ ...column, name: `${definition.name}_${column.name}` }));
}
