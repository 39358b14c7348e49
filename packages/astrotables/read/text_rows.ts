/** The common part of text formats, regardless of how their lines are cut into cells. */
import { isAllocationFailure } from '../bytes.ts';
import { type Cell, type Column, MAX_ROW_BYTES } from '../columns.ts';
import {
  type Block,
  blocksOf,
  checkRows,
  distinct,
  type InputTable,
  TableError,
  type TableLimits,
  TypeOfTexts,
} from './input_table.ts';

/** The maximum size and number of lines of a head: ECSV with 2,000 columns needs a tenth of the bytes, half of the lines. */
const MAX_HEAD_BYTES = 4 << 20;
const MAX_HEAD_LINES = 50_000;
/** The number of bytes that are decoded at once to check that they are text. */
const CHUNK_BYTES = 1 << 18;
const [SPACE, HASH, LINE_FEED, RETURN] = [0x20, 0x23, 0x0a, 0x0d];
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Rows whose cells are texts; they can be read any number of times. */
export interface TextRows {
  readonly header: readonly (string | null)[];
  readonly rows: number;
  /** The texts of these columns; null if one is missing. */
  blocks(wanted: readonly number[]): Iterable<Block>;
}

/** @param cellOf converts a text to a cell, in a column that is not text */
export function rowsTable(
  texts: TextRows,
  columns: readonly Column[],
  cellOf: (text: string, column: Column) => Cell,
): InputTable {
  return {
    format: 'csv',
    columns: distinct(columns),
    rows: texts.rows,
    *blocks(wanted) {
      for (const { cells, ...block } of texts.blocks(wanted))
        yield {
          ...block,
          cells: cells.map((texts, i) => {
            const column = columns[wanted[i]!]!;
            if (column.type === 'text') return texts;
            return (texts as (string | null)[]).map(text => (text === null ? null : cellOf(text, column)));
          }),
        };
    },
  };
}

/** The types of the columns, determined from all their texts. */
export function typesOf(texts: TextRows): TypeOfTexts[] {
  const every = texts.header.map((_, place) => place);
  const types = every.map(() => new TypeOfTexts());
  for (const { rows, cells } of texts.blocks(every))
    types.forEach((type, i) => {
      for (let row = 0; row < rows; row++) if (cells[i]![row] !== null) type.add(cells[i]![row] as string);
    });
  return types;
}

/** Rows of one line each. Blank lines are skipped. */
export class LineRows implements TextRows {
  readonly header: readonly string[];
  rows = 0;
  readonly #bytes: Buffer;
  readonly #cells: CellsOfLine;
  /** Two offsets per row: the beginning and the end of its line. */
  #places = new Uint32Array(1 << 12);

  /**
   * @param bytes from the first row on, as `textOf` returns them
   * @param isOther whether a line is not a row
   * @throws TableError
   */
  constructor(
    { buffer, byteOffset, length }: Uint8Array,
    header: readonly string[],
    isOther: (line: string) => boolean,
    cells: CellsOfLine,
    limits: TableLimits,
  ) {
    this.header = header;
    this.#bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    this.#cells = cells;
    const every = [...header.keys()];
    let others = 0;
    for (let at = 0; at < length; ) {
      const lineFeed = this.#bytes.indexOf(LINE_FEED, at);
      const end = lineFeed < 0 ? length : lineFeed;
      if (end - at > MAX_ROW_BYTES) throw new TableError(`one of its rows has more than ${MAX_ROW_BYTES} bytes`);
      const line = withoutEnd(this.#bytes.toString('utf8', at, end));
      if (line.trim() !== '' && !isOther(line)) {
        this.#places = withPlace(this.#places, this.rows, at, end);
        checkRows(++this.rows, limits);
        cells(line, every, this.rows);
      } else if (++others > limits.maxRows)
        throw new TableError(`it has more than ${limits.maxRows} lines that are blank or comments between its rows`);
      at = end + 1;
    }
  }

  blocks(wanted: readonly number[]): Iterable<Block> {
    return blocksOf(this.rows, wanted.length, (from, to) => {
      const columns: (string | null)[][] = wanted.map(() => new Array(to - from));
      for (let row = from; row < to; row++) {
        const line = withoutEnd(this.#bytes.toString('utf8', this.#places[2 * row], this.#places[2 * row + 1]));
        const cells = this.#cells(line, wanted, row + 1);
        for (let i = 0; i < wanted.length; i++) columns[i]![row - from] = cells[i]!;
      }
      return columns;
    });
  }
}

/** A line without blanks at its end. A tab there may be a delimiter. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\r')) end--;
  return line.slice(0, end);
}

/** The remedy for a line of another table, or a comment, after the header. */
export function afterHeader(line: string): string {
  return line.startsWith('#') ? ': a comment must stand before the header, another table in a file of its own' : '';
}

/** Stores the two offsets of a row. Returns the array, or a copy of twice its length if it was full. */
export function withPlace(places: Uint32Array<ArrayBuffer>, row: number, begin: number, end: number) {
  let kept = places;
  if (2 * row === places.length) {
    kept = new Uint32Array(2 * places.length);
    kept.set(places);
  }
  kept[2 * row] = begin;
  kept[2 * row + 1] = end;
  return kept;
}

/**
 * The cells of these columns in a line without trailing blanks; null if one is missing.
 * @param row its number, from 1 on, for messages
 * @throws TableError if the line is not a valid row
 */
export type CellsOfLine = (line: string, wanted: readonly number[], row: number) => readonly (string | null)[];

/**
 * The text in UTF-8 without a byte-order mark, with line feeds if all lines end with a carriage return only.
 * @throws TableError if the bytes are not text in UTF-8 or Windows-1252
 */
export function textOf(sent: Uint8Array): Uint8Array {
  const bytes = withLineFeeds(inUtf8(sent));
  return BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length))
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;
}

