/**
 * CSV (RFC 4180, except that lines end with a line feed alone): a null is an empty cell, an empty text two quotes. The
 * same with tabs in place of commas.
 */
import type { ByteSink } from '../base/bytes.ts';
import { type Cell, type Column, checkBlock, checkRow, numberText, type Row, type Table } from './columns.ts';
import { rowByRow, type TableWriter } from './table_writer.ts';
import { timestamp } from './timestamp.ts';

/** Text that must be quoted; text with a space at an end is too, because some readers trim. */
const SPECIAL = /^$|[",\t\r\n]|^\s|\s$/;
const utf8 = new TextEncoder();

export interface CsvWriter extends TableWriter {
  /** Writes rows whose first cells are there as CSV, without the ends of the lines, and the others as columns. */
  blockAfter(first: readonly Uint8Array[], last: readonly ArrayLike<Cell>[]): void;
}

export function beginTsv(out: ByteSink, table: Table): TableWriter {
  return begin(out, table, '\t');
}

export function beginCsv(out: ByteSink, table: Table): CsvWriter {
  return begin(out, table, ',');
}

function begin(out: ByteSink, { columns }: Table, delimiter: string): CsvWriter {
  const write = (text: string) => out.fragment(utf8.encode(text));
  write(`${columns.map(({ name }) => quoted(name)).join(delimiter)}\n`);
  const row = (cells: Row) => {
    checkRow(columns, cells);
    write(`${columns.map((column, i) => cellText(column, cells[i]!)).join(delimiter)}\n`);
  };
  return {
    row,
    block: rowByRow(row),
    blockAfter(first, last) {
      const lastColumns = columns.slice(-last.length);
      const isAscii = lastColumns.every(column => column.type !== 'text' || column.isAscii);
      checkBlock(lastColumns, last);
      first.forEach((cells, row) => {
        out.fragment(cells);
        let text = '';
        for (let i = 0; i < last.length; i++) text += `${delimiter}${cellText(lastColumns[i]!, last[i]![row]!)}`;
        text += '\n';
        if (isAscii) out.text(text);
        else write(text);
      });
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
