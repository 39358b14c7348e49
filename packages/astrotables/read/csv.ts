/**
 * CSV as people send it: with commas, semicolons, tabs or bars, perhaps a byte-order mark, and comments before the
 * header. After the header, a line that begins with `#` is a row, as for STILTS and pandas, unless it has no delimiter,
 * such as the last line of VizieR's TSV. The bytes are read in place; only the offsets of the records are stored beside
 * them.
 */
import { type Column, MAX_ROW_BYTES } from '../columns.ts';
import { openDrawn } from './drawn.ts';
import {
  type Block,
  blocksOf,
  checkRows,
  type InputTable,
  numberOf,
  TableError,
  type TableLimits,
} from './input_table.ts';
import { afterHeader, firstLines, rowsTable, splitPreamble, type TextRows, typesOf, withPlace } from './text_rows.ts';
import { openWords, wordsOf } from './words.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** The first line with which spreadsheets state the delimiter. */
const STATED_DELIMITER = /^sep=[,;\t|]\r?\n/i;
/** A first line that is only a time or a span of time: the TNS writes it before the names of the columns. */
const TIME_LINE = /^"?\d{4}-\d\d-\d\d[ T]\d\d:[\d: -]*"?\r?\n/;
const [TAB, SPACE, QUOTE, HASH, LINE_FEED, RETURN] = [0x09, 0x20, 0x22, 0x23, 0x0a, 0x0d];

/**
 * @param areTyped whether columns of numbers become numeric; otherwise every cell is the original text
 * @throws TableError
 */
export function openCsv(sent: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable {
  const { rest: afterComments, fromComment } = splitPreamble(sent);
  const begin = Buffer.from(afterComments.subarray(0, 64)).toString('latin1');
  const before = STATED_DELIMITER.exec(begin) ?? TIME_LINE.exec(begin);
  const rest = afterComments.subarray(before?.[0].length ?? 0);
  const drawn = openDrawn(rest, limits, areTyped);
  if (drawn) return drawn;
  const found = delimiterOf(rest);
  const isNamed = fromComment !== undefined && isHeader(fromComment, found);
  const bytes = isNamed ? fromComment : rest;
  const words = found === undefined ? headerOfWords(bytes, isNamed) : undefined;
  if (words) {
    const end = bytes.indexOf(LINE_FEED);
    const table = end < 0 ? undefined : openWords(words, bytes.subarray(end + 1), limits, areTyped);
    if (!table || table.rows === 0) throw oneLine(bytes);
    return table;
  }
  const delimiter = found ?? ',';
  const csv = new Records(bytes, delimiter.charCodeAt(0), limits, false);
  const units = csv.takeUnits();
  const types = areTyped ? typesOf(csv) : [];
  const columns = csv.header.map((name, i): Column => {
    const unit = units?.[i]?.trim();
    return { name: (name ?? '').trim(), type: types[i]?.type ?? 'text', ...(unit && { unit }), description: '' };
  });
  const table = rowsTable(csv, columns, (text, { type }) => (type === 'int64' ? BigInt(text) : numberOf(text)));
  // A message such as `Forbidden` looks like a header. So does one with a comma, but it seldom has a line end.
  if (csv.rows === 0 && (found === undefined || !bytes.includes(LINE_FEED))) throw oneLine(bytes);
  return { ...table, ...(delimiter === ',' && { csvRow: (row: number) => csv.bytesOf(row) }) };
}

/**
 * Whether a commented first line is the header: numpy and STILTS write the header as a comment, followed by rows
 * without one.
 */
function isHeader(fromComment: Uint8Array, delimiter: string | undefined): boolean {
  const [names, row] = firstLines(fromComment)
    .slice(0, 2)
    .map(line => cut(line, delimiter));
  return names!.length === row?.length && row.some(isNumeric) && !names!.some(isNumeric);
}

/**
 * The words of the first line; undefined if the lines are one column.
 * @param isNamed whether the first line is a comment with as many words as the next line
 * @throws TableError if the text is prose, whose lines differ in their number of words
 */
function headerOfWords(bytes: Uint8Array, isNamed: boolean): string[] | undefined {
  const [names, row] = firstLines(bytes).slice(0, 2).map(wordsOf);
  if (!names || names.length < (isNamed ? 1 : 2)) return undefined;
  if (names.every(isNumeric)) throw noNames();
  if (!row || row.length === names.length) return names.map(name => name ?? '');
  // A column of positions, such as 12 30 49 +12 23 28.
  if (isNumeric(row[0]!)) return undefined;
  throw new TableError(
    `its first line has ${names.length} words without a delimiter, but its second line has ${row.length}: put a column name with blanks into quotes`,
  );
}

/** Whether a text is a number, or begins like a sexagesimal number. */
function isNumeric(text: string | null): boolean {
  return text !== null && (!Number.isNaN(numberOf(text)) || /^\s*[+-]?\d{1,3}[:hd°]\s?\d/.test(text));
}

/** Splits a line roughly into cells: well enough to count them, and to see whether they are numbers. */
function cut(line: string, delimiter: string | undefined): (string | null)[] {
  return delimiter === undefined ? wordsOf(line) : line.replace(/"[^"]*"/g, 'text').split(delimiter);
}

/** The most frequent delimiter of the first line, outside of quotes; undefined if it has none. */
function delimiterOf(bytes: Uint8Array): string | undefined {
  // A name in quotes may contain line ends.
  const line = /^\s*((?:"[^"]*"|[^"\r\n])*)/.exec(firstLines(bytes).join('\n'))![1]!;
  const counts = DELIMITERS.map(delimiter => cut(line, delimiter).length);
  const most = Math.max(...counts);
  return most > 1 ? DELIMITERS[counts.indexOf(most)] : undefined;
}

