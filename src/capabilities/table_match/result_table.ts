/** Writes the answer to a table's crossmatch: the columns of the table, and after them the columns of the match. */

import type { Cell, Column, FitsRows } from '@nearsky/astrotables';
import {
  type Block,
  beginCsv,
  beginFits,
  blocksOf,
  type CsvWriter,
  distinctName,
  type InputTable,
  rowByRow,
  TableError,
  type TableWriter,
  tableFormat,
} from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import type { GroupColumn, ParquetTableWriter, StoredTable } from '@nearsky/astrotables/parquet_writer';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { MatchFormat } from '../../core/contract/formats.ts';
import { columnOf, MATCH_FIELDS, WORTH_FIELDS } from '../../core/contract/object_fields.ts';
import type { RowStatus, RowsKept } from '../../core/contract/table_match.ts';
import { payloadColumns } from '../catalogs/payload_columns.ts';
import { NO_PAIR, type Pairs } from './pairs.ts';

/** The approximate size of a part of an answer. */
const PART_BYTES = 1 << 20;

/** The matches of the rows with the objects, or with one catalog. */
export interface MatchedPart {
  /** Undefined for a match with the objects. */
  readonly catalog: CatalogDefinition | undefined;
  readonly pairs: Pairs;
  /** Whether sources were compared where they were at the epochs of the rows. */
  readonly isMoved: boolean;
}

export interface Result {
  readonly table: InputTable;
  /** One, or one for each catalog, of which each row then has the nearest source. */
  readonly parts: readonly MatchedPart[];
  /** Whether each part has a status of its own. */
  readonly isAll: boolean;
  readonly rows: RowsKept;
  readonly format: MatchFormat;
  /** The members of the answer besides its rows, as JSON. */
  readonly about: string;
}

/**
 * The answer, in parts of about a mebibyte. Columnar formats have their own part sizes.
 * @param onRows called with the number of finished rows of the table
 */
