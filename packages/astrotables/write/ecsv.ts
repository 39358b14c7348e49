/**
 * ECSV (astropy's proposal APE 6): CSV after comments that declare the types, units and descriptions of its columns. A
 * null is an empty cell, as is an empty text, because astropy reads both as masked.
 */
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, type ColumnType, checkBlock, checkRow, type Table } from '../columns.ts';
import { beginCsv } from './csv.ts';
import type { About, TableWriter } from './table_writer.ts';

const DATATYPES: Readonly<Record<ColumnType, string>> = {
  int64: 'int64',
  int32: 'int32',
  float64: 'float64',
  float32: 'float32',
  boolean: 'bool',
  text: 'string',
  time: 'string',
};

export function beginEcsv(out: ByteSink, table: Table, { program, json }: About): TableWriter {
  const { name, description, columns } = table;
  // JSON is YAML, so names and descriptions may contain any character.
  const line = (text: string) => out.utf8(`# ${text}\n`);
  line('%ECSV 1.0');
  line('---');
  line("delimiter: ','");
  line('datatype:');
  for (const column of columns) line(`- ${JSON.stringify(described(column))}`);
  line(
    `meta: {"name": ${JSON.stringify(name)}, "description": ${JSON.stringify(description)}, ${JSON.stringify(program)}: ${json}}`,
  );
  line('schema: astropy-2.0');
  const areBooleans = columns.map(({ type }) => type === 'boolean');
  const texts = columns.map(column => (column.type === 'boolean' ? { ...column, type: 'text' as const } : column));
  const csv = beginCsv(out, { ...table, columns: texts });
  return {
    row(cells) {
      checkRow(columns, cells);
      csv.row(cells.map((cell, i) => (areBooleans[i] ? booleanText(cell) : cell)));
    },
    block(cells) {
      checkBlock(columns, cells);
      csv.block(cells.map((ofColumn, i) => (areBooleans[i] ? Array.from(ofColumn, booleanText) : ofColumn)));
    },
    end: () => csv.end(),
  };
}

/** astropy reads no other spelling. */
function booleanText(cell: Cell): string | null {
  return cell === null ? null : cell ? 'True' : 'False';
}

function described({ name, type, unit, ucd, description }: Column) {
  return { name, ...(unit && { unit }), datatype: DATATYPES[type], description, ...(ucd && { meta: { ucd } }) };
}
