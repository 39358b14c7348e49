/** The answer to a crossmatch of a table: its own columns, then what was found. */
import { ByteSink } from '../base/bytes.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { TableFormat } from '../contract/formats.ts';
import { OBJECT_FIELDS } from '../contract/object_fields.ts';
import type { RowStatus, RowsKept } from '../contract/table_match.ts';
import { blocksOf, distinctName, type InputTable } from '../table_input/input_table.ts';
import type { Cell, Column } from '../tables/columns.ts';
import { beginCsv, type CsvWriter } from '../tables/csv.ts';
import { tableFormat } from '../tables/formats.ts';
import type { ParquetTableWriter, StoredGroup } from '../tables/parquet.ts';
import { payloadColumns } from '../tables/payload_columns.ts';
import type { TableWriter } from '../tables/table_writer.ts';
import type { Pair, Pairs } from './pairs.ts';

/** A part of an answer. */
const PART_BYTES = 1 << 20;

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

/**
 * The answer in parts of about a mebibyte, or as large as a format that stores columns makes them.
 * @param onRows called with the number of the table's rows that are done
 */
export async function* resultParts(
  result: Result,
  onRows: (done: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const out = new ByteSink();
  const part = () => {
    const bytes = out.bytes.slice(0, out.length);
    out.length = 0;
    return bytes;
  };
  for await (const done of await written(result, out)) {
    onRows(done);
    if (out.length >= PART_BYTES) yield part();
  }
  yield part();
}

/** Writes the answer, some rows at a time; each time gives the number of the table's rows that are done. */
async function written(result: Result, out: ByteSink): Promise<AsyncIterable<number>> {
  const { table, pairs, catalog, rows, format, about } = result;
  const names = new Set(table.columns.map(({ name }) => name));
  const matched = matchedColumns(catalog).map(column => ({ ...column, name: distinctName(column.name, names) }));
  const described = {
    name: 'crossmatch',
    description: `A table, crossmatched with ${catalog?.release ?? 'the objects of nearsky'}.`,
    columns: [...table.columns, ...matched],
  };
  if (format === 'csv' && table.csvRow) return csvRows(result, table.csvRow, beginCsv(out, described));
  // The columns of a catalog are many, and would be decoded for a whole group.
  if (format === 'parquet' && table.stored && !catalog && rows === 'all' && pairs.areNearest) {
    const { elements, groups } = table.stored;
    const { beginParquet } = await import('../tables/parquet.ts');
    return copiedGroups(result, groups(), beginParquet(out, described, about, elements));
  }
  return decodedBlocks(result, (await tableFormat(format))(out, described, about));
}

async function* csvRows(result: Result, rowOf: (row: number) => Uint8Array, writer: CsvWriter): AsyncIterable<number> {
  let first = 0;
  for (const { rows } of blocksOf(result.table.rows, result.table.columns.length, () => [])) {
    for (const run of runs(result, first, rows))
      writer.blockAfter(Array.from(run.row, rowOf), matchedCells(run, result.catalog));
    first += rows;
    yield first;
  }
  writer.end();
}

async function* copiedGroups(
  result: Result,
  groups: AsyncIterable<StoredGroup>,
  writer: ParquetTableWriter,
): AsyncIterable<number> {
  let first = 0;
  for await (const { rows, columns } of groups) {
    const [run] = runs(result, first, rows);
    if (!run) continue;
    const ofPairs = PAIR_CELLS.map(cellOf => () => run.pair.map(pair => (pair ? cellOf(pair) : null)));
    writer.group(columns, [() => run.status, ...ofPairs]);
    first += rows;
    yield first;
  }
  writer.end();
}

async function* decodedBlocks(result: Result, writer: TableWriter): AsyncIterable<number> {
  const { columns, blocks } = result.table;
  let first = 0;
  for await (const { rows, cells } of blocks(columns.map((_, place) => place))) {
    for (const run of runs(result, first, rows)) {
      const isWhole = run.row.length === rows && run.row.every((row, i) => row === first + i);
      const taken = isWhole ? cells : cells.map(ofColumn => Array.from(run.row, row => ofColumn[row - first]!));
      writer.block([...taken, ...matchedCells(run, result.catalog)]);
      yield first;
    }
    first += rows;
    yield first;
  }
  writer.end();
}

/** Some rows of an answer; all arrays are parallel. */
interface Run {
  /** Rows of the table. */
  readonly row: readonly number[];
  readonly status: readonly RowStatus[];
  readonly pair: readonly (Pair | undefined)[];
}

/** The rows of an answer for some rows of the table, at once where these are not repeated. */
function* runs({ pairs, rows }: Result, first: number, count: number): Generator<Run> {
  const empty = () => ({ row: [] as number[], status: [] as RowStatus[], pair: [] as (Pair | undefined)[] });
  let run = empty();
  for (let row = first; row < first + count; row++) {
    const found: readonly (Pair | undefined)[] = pairs.of(row);
    const kept = found.length === 0 && rows === 'all' ? [undefined] : found;
    for (const pair of kept) {
      run.row.push(row);
      run.status.push(pair ? 'matched' : pairs.status(row));
      run.pair.push(pair);
    }
    if (run.row.length < count) continue;
    yield run;
    run = empty();
  }
  if (run.row.length > 0) yield run;
}

/** The cells of a pair: its id, position and separation. */
const PAIR_CELLS: readonly ((pair: Pair) => Cell)[] = [
  ({ batch, at }) => batch.id[at]!,
  ({ batch, at }) => batch.ra[at]!,
  ({ batch, at }) => batch.dec[at]!,
  ({ batch, at }) => batch.separationArcsec[at]!,
];

/** The cells of the matched columns. */
function matchedCells({ status, pair }: Run, catalog: Result['catalog']): ArrayLike<Cell>[] {
  const cells = PAIR_CELLS.map(cellOf => pair.map(found => (found ? cellOf(found) : null)));
  if (!catalog) return [status, ...cells];
  const payload: Cell[][] = catalog.columns.map(() => new Array(pair.length).fill(null));
  pair.forEach((found, i) => {
    found?.batch.payload(found.at).forEach((cell, column) => {
      payload[column]![i] = cell;
    });
  });
  return [status, ...cells, ...payload];
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
