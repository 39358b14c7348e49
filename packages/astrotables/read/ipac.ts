/**
 * Reads IPAC tables, as sent by IRSA and the NASA Exoplanet Archive and written by astropy and STILTS. They have up to
 * four header lines between bars (names, types, units, markers of missing values), and rows whose cells lie between the
 * bars (https://irsa.ipac.caltech.edu/applications/DDGEN/Doc/ipac_tbl.html).
 */
import { type Column, type ColumnType, MAX_ROW_BYTES } from '../columns.ts';
import { FRAME_KEYWORDS, framesOfKeywords } from './frame_keywords.ts';
import { type InputTable, numberOf, TableError, type TableLimits } from './input_table.ts';
import { type CellsOfLine, checkHead, firstLines, LineRows, rowsTable, textOf, typesOf } from './text_rows.ts';

/** The types, each of which may be abbreviated, down to its first letter. */
const TYPES = {
  integer: 'int',
  long: 'int',
  double: 'float',
  float: 'float',
  real: 'float',
  char: 'text',
  date: 'text',
};
type Kind = 'int' | 'float' | 'text';
const KEYWORD = new RegExp(`^\\\\\\s*(${FRAME_KEYWORDS.join('|')})\\s*=\\s*['"]?([^'"]*)`, 'i');
const MAX_HEADER_LINES = 4;
const LINE_FEED = 0x0a;

/** Whether the first bytes are an IPAC table, and not CSV with bars as delimiters. */
export function isIpac(bytes: Uint8Array): boolean {
  const [first = '', second = ''] = firstLines(bytes);
  if (first.startsWith('\\')) return true;
  if (!first.startsWith('|')) return false;
  if (!second.includes('|')) return second !== '';
  return namesOf(second).every(type => kindOf(type) !== undefined);
}

/**
 * @param areTyped whether columns of numbers become numeric; otherwise every cell is text
 * @throws TableError
 */
export function openIpac(sent: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable {
  const bytes = textOf(sent);
  const { header, rows, keywords } = headOf(bytes);
  const [first, ...others] = header;
  const names = namesOf(first!);
  const [types = [], units = [], nulls = []] = others.map((line, i) => {
    const cells = i === 0 ? namesOf(line) : cellsBetweenBars(line).map(cell => cell.trim());
    if (cells.length === names.length) return cells;
    throw new TableError(
      `line ${i + 2} of its header has ${cells.length} cells between bars, but line 1 has ${names.length}`,
    );
  });
  const kinds = names.map((_, i) => kindOf(types[i] ?? ''));
  const cells = cellsBelow(barsOf(first!), i => ['', nulls[i], ...(kinds[i] === 'text' ? [] : ['null'])]);
  const lines = new LineRows(rows, names, line => line.startsWith('\\'), cells, limits);
  const found = areTyped ? typesOf(lines) : undefined;
  const columns = names.map((name, i): Column => {
    const unit = units[i];
    const type = found ? typeOf(kinds[i], found[i]!) : 'text';
    return { name, type, ...(unit && { unit }), description: '' };
  });
  return {
    ...rowsTable(lines, columns, (text, { type }) => (type === 'int64' ? BigInt(text) : numberOf(text))),
    declared: framesOfKeywords(keywords),
  };
}

/** The type of a column. If its cells do not fit the declared type, it is text. */
function typeOf(kind: Kind | undefined, { type, isEmpty }: { type: ColumnType; isEmpty: boolean }): ColumnType {
  if (kind === 'text') return 'text';
  if (isEmpty) return kind === 'int' ? 'int64' : kind === 'float' ? 'float64' : 'text';
  return kind === 'float' && type === 'int64' ? 'float64' : type;
}

function kindOf(type: string): Kind | undefined {
  const [, kind] = Object.entries(TYPES).find(([name]) => type !== '' && name.startsWith(type.toLowerCase())) ?? [];
  return kind as Kind | undefined;
}

/** The header lines between bars, the bytes after them, and the keywords about frames. */
function headOf(bytes: Uint8Array) {
  const header: string[] = [];
  const keywords = new Map<string, string>();
  let [at, lines] = [0, 0];
  for (let next = at; at < bytes.length; at = next) {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    next = lineFeed < 0 ? bytes.length : lineFeed + 1;
    if (next - at > MAX_ROW_BYTES) throw new TableError(`a line of its head has more than ${MAX_ROW_BYTES} bytes`);
    checkHead(at, ++lines);
    const line = Buffer.from(bytes.subarray(at, next)).toString('utf8').trimEnd();
    const [, keyword, value] = KEYWORD.exec(line) ?? [];
    if (keyword !== undefined) keywords.set(keyword, value!);
    else if (line.startsWith('|')) header.push(line);
    else if (line !== '' && !line.startsWith('\\')) break;
  }
  if (header.length === 0)
    throw new TableError('it begins with \\ like an IPAC table, but has no line with column names between bars');
  if (header.length > MAX_HEADER_LINES)
    throw new TableError(
      `its header has ${header.length} lines between bars, but an IPAC table has ${MAX_HEADER_LINES}: names, types, units and nulls`,
    );
  return { header, rows: bytes.subarray(at), keywords };
}

function cellsBetweenBars(line: string): string[] {
  return line.trimEnd().replace(/\|$/, '').split('|').slice(1);
}

/** Names or types; both may be surrounded by dashes. */
function namesOf(line: string): string[] {
  return cellsBetweenBars(line).map(cell => cell.replace(/^[ -]+|[ -]+$/g, ''));
}

/** The offsets of the bars in a line; the last bar may be missing. */
function barsOf(line: string): number[] {
  const bars = [...line.matchAll(/\|/g)].map(({ index }) => index);
  return line.endsWith('|') ? bars : [...bars, line.length];
}

/**
 * The cells of a line. A word that extends under a bar belongs to the column of its other characters. Text after the
 * last bar belongs to the last column.
 * @param nullsOf the texts that mark a missing value in a column
 */
function cellsBelow(
  bars: readonly number[],
  nullsOf: (column: number) => readonly (string | undefined)[],
): CellsOfLine {
  const isText = (line: string, at: number) => at >= 0 && at < line.length && line[at] !== ' ';
  const nulls = bars.slice(1).map((_, column) => new Set(nullsOf(column)));
  const last = nulls.length - 1;
  return (line, wanted, row) =>
    wanted.map(column => {
      let [start, end] = [bars[column]!, bars[column + 1]!];
      if (!isText(line, start)) start++;
      else if (isText(line, start - 1) === isText(line, start + 1))
        throw new TableError(
          `its row ${row} has ${line.slice(Math.max(0, start - 20), start + 20).trim()} under a bar of the header, so it is unclear which column it belongs to`,
        );
      else if (isText(line, start - 1)) start++;
      if (isText(line, end) && isText(line, end - 1)) end++;
      const text = line.slice(start, column === last ? undefined : end).trim();
      return nulls[column]!.has(text) ? null : text;
    });
}
