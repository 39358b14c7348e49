/**
 * CSV as people send it: with commas, semicolons, tabs or bars, a byte-order mark, lines of comments before the header
 * (after it, a line that begins with `#` is a row, as STILTS and pandas read it). Read in place: all that is kept beside the bytes is
 * where each record lies.
 */
import type { Cell, Column } from '../tables/columns.ts';
import {
  type Block,
  blocksOf,
  checkRows,
  distinct,
  type InputTable,
  numberOf,
  TableError,
  type TableLimits,
  TypeOfTexts,
} from './input_table.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const MAX_RECORD_BYTES = 1 << 20;
/** The bytes that are decoded at once to see whether they are text. */
const CHUNK_BYTES = 1 << 18;
const [SPACE, QUOTE, COMMA, HASH, LINE_FEED, RETURN] = [0x20, 0x22, 0x2c, 0x23, 0x0a, 0x0d];

/**
 * @param areTyped whether a column of numbers is to become one; else every cell is the text that was sent
 * @throws TableError
 */
export function openCsv(sent: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable {
  const { rest } = splitPreamble(sent);
  const delimiter = delimiterOf(rest);
  const csv = new Records(rest, delimiter.charCodeAt(0), limits, false);
  const types = areTyped ? typesOf(csv) : csv.header.map(() => 'text' as const);
  const columns = csv.header.map(
    (name, i): Column => ({ name: (name ?? '').trim(), type: types[i]!, description: '' }),
  );
  return recordsTable(csv, columns, cellOf);
}

/** @param cellOf the cell of a text */
export function recordsTable(
  csv: Records,
  columns: readonly Column[],
  cellOf: (text: string, column: Column) => Cell,
): InputTable {
  return {
    format: 'csv',
    columns: distinct(columns),
    rows: csv.rows,
    *blocks(wanted) {
      for (const { cells, ...block } of csv.blocks(wanted))
        yield {
          ...block,
          cells: cells.map((texts, i) => {
            const column = columns[wanted[i]!]!;
            if (column.type === 'text') return texts;
            return (texts as (string | null)[]).map(text => (text === null ? null : cellOf(text, column)));
          }),
        };
    },
    ...(csv.delimiter === COMMA && { csvRow: row => csv.bytesOf(row) }),
  };
}

function cellOf(text: string, { type }: Column): Cell {
  return type === 'int64' ? BigInt(text) : numberOf(text);
}

/** The types of the columns, by all of their texts. */
export function typesOf(csv: Records): Column['type'][] {
  const every = csv.header.map((_, place) => place);
  const types = every.map(() => new TypeOfTexts());
  for (const { rows, cells } of csv.blocks(every))
    types.forEach((type, i) => {
      for (let row = 0; row < rows; row++) if (cells[i]![row] !== null) type.add(cells[i]![row] as string);
    });
  return types.map(({ type }) => type);
}

/** The bytes, with line feeds where every line ends with a carriage return alone, as in CSV of old Macintoshes. */
function withLineFeeds(bytes: Uint8Array): Uint8Array {
  if (bytes.includes(LINE_FEED) || !bytes.includes(RETURN)) return bytes;
  return Uint8Array.from(bytes, byte => (byte === RETURN ? LINE_FEED : byte));
}

function checkText(bytes: Uint8Array): void {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
      decoder.decode(bytes.subarray(from, from + CHUNK_BYTES), { stream: true });
    decoder.decode();
  } catch {
    throw new TableError(
      'it is neither text in UTF-8 nor a table of a known format: send CSV, NDJSON, VOTable, FITS, Parquet or Arrow, with gzip or without',
    );
  }
}

/**
 * The lines before the header, which are comments or blank, and the bytes from the header on. A byte-order mark is dropped.
 * @throws TableError where the bytes are no text in UTF-8
 */
export function splitPreamble(sent: Uint8Array): { readonly lines: readonly string[]; readonly rest: Uint8Array } {
  checkText(sent);
  const bytes = withLineFeeds(sent);
  const lines: string[] = [];
  let end = BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length)) ? BYTE_ORDER_MARK.length : 0;
  while (end < bytes.length) {
    const lineFeed = bytes.indexOf(LINE_FEED, end);
    const next = lineFeed < 0 ? bytes.length : lineFeed + 1;
    if (bytes[end] !== HASH && !isBlank(bytes, end, next)) break;
    lines.push(new TextDecoder().decode(bytes.subarray(end, next)).replace(/\r?\n$/, ''));
    end = next;
  }
  return { lines, rest: bytes.subarray(end) };
}

