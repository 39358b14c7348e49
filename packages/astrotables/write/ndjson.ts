/**
 * One JSON object per line, with every column: 64-bit integers as plain numbers, times as text, null for numbers that
 * are not finite.
 */
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, checkRow, numberText, type Row, type Table } from '../columns.ts';
import { toJson } from '../json.ts';
import { timestamp } from '../timestamp.ts';
import { rowByRow, type TableWriter } from './table_writer.ts';

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

export function cellText({ type }: Column, cell: Cell): string {
  if ((type === 'float32' && Number.isFinite(cell)) || Object.is(cell, -0)) return numberText(cell as number, type);
  return toJson(type === 'time' && cell !== null ? timestamp(cell as number) : cell);
}
