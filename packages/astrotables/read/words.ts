/**
 * Reads tables of words separated by blanks, as STILTS (`ascii`), astropy (`basic`, `commented_header`) and numpy write
 * them.
 */
import type { Column } from '../columns.ts';
import { type InputTable, numberOf, TableError, type TableLimits } from './input_table.ts';
import { type CellsOfLine, LineRows, rowsTable, typesOf } from './text_rows.ts';

/** A word in quotes may contain blanks. STILTS writes a quote in it as `\"`, astropy as `""`. */
const WORD = /\s*(?:"((?:[^"\\]|\\.|"")*)"(?=\s|$)|'((?:[^'\\]|\\.|'')*)'(?=\s|$)|(\S+))/y;
const ESCAPED = /\\(["'#\\])|""|''/g;

/** The words of a line; null for a marker of a missing value. */
export function wordsOf(line: string): (string | null)[] {
  const words: (string | null)[] = [];
  WORD.lastIndex = 0;
  for (let found = WORD.exec(line); found; found = WORD.exec(line)) {
    const [, double, single, plain] = found;
    const quoted = double ?? single;
    const word = quoted === undefined ? plain! : quoted.replace(ESCAPED, (two, escaped) => escaped ?? two[0]);
    words.push(word === '' || plain === 'null' ? null : word);
  }
  return words;
}

/**
 * @param header the names of the columns
 * @param rows the bytes after it
 * @param areTyped whether columns of numbers become numeric; otherwise every cell is the original text
 * @throws TableError
 */
export function openWords(
  header: readonly string[],
  rows: Uint8Array,
  limits: TableLimits,
  areTyped: boolean,
): InputTable {
  const cells: CellsOfLine = (line, wanted, row) => {
    const words = wordsOf(line);
    if (words.length !== header.length)
      throw new TableError(
        `its row ${row} has ${words.length} words separated by blanks, but its header has ${header.length}`,
      );
    return wanted.map(place => words[place]!);
  };
  const lines = new LineRows(rows, header, line => line.startsWith('#'), cells, limits);
  const types = areTyped ? typesOf(lines).map(({ type }) => type) : header.map(() => 'text' as const);
  const columns = header.map((name, i): Column => ({ name, type: types[i]!, description: '' }));
  return rowsTable(lines, columns, (text, { type }) => (type === 'int64' ? BigInt(text) : numberOf(text)));
}