/** Whether a line has only spaces before its end. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (bytes[at] === SPACE) at++;
  if (bytes[at] === RETURN) at++;
  return at === to || bytes[at] === LINE_FEED;
}

/** The delimiter that the first line has most often, outside of quotes. */
function delimiterOf(bytes: Uint8Array): string {
  const head = new TextDecoder().decode(bytes.subarray(0, CHUNK_BYTES));
  const first = head.split(/\r\n|\n|\r/).find(line => line.trim() !== '') ?? '';
  const counts = DELIMITERS.map(delimiter => first.replace(/"[^"]*"/g, '').split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

/** The records, found once and read as often as they are asked for. A field is null where it is empty, and not quoted or of ECSV. */
export class Records {
  readonly header: readonly (string | null)[];
  rows = 0;
  readonly #bytes: Buffer;
  /** The code of its character. */
  readonly delimiter: number;
  readonly #isEcsv: boolean;
  /** Two offsets a record: where it begins and where it ends, without the end of its line. */
  #places = new Uint32Array(1 << 12);

  constructor({ buffer, byteOffset, length }: Uint8Array, delimiter: number, limits: TableLimits, isEcsv: boolean) {
    this.#bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    this.delimiter = delimiter;
    this.#isEcsv = isEcsv;
    let header: (string | null)[] | undefined;
    for (let at = 0; at < length; ) {
      const { fields, end, next } = this.#record(at);
      if (fields > 1 || end > this.#skipBlanks(at, end)) {
        if (!header) {
          header = new Array(fields).fill(null);
          this.#readFields(at, end, [...header.keys()], (i, text) => (header![i] = text));
        } else this.#add(at, end, fields, header.length, limits);
      }
      at = next;
    }
    if (!header) throw new TableError('it is empty');
    if (header.every(name => name?.trim() && !Number.isNaN(numberOf(name))))
      throw new TableError('its first line has numbers, where the names of its columns must be');
    this.header = header;
  }

  /** The bytes of a row, without the end of its line. */
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
        `its row ${this.rows + 1} has ${fields} fields, where its header has ${expected}${this.#bytes[at] === HASH ? ': a comment must stand before the header' : ''}`,
      );
    if (2 * this.rows === this.#places.length) {
      const grown = new Uint32Array(2 * this.#places.length);
      grown.set(this.#places);
      this.#places = grown;
    }
    this.#places[2 * this.rows] = at;
    this.#places[2 * this.rows + 1] = end;
    checkRows(++this.rows, limits);
  }

  /** Measures the record that begins at an offset. */
  #record(start: number): { readonly fields: number; readonly end: number; readonly next: number } {
    const bytes = this.#bytes;
    let fields = 1;
    let at = this.#fieldEnd(start, bytes.length);
    for (; bytes[at] === this.delimiter; fields++) at = this.#fieldEnd(at + 1, bytes.length);
    if (at - start > MAX_RECORD_BYTES)
      throw new TableError(`a row of it has more than ${MAX_RECORD_BYTES} bytes: is it CSV?`);
    return { fields, end: at > start && bytes[at - 1] === RETURN ? at - 1 : at, next: at + 1 };
  }

  /** The offset of the delimiter, the line feed or the limit that ends a field. */
  #fieldEnd(start: number, limit: number): number {
    const bytes = this.#bytes;
    let at = this.#skipBlanks(start, limit);
    if (bytes[at] === QUOTE && at < limit) at = this.#quoteEnd(at, start) + 1;
    else at = start;
    while (at < limit && bytes[at] !== this.delimiter && bytes[at] !== LINE_FEED) at++;
    return at;
  }

  /** The offset of the quote that ends a text which a quote begins. */
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

  /** Calls `take` with the places in `wanted`, which ascend, and the texts of these columns. */
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
    return this.#isEcsv && text === '' ? null : text;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
