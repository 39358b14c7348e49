/**
 * One JSON document: `columns` with their types, units, UCDs and descriptions, `info`, `rows` as arrays with cells as in
 * NDJSON, and at the end `overflow`: whether there are more rows than these.
 */
import type { ByteSink } from '../base/bytes.ts';
import { toJson } from '../base/json_text.ts';
import { checkRow, type Row, type Table } from './columns.ts';
import { cellText } from './ndjson.ts';
import { rowByRow, type TableWriter } from './table_writer.ts';

export function beginJson(out: ByteSink, { columns }: Table, about: string): TableWriter {
  const described = columns.map(({ name, type, unit, ucd, description }) => ({ name, type, unit, ucd, description }));
  out.longText(`{"columns": ${toJson(described)}, "info": ${toJson(JSON.parse(about))}, "rows": [`);
  let separator = '\n';
  const row = (cells: Row) => {
    checkRow(columns, cells);
    out.longText(`${separator}[${cells.map((cell, i) => cellText(columns[i]!, cell)).join(', ')}]`);
    separator = ',\n';
  };
  return { row, block: rowByRow(row), end: isCut => out.longText(`\n], "overflow": ${isCut === true}}\n`) };
}