function oneLine(bytes: Uint8Array): TableError {
  const line = firstLines(bytes)[0]!.trim().slice(0, 40);
  return new TableError(`it has only one line, ${line}: send a header and rows`);
}

function noNames(): TableError {
  return new TableError('its first line has numbers instead of column names');
}

/**
 * The records. They are located once, and can be read any number of times. A field is null if it is empty and not
 * quoted; in ECSV and in a single column, also if it is quoted.
 */
export class Records implements TextRows {
  readonly header: readonly (string | null)[];
  rows = 0;
  readonly #bytes: Buffer;
  /** The character code of the delimiter. */
  readonly #delimiter: number;
  readonly #isEcsv: boolean;
  /** Two offsets per record: its beginning, and its end without the line end. */
  #places = new Uint32Array(1 << 12);

  constructor({ buffer, byteOffset, length }: Uint8Array, delimiter: number, limits: TableLimits, isEcsv: boolean) {
    this.#bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    this.#delimiter = delimiter;
    this.#isEcsv = isEcsv;
    let header: (string | null)[] | undefined;
    for (let at = 0; at < length; ) {
      const { fields, end, next } = this.#record(at);
      if (fields > 1 || end > this.#skipBlanks(at, end)) {
        if (!header) {
          header = new Array(fields).fill(null);
          this.#readFields(at, end, [...header.keys()], (i, text) => (header![i] = text));
        } else if (fields > 1 || header.length === 1 || this.#bytes[at] !== HASH)
          this.#add(at, end, fields, header.length, limits);
      }
      at = next;
    }
    if (!header) throw new TableError('it is empty');
    if (header.every(name => name?.trim() && !Number.isNaN(numberOf(name)))) throw noNames();
    this.header = header;
  }

  /**
   * Removes the line of units and the line of dashes that VizieR writes after the header, or RDB's line of types, such
   * as `10N` and `S`. Returns the units; undefined if there are none. A dash alone, or two, may be the mark of a missing
   * value.
   */
  takeUnits(): readonly (string | null)[] | undefined {
    const every = [...this.header.keys()];
    const [units, dashes] = [0, 1].map(row => {
      const texts = new Array<string | null>(every.length).fill(null);
      if (row < this.rows)
        this.#readFields(this.#places[2 * row]!, this.#places[2 * row + 1]!, every, (i, text) => (texts[i] = text));
      return texts;
    });
    const areTypes = this.#delimiter === TAB && units!.every(text => /^\d*[NSM]$/.test(text ?? ''));
    if (areTypes && units!.some((text, i) => text!.endsWith('N') && isNumeric(dashes![i]!))) this.#skip(1);
    const isRule = /^(?=.*---)-[-\t]*$/.test(dashes!.join('\t')) && dashes!.every(text => text !== null);
    if (!isRule || units!.some(isNumeric)) return undefined;
    this.#skip(2);
    return units;
  }

  #skip(rows: number): void {
    this.#places = this.#places.subarray(2 * rows);
    this.rows -= rows;
  }

