/**
 * A FITS binary table (FITS 4.0, section 7.3), in the first extension. A character that is not ASCII becomes a question
 * mark. A null is NaN, a blank text, or the number in TNULL. Times are texts without their Z, because TIMESYS says UTC.
 */
import type { ByteSink } from '../bytes.ts';
import { type Cell, type Column, checkRow, type Row, type Table } from '../columns.ts';
import { CARD, tableHeaders, wholeBlocks } from '../fits/write_header.ts';
import { timestamp } from '../timestamp.ts';

const TIME_CHARACTERS = '2026-01-31T12:00:00.000000'.length;
const INT64_NULL = -(2n ** 63n);
const INT32_NULL = -(2 ** 31);
const MAX_BYTES = 2 ** 32;
/** The maximum number of columns (section 7.3.1). */
const MAX_COLUMNS = 999;

/** The facts about the rows that the header contains, and that must be known before the first row. */
export interface FitsRows {
  readonly rows: number;
  /** For each column, the maximum length of its texts, and whether it has nulls. */
  readonly columns: readonly { readonly characters: number; readonly hasNulls: boolean }[];
}

/**
 * Writes the header. Then exactly as many rows as it states must follow.
 * @param infos keywords and their values
 * @param history lines of any length
 * @throws RangeError if FITS cannot hold such a table
 */
export function beginFits(
  out: ByteSink,
  { name, columns }: Table,
  { rows, columns: contents }: FitsRows,
  infos: Readonly<Record<string, string>>,
  history: string,
): { row(cells: Row): void; end(): void } {
  if (columns.length > MAX_COLUMNS) throw new RangeError(`a FITS table has at most ${MAX_COLUMNS} columns`);
  const widths = columns.map(({ type }, i) => widthOf(type, contents[i]!.characters));
  const width = widths.reduce((sum, each) => sum + each, 0);
  if (width * rows > MAX_BYTES)
    throw new RangeError(`the rows have ${width * rows} bytes as FITS: ask for fewer rows or texts, or another format`);
  const columnFacts = columns.map((column, i) => columnCards(column, i + 1, widths[i]!, contents[i]!.hasNulls));
  const cards = {
    EXTNAME: cardText(name),
    ...Object.assign({}, ...columnFacts),
    TIMESYS: 'UTC',
    ...Object.fromEntries(Object.entries(infos).map(([keyword, value]) => [keyword, cardText(value)])),
  };
  const lines = ascii(history).match(/.{1,70}/g) ?? [];
  out.longText(tableHeaders({ width, rows, columns: columns.length }, cards, lines));
  const bytes = Buffer.alloc(width);
  return {
    row(cells) {
      checkRow(columns, cells);
      let at = 0;
      for (let i = 0; i < columns.length; i++) {
        writeCell(bytes, at, widths[i]!, columns[i]!, cells[i]!);
        at += widths[i]!;
      }
      out.fragment(bytes);
    },
    end: () => out.fragment(new Uint8Array(wholeBlocks(width * rows) - width * rows)),
  };
}

const BYTES = { int64: 8, int32: 4, float64: 8, float32: 4, boolean: 1, time: TIME_CHARACTERS } as const;
const LETTERS = { int64: 'K', int32: 'J', float64: 'D', float32: 'E', boolean: 'L' } as const;

function widthOf(type: Column['type'], characters: number): number {
  return type === 'text' ? Math.max(1, characters) : BYTES[type];
}

function columnCards({ name, type, unit, ucd, description }: Column, n: number, width: number, hasNulls: boolean) {
  const isText = type === 'text' || type === 'time';
  return {
    [`TTYPE${n}`]: cardText(name),
    [`TFORM${n}`]: isText ? `${width}A` : LETTERS[type],
    ...(unit && { [`TUNIT${n}`]: cardText(unit) }),
    ...(ucd && { [`TUCD${n}`]: cardText(ucd) }),
    ...(hasNulls && type === 'int64' && { [`TNULL${n}`]: INT64_NULL }),
    ...(hasNulls && type === 'int32' && { [`TNULL${n}`]: INT32_NULL }),
    [`TCOMM${n}`]: cardText(description),
  };
}

function writeCell(bytes: Buffer, at: number, width: number, { type }: Column, cell: Cell): void {
  if (type === 'int64') bytes.writeBigInt64BE((cell as bigint | null) ?? INT64_NULL, at);
  else if (type === 'int32') bytes.writeInt32BE((cell as number | null) ?? INT32_NULL, at);
  else if (type === 'float64') bytes.writeDoubleBE((cell as number | null) ?? Number.NaN, at);
  else if (type === 'float32') bytes.writeFloatBE((cell as number | null) ?? Number.NaN, at);
  else if (type === 'boolean') bytes[at] = cell === null ? 0 : (cell ? 'T' : 'F').charCodeAt(0);
  else {
    const text = cell === null ? '' : type === 'time' ? timestamp(cell as number).slice(0, -1) : ascii(cell as string);
    bytes.fill(0, at, at + width);
    bytes.write(text, at, width, 'latin1');
  }
}

/** Replaces characters that are not ASCII by one question mark each. */
function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, '?');
}

/** The text as ASCII, truncated if it is too long for a card. */
function cardText(value: string): string {
  let text = ascii(value);
  while (text.replaceAll("'", "''").length > CARD - 12) text = text.slice(0, -1);
  return text;
}