export async function* resultParts(
  result: Result,
  onRows: (done: number) => void = () => {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
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

/** The columns of the table in their stored form, if the answer can use that. */
export function copiedTable({ table, parts, rows, format }: Result): StoredTable | undefined {
  return format === 'parquet' && rows === 'all' && parts.every(({ pairs }) => pairs.areNearest)
    ? table.stored
    : undefined;
}

/** The number of rows of the answer. */
export function answeredRows({ table, parts, rows }: Result): number {
  let answered = 0;
  for (let row = 0; row < table.rows; row++) answered += rowsOf(parts, row, rows);
  return answered;
}

/** The number of rows of the answer for a row of the table. */
function rowsOf(parts: readonly MatchedPart[], row: number, rows: RowsKept): number {
  const found = parts.reduce((most, { pairs }) => Math.max(most, pairs.of(row).count), 0);
  return found === 0 && rows === 'all' ? 1 : found;
}

/** Writes the answer, some rows at a time. After each time, yields the number of finished rows of the table. */
async function written(result: Result, out: ByteSink): Promise<AsyncIterable<number>> {
  const { table, parts, isAll, format } = result;
  const about = { program: 'nearsky', json: result.about };
  const names = new Set(table.columns.map(({ name }) => name));
  const matched = matchedColumns(result).map(column => ({
    ...column,
    name: distinctName(column.name, names),
  }));
  const described = {
    name: 'crossmatch',
    description: `A table, crossmatched with ${isAll ? 'all catalogs' : (parts[0]!.catalog?.release ?? 'the objects of nearsky')}.`,
    columns: [...table.columns, ...matched],
  };
  if (format === 'csv' && table.csvRow) return csvRows(result, table.csvRow, matched, beginCsv(out, described));
  if (format === 'parquet') {
    const stored = copiedTable(result);
    const { beginParquet } = await import('@nearsky/astrotables/parquet_writer');
    const writer = beginParquet(out, described, about, stored?.elements);
    return parquetGroups(result, stored ? copiedColumns(stored) : decodedColumns(table), matched, writer);
  }
  if (format !== 'fits') return decodedBlocks(result, matched, (await tableFormat(format))(out, described, about));
  try {
    const fits = beginFits(out, described, await fitsRows(result, matched), {}, result.about);
    return decodedBlocks(result, matched, { block: rowByRow(cells => fits.row(cells)), end: () => fits.end() });
  } catch (error) {
    throw error instanceof RangeError ? new TableError(error.message) : error;
  }
}

/** The facts about the rows that FITS needs before they are written. */
async function fitsRows({ table, ...result }: Result, matched: readonly MatchedColumn[]): Promise<FitsRows> {
  const columns = [...table.columns, ...matched].map(() => ({ characters: 0, hasNulls: false }));
  let rows = 0;
  const counting = {
    block(cells: readonly ArrayLike<Cell>[]) {
      rows += cells[0]!.length;
      for (const [i, column] of columns.entries())
        for (const cell of Array.from(cells[i]!)) {
          if (cell === null) column.hasNulls = true;
          else if (typeof cell === 'string') column.characters = Math.max(column.characters, cell.length);
        }
    },
    end() {},
  };
  for await (const _ of decodedBlocks({ table, ...result }, matched, counting));
  return { rows, columns };
}

async function* csvRows(
  result: Result,
  rowOf: (row: number) => Uint8Array,
  matched: readonly MatchedColumn[],
  writer: CsvWriter,
): AsyncIterable<number> {
  let first = 0;
  for (const { rows } of blocksOf(result.table.rows, result.table.columns.length, () => [])) {
    for (const run of runs(result, first, rows))
      writer.blockAfter(Array.from(run.row, rowOf), matchedCells(result.parts, run, matched));
    first += rows;
    yield first;
  }
  writer.end();
}

/** Some rows of the table. For a row group of the answer, also the table's own columns. */
interface OwnColumns {
  readonly rows: number;
  columnsOf(run: Run, first: number): readonly GroupColumn[];
}

async function* copiedColumns(stored: StoredTable): AsyncIterable<OwnColumns> {
  for await (const { rows, columns } of stored.groups()) yield { rows, columnsOf: () => columns };
}

async function* decodedColumns({ columns, blocks }: InputTable): AsyncIterable<OwnColumns> {
  for await (const block of blocks(columns.map((_, place) => place)))
    yield {
      rows: block.rows,
      columnsOf: (run, first) => cellsOfRun(block, run, first).map(cells => ({ cells: () => cells })),
    };
}

async function* parquetGroups(
  result: Result,
  own: AsyncIterable<OwnColumns>,
  matched: readonly MatchedColumn[],
  writer: ParquetTableWriter,
): AsyncIterable<number> {
  let first = 0;
  for await (const { rows, columnsOf } of own) {
    for (const run of runs(result, first, rows)) {
      const found = matched.map((column): GroupColumn => {
        const { type, part, of } = column;
        if (of === undefined || (type !== 'int64' && type !== 'float64'))
          return { cells: () => matchedCell(result.parts, run, column) };
        return { numbers: () => result.parts[part!]!.pairs.numbers(run.parts[part!]!.pair, of, type) };
      });
      const group = [...columnsOf(run, first), ...found];
      for (const share of writer.group(group)) yield first + Math.floor(share * rows);
    }
    first += rows;
    yield first;
  }
  writer.end();
}

async function* decodedBlocks(
  result: Result,
  matched: readonly MatchedColumn[],
  writer: Pick<TableWriter, 'block' | 'end'>,
): AsyncIterable<number> {
  const { columns, blocks } = result.table;
  let first = 0;
  for await (const block of blocks(columns.map((_, place) => place))) {
    for (const run of runs(result, first, block.rows)) {
      writer.block([...cellsOfRun(block, run, first), ...matchedCells(result.parts, run, matched)]);
      yield first;
    }
    first += block.rows;
    yield first;
  }
  writer.end();
}

/** The cells that the table has for the rows of a run. `first` is the first row of the block. */
function cellsOfRun({ rows, cells }: Block, run: Run, first: number): readonly ArrayLike<Cell>[] {
  const isWhole = run.row.length === rows && run.row.every((row, i) => row === first + i);
  return isWhole ? cells : cells.map(ofColumn => Array.from(run.row, row => ofColumn[row - first]!));
}

/** Some rows of an answer, in parallel arrays. */
interface Run {
  readonly row: readonly number[];
  readonly status: readonly RowStatus[];
  readonly parts: readonly {
    readonly status: readonly RowStatus[];
    /** The pair of each row; NO_PAIR if there is none. */
    readonly pair: readonly number[];
  }[];
}

/** The rows of an answer for some rows of the table. They form a single run if no row is repeated. */
function* runs({ parts, rows }: Pick<Result, 'parts' | 'rows'>, first: number, count: number): Generator<Run> {
  const empty = () => ({
    row: [] as number[],
    status: [] as RowStatus[],
    parts: parts.map(() => ({ status: [] as RowStatus[], pair: [] as number[] })),
  });
  let run = empty();
  for (let row = first; row < first + count; row++) {
    const answered = rowsOf(parts, row, rows);
    if (answered === 0) continue;
    const statuses = parts.map(({ pairs }) => pairs.status(row));
    const found = parts.map(({ pairs }) => pairs.of(row));
    for (let i = 0; i < answered; i++) {
      run.row.push(row);
      run.status.push(statusOf(statuses));
      run.parts.forEach(({ status, pair }, part) => {
        status.push(statuses[part]!);
        pair.push(i < found[part]!.count ? found[part]!.first + i : NO_PAIR);
      });
    }
    if (run.row.length < count) continue;
    yield run;
    run = empty();
  }
  if (run.row.length > 0) yield run;
}

/** From the status that decides to the one that the others override. An unread catalog may have had a match. */
const DECISIVE: readonly RowStatus[] = [
  'matched',
  'invalid_position',
  'skipped_read_failure',
  'no_match',
  'outside_footprint',
];

/** The status of a row, from its statuses with each catalog. */
function statusOf(statuses: readonly RowStatus[]): RowStatus {
  return statuses.length === 1 ? statuses[0]! : DECISIVE.find(status => statuses.includes(status))!;
}

/** A column of the match. */
interface MatchedColumn extends Column {
  /** The number of the part that it describes; undefined for the status of the whole row. */
  readonly part?: number;
  /** The number of its column in `Batch`; undefined for a status. */
  readonly of?: number;
}

function matchedCells(
  parts: readonly MatchedPart[],
  run: Run,
  matched: readonly MatchedColumn[],
): readonly ArrayLike<Cell>[] {
  return matched.map(column => matchedCell(parts, run, column));
}

function matchedCell(parts: readonly MatchedPart[], run: Run, { part, of }: MatchedColumn): readonly Cell[] {
  if (part === undefined) return run.status;
  const { status, pair } = run.parts[part]!;
  if (of === undefined) return status;
  const cellOf = parts[part]!.pairs.column(of);
  return pair.map(each => (each === NO_PAIR ? null : cellOf(each)));
}

/** The status of the row; and the columns of each part, after its own status if there may be several parts. */
function matchedColumns({ parts, isAll }: Pick<Result, 'parts' | 'isAll'>): MatchedColumn[] {
  const status = { type: 'text', isAscii: true, ucd: 'meta.code' } as const;
  const ofParts = parts.flatMap(({ catalog, isMoved }, part): MatchedColumn[] => {
    const columns = pairColumns(catalog, isMoved).map((column, of) => ({ ...column, part, of }));
    if (!isAll) return columns;
    const { name, release } = catalog!;
    return [{ name: 'nearsky_status', ...status, description: 'The result of the row.', part }, ...columns].map(
      column => ({
        ...column,
        name: column.name.replace(/^nearsky_/, `nearsky_${name}_`),
        description: `${release}: ${column.description}`,
      }),
    );
  });
  const of = isAll ? 'The result of the row, of all catalogs together.' : 'The result of the row.';
  return [{ name: 'nearsky_status', ...status, description: of }, ...ofParts];
}

/**
 * The columns for the id, position and separation. For a catalog's source, also the quantities that help to
 * judge the match, and the source's columns. Positions have no UCD. With one, programs and the next crossmatch would
 * use them as the positions of the rows.
 */
function pairColumns(definition: CatalogDefinition | undefined, isMoved: boolean): Column[] {
  const whose = definition ? 'the source' : 'the object';
  const position = (name: 'ra' | 'dec'): Column => ({
    name: `nearsky_${name}`,
    type: 'float64',
    unit: 'deg',
    description: `${name === 'ra' ? 'Right ascension' : 'Declination'} of ${whose}, ICRS.`,
  });
  return [
    {
      name: definition ? 'nearsky_source_id' : 'nearsky_diaObjectId',
      type: definition?.idType ?? 'int64',
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
    ...(isMoved ? [AT_EPOCH_COLUMN] : []),
    ...(definition ? [...WORTH_COLUMNS, ...catalogColumns(definition)] : []),
  ];
}

const AT_EPOCH_COLUMN: Column = {
  ...columnOf('nearsky_separation_at_epoch_arcsec', MATCH_FIELDS.separation_at_epoch_arcsec),
  description: "The separation at the row's epoch; null if the source or the row has no motion or epoch.",
};

/** The quantities that help to judge a match with a source. */
const WORTH_COLUMNS = Object.entries(WORTH_FIELDS).map(
  ([name, { type, ucd, description, ...field }]): Column => ({
    name: `nearsky_${name}`,
    type: type === 'int32' ? 'int64' : type,
    ...('unit' in field && { unit: field.unit }),
    ucd,
    description: `${description}.`,
  }),
);

const POSITION_UCD = /^pos[._](?:eq|gal)/i;

function catalogColumns(definition: CatalogDefinition): Column[] {
  const { name, release, verdicts } = definition;
  const columns = payloadColumns(definition).map(({ ucd = '', ...column }) => ({
    ...column,
    name: `${name}_${column.name}`,
    ...(ucd !== '' && !POSITION_UCD.test(ucd) && { ucd }),
  }));
  const verdict: Column = {
    name: `${name}_verdict`,
    type: 'text',
    isAscii: true,
    ucd: 'src.class',
    description: `What ${release} says of the source; no classification of the row.`,
  };
  return verdicts ? [...columns, verdict] : columns;
}
