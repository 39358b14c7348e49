/**
 * CSV (RFC 4180, except that lines end with a line feed only): a null is an empty cell, an empty text is two quotes.
 * If there is only one column, a null is two quotes, too. Also writes tabs instead of commas.
 */
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, checkBlock, checkRow, numberText, type Row, type Table } from '../columns.ts';
import { writeTimestamp } from '../timestamp.ts';
import type { TableWriter } from './table_writer.ts';

/** Text that must be quoted. Text that begins or ends with a space is included, because some readers trim. */
const SPECIAL = /^$|[",\t\r\n]|^\s|\s$/;
export interface CsvWriter extends TableWriter {
  /**
   * Writes rows as CSV. The first cells of each row are already CSV, without line ends; the other cells come as
   * columns.
   */
  blockAfter(first: readonly Uint8Array[], last: readonly ArrayLike<Cell>[]): void;
}

export function beginTsv(out: ByteSink, table: Table): TableWriter {
  return begin(out, table, '\t');
}

export function beginCsv(out: ByteSink, table: Table): CsvWriter {
  return begin(out, table, ',');
}

const LINE_FEED = 0x0a;

function begin(out: ByteSink, { columns }: Table, delimiter: string): CsvWriter {
  const separator = delimiter.charCodeAt(0);
  const writeOwn = columns.length === 1 ? writeOnly : writeCell;
  out.utf8(columns.map(({ name }) => quoted(name)).join(delimiter));
  out.byte(LINE_FEED);
  const row = (cells: Row) => {
    checkRow(columns, cells);
    for (let i = 0; i < columns.length; i++) {
      if (i > 0) out.byte(separator);
      writeOwn(out, columns[i]!, cells[i]!);
    }
    out.byte(LINE_FEED);
  };
  return {
    row,
    block(cells) {
      checkBlock(columns, cells);
      for (let at = 0; at < cells[0]!.length; at++) {
        for (let i = 0; i < columns.length; i++) {
          if (i > 0) out.byte(separator);
          writeOwn(out, columns[i]!, cells[i]![at]!);
        }
        out.byte(LINE_FEED);
      }
    },
    blockAfter(first, last) {
      const lastColumns = columns.slice(-last.length);
      checkBlock(lastColumns, last);
      first.forEach((cells, row) => {
        out.fragment(cells);
        for (let i = 0; i < last.length; i++) {
          out.byte(separator);
          writeCell(out, lastColumns[i]!, last[i]![row]!);
        }
        out.byte(LINE_FEED);
      });
    },
    end: () => {},
  };
}

function writeCell(out: ByteSink, { type }: Column, cell: Cell): void {
  if (cell === null) return;
  if (type === 'text') out.utf8(quoted(cell as string));
  else if (type === 'time') writeTimestamp(out, cell as number);
  else if (typeof cell !== 'number') out.text(`${cell}`);
  else if (type !== 'float32' && Number.isFinite(cell) && !Object.is(cell, -0)) out.number(cell);
  else if (!Number.isNaN(cell)) out.text(numberText(cell, type));
}

/** The only cell of a row. Readers skip blank lines, so an empty cell becomes two quotes. */
function writeOnly(out: ByteSink, column: Column, cell: Cell): void {
  const before = out.length;
  writeCell(out, column, cell);
  if (out.length === before) out.text('""');
}

function quoted(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
