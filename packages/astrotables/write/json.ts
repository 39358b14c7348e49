/**
 * One JSON document: `columns` with their types, units, UCDs and descriptions, `info`, `rows` as arrays with cells as in
 * NDJSON, and at the end `overflow`: whether there are more rows than these.
 */
import type { ByteSink } from '../bytes.ts';
import { checkRow, type Row, type Table } from '../columns.ts';
import { toJson } from '../json.ts';
import { cellText } from './ndjson.ts';
import { type About, rowByRow, type TableWriter } from './table_writer.ts';

export function beginJson(out: ByteSink, { columns }: Table, { json }: About): TableWriter {
  const described = columns.map(({ name, type, unit, ucd, description }) => ({ name, type, unit, ucd, description }));
  out.longText(`{"columns": ${toJson(described)}, "info": ${toJson(JSON.parse(json))}, "rows": [`);
  let separator = '\n';
  const row = (cells: Row) => {
    checkRow(columns, cells);
    out.longText(`${separator}[${cells.map((cell, i) => cellText(columns[i]!, cell)).join(', ')}]`);
    separator = ',\n';
  };
  return { row, block: rowByRow(row), end: isCut => out.longText(`\n], "overflow": ${isCut === true}}\n`) };
}
