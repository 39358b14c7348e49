/** JSON: an object per line, or one document. */
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, checkRow, numberText, type Row, type Table } from '../columns.ts';
import { toJson } from '../json.ts';
import { timestamp } from '../timestamp.ts';
import { type About, rowByRow, type TableWriter } from './table_writer.ts';

/**
 * One JSON object per line, with every column: 64-bit integers as plain numbers, times as text, null for numbers that
 * are not finite.
 */
export function beginNdjson(out: ByteSink, { columns }: Table): TableWriter {
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ', '}${toJson(name)}: `);
  const row = (cells: Row) => {
    checkRow(columns, cells);
    let line = '';
    for (let i = 0; i < columns.length; i++) line += keys[i] + cellText(columns[i]!, cells[i]!);
    out.longText(`${line}}\n`);
  };
  return { row, block: rowByRow(row), end: () => {} };
}

function cellText({ type }: Column, cell: Cell): string {
  if ((type === 'float32' && Number.isFinite(cell)) || Object.is(cell, -0)) return numberText(cell as number, type);
  return toJson(type === 'time' && cell !== null ? timestamp(cell as number) : cell);
}

/**
 * One JSON document: `columns` with their types, units, UCDs and descriptions, `info`, `rows` as arrays with cells as in
 * NDJSON, and at the end `overflow`: whether there are more rows than these.
 */
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
