/** CSV (RFC 4180, except that lines end with a line feed alone): a null is an empty cell, an empty text two quotes. */
import type { ByteSink } from '../base/bytes.ts';
import { type Cell, type Column, checkRow, numberText, type Row, type Table } from './columns.ts';
import type { TableWriter } from './table_writer.ts';
import { timestamp } from './timestamp.ts';

/** Text that must be quoted; text with a space at an end is too, because some readers trim. */
const SPECIAL = /^$|[",\r\n]|^\s|\s$/;
const utf8 = new TextEncoder();

export function beginCsv(out: ByteSink, { columns }: Table): TableWriter {
  const line = (cells: readonly string[]) => out.fragment(utf8.encode(`${cells.join(',')}\n`));
  line(columns.map(({ name }) => quoted(name)));
  return {
    row(cells: Row) {
      checkRow(columns, cells);
      line(columns.map((column, i) => cellText(column, cells[i]!)));
    },
    end: () => {},
  };
}

function cellText({ type }: Column, cell: Cell): string {
  if (cell === null) return '';
  if (type === 'text') return quoted(cell as string);
  if (type === 'time') return timestamp(cell as number);
  if (typeof cell === 'number') return Number.isNaN(cell) ? '' : numberText(cell, type);
  return `${cell}`;
}

function quoted(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