/** The bytes with line feeds, if all lines end with a carriage return only, as in CSV of old Macintoshes. */
function withLineFeeds(bytes: Uint8Array): Uint8Array {
  if (bytes.includes(LINE_FEED) || !bytes.includes(RETURN)) return bytes;
  return Uint8Array.from(bytes, byte => (byte === RETURN ? LINE_FEED : byte));
}

function inUtf8(bytes: Uint8Array): Uint8Array {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
      decoder.decode(bytes.subarray(from, from + CHUNK_BYTES), { stream: true });
    decoder.decode();
    if (isBinary(bytes.subarray(0, HEAD_BYTES))) throw new Error('it has too many control characters');
    return bytes;
  } catch (error) {
    if (isAllocationFailure(error)) throw error;
    const text = new TextDecoder('windows-1252').decode(bytes);
    if (!CONTROL.test(text) && !LIKE_UTF8.test(text)) return new TextEncoder().encode(text);
    throw new TableError(
      'it is neither text in UTF-8 nor a table of a known format: send CSV, IPAC, NDJSON, VOTable, FITS, Parquet or Arrow, with gzip or without',
    );
  }
}

/** Excel writes CSV in Windows-1252. Such text has no control characters but white space. */
const CONTROL = /[^\P{Cc}\s]/u;
/** UTF-8 beyond ASCII, read as Windows-1252: the text is then damaged UTF-8. */
const LIKE_UTF8 = /[\u00c2-\u00f4][^\0-~\u00c0-\u00ff]/;

const HEAD_BYTES = 1024;
/** The share of control characters (except tabs and line ends) from which on the bytes do not count as text. */
const BINARY_SHARE = 0.1;

function isBinary(head: Uint8Array): boolean {
  const controls = head.reduce((count, byte) => count + Number(byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d)), 0);
  return controls > BINARY_SHARE * head.length;
}

export interface Preamble {
  /** The lines before the header, which are comments or blank. */
  readonly lines: readonly string[];
  readonly rest: Uint8Array;
  /** The bytes from the last comment on, after its `#`; undefined if there is no comment. */
  readonly fromComment: Uint8Array | undefined;
}

/** @throws TableError as `textOf` */
export function splitPreamble(sent: Uint8Array): Preamble {
  const bytes = textOf(sent);
  const lines: string[] = [];
  let [end, comment] = [0, -1];
  while (end < bytes.length) {
    const lineFeed = bytes.indexOf(LINE_FEED, end);
    const next = lineFeed < 0 ? bytes.length : lineFeed + 1;
    if (bytes[end] === HASH) comment = end + 1;
    else if (!isBlank(bytes, end, next)) break;
    checkHead(next, lines.length + 1);
    lines.push(new TextDecoder().decode(bytes.subarray(end, next)).replace(/\r?\n$/, ''));
    end = next;
  }
  return { lines, rest: bytes.subarray(end), fromComment: comment < 0 ? undefined : bytes.subarray(comment) };
}

/** @throws TableError if the lines before the rows exceed a limit */
export function checkHead(bytes: number, lines: number): void {
  if (bytes > MAX_HEAD_BYTES) throw new TableError(`its head has more than ${MAX_HEAD_BYTES} bytes`);
  if (lines > MAX_HEAD_LINES) throw new TableError(`its head has more than ${MAX_HEAD_LINES} lines`);
}

/** Whether a line has only spaces before its end. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (bytes[at] === SPACE) at++;
  if (bytes[at] === RETURN) at++;
  return at === to || bytes[at] === LINE_FEED;
}

/** The first lines that are not blank, each with the offset after it. */
export function linesOf(bytes: Uint8Array, most: number): { readonly text: string; readonly end: number }[] {
  const lines: { text: string; end: number }[] = [];
  const limit = Math.min(bytes.length, CHUNK_BYTES);
  for (let at = 0; at < limit && lines.length < most; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    const text = new TextDecoder().decode(bytes.subarray(at, Math.min(end, limit))).trimEnd();
    if (text !== '') lines.push({ text, end });
    at = end;
  }
  return lines;
}

/** The first lines that are not blank, up to this many bytes in total. */
export function firstLines(bytes: Uint8Array): readonly string[] {
  const head = new TextDecoder().decode(bytes.subarray(0, CHUNK_BYTES));
  return head.split(/\r\n|\n|\r/, MAX_FIRST_LINES).filter(line => line.trim() !== '');
}

const MAX_FIRST_LINES = 100;