  /** The bytes of a row, without the line end. */
  bytesOf(row: number): Uint8Array {
    return this.#bytes.subarray(this.#places[2 * row], this.#places[2 * row + 1]);
  }

  /** The texts of these columns. */
  blocks(wanted: readonly number[]): Iterable<Block> {
    const ascending = wanted.every((place, i) => i === 0 || place > wanted[i - 1]!);
    const order = ascending ? wanted : [...wanted].sort((a, b) => a - b);
    return blocksOf(this.rows, wanted.length, (from, to) => {
      const sorted: (string | null)[][] = order.map(() => new Array(to - from));
      for (let row = from; row < to; row++)
        this.#readFields(this.#places[2 * row]!, this.#places[2 * row + 1]!, order, (i, text) => {
          sorted[i]![row - from] = text;
        });
      return ascending ? sorted : wanted.map(place => sorted[order.indexOf(place)]!);
    });
  }

  #add(at: number, end: number, fields: number, expected: number, limits: TableLimits): void {
    if (fields !== expected)
      throw new TableError(
        `its row ${this.rows + 1} has ${fields} fields, but its header has ${expected}${afterHeader(this.#bytes.toString('latin1', at, at + 1))}`,
      );
    this.#places = withPlace(this.#places, this.rows, at, end);
    checkRows(++this.rows, limits);
  }

  /** Measures the record at an offset. */
  #record(start: number): { readonly fields: number; readonly end: number; readonly next: number } {
    const bytes = this.#bytes;
    let fields = 1;
    let at = this.#fieldEnd(start, bytes.length);
    for (; bytes[at] === this.#delimiter; fields++) at = this.#fieldEnd(at + 1, bytes.length);
    if (at - start > MAX_ROW_BYTES)
      throw new TableError(`one of its rows has more than ${MAX_ROW_BYTES} bytes: is it CSV?`);
    return { fields, end: at > start && bytes[at - 1] === RETURN ? at - 1 : at, next: at + 1 };
  }

  /** The offset of the delimiter, the line feed or the limit that ends a field. */
  #fieldEnd(start: number, limit: number): number {
    const bytes = this.#bytes;
    let at = this.#skipBlanks(start, limit);
    if (bytes[at] === QUOTE && at < limit) at = this.#quoteEnd(at, start) + 1;
    else at = start;
    while (at < limit && bytes[at] !== this.#delimiter && bytes[at] !== LINE_FEED) at++;
    return at;
  }

  /** The offset of the closing quote of a quoted field. */
  #quoteEnd(start: number, field: number): number {
    const bytes = this.#bytes;
    for (let at = start + 1; ; at += 2) {
      at = bytes.indexOf(QUOTE, at);
      if (at >= 0 && bytes[at + 1] !== QUOTE) return at;
      if (at < 0)
        throw new TableError(
          `a quote that begins in its row ${bytes.toString('utf8', field, field + 40)} does not end`,
        );
    }
  }

  #skipBlanks(start: number, limit: number): number {
    let at = start;
    while (at < limit && this.#bytes[at] === SPACE) at++;
    return at;
  }

  /** Calls `take` with the numbers of the records in `wanted`, which ascend, and the texts of these columns. */
  #readFields(
    start: number,
    end: number,
    wanted: readonly number[],
    take: (i: number, text: string | null) => void,
  ): void {
    let at = start;
    for (let i = 0, column = 0; i < wanted.length; column++) {
      const next = this.#fieldEnd(at, end);
      for (; wanted[i] === column; i++) take(i, this.#text(at, next));
      at = next + 1;
    }
  }

  #text(start: number, end: number): string | null {
    if (start === end) return null;
    const bytes = this.#bytes;
    const quote = this.#skipBlanks(start, end);
    if (bytes[quote] !== QUOTE || quote === end) return bytes.toString('utf8', start, end);
    const close = this.#quoteEnd(quote, start);
    const text =
      bytes.toString('utf8', quote + 1, close).replaceAll('""', '"') + bytes.toString('utf8', close + 1, end);
    // In a file with one column, pandas and the writer here mark missing values by quotes.
    return text === '' && (this.#isEcsv || this.header?.length === 1) ? null : text;
  }
}
