/** Reads the CSV of a public TNS file into registry objects. */

import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { parseTime } from '../../core/base/parse_time.ts';
import { DECIMAL } from '../../core/contract/kind.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import { parseTimeLine, RegistryError, type TimeSpan } from './registry_file.ts';

/** A row that is not a registry object. */
export interface BadRow {
  /** The line number of the row, from 1. If a row spans several lines, the number of its last line. */
  readonly line: number;
  /** The reason. It is one of a few fixed strings, so that reasons can be counted. */
  readonly reason: string;
  readonly text: string;
}

export interface RowBatch {
  readonly records: readonly { readonly line: number; readonly record: TnsRecord }[];
  readonly bad: readonly BadRow[];
  /** The number of faults, by kind, that did not cause a row to be rejected. */
  readonly notes: Readonly<Record<string, number>>;
}

interface PublicObjects {
  /** The time in the first line; undefined if the file begins with the column names. */
  readonly span: TimeSpan | undefined;
  /** The rows, in batches. They can only be read once. A file of changes may have no rows. */
  readonly batches: AsyncIterable<RowBatch>;
}

/** The number of rows in a batch. Committing them takes about ten milliseconds, so serving threads are not delayed. */
const BATCH_ROWS = 1000;
/** The longest rows, with many reporters, have a few thousand characters. */
const MAX_ROW_CHARACTERS = 2 ** 20;

/** The columns that are stored, of the 23 that the files have. */
const NEEDED = ['objid', 'name', 'ra', 'declination'] as const;
const WELCOME = ['name_prefix', 'type', 'redshift', 'creationdate'] as const;
type Column = (typeof NEEDED | typeof WELCOME)[number];
type Places = Readonly<Record<Column, number>>;

interface Row {
  readonly cells: readonly string[];
  /** The number of its last line, from 1. */
  readonly line: number;
  /** Its lines in the file; several if a quoted string contains line breaks. */
  readonly lines: readonly string[];
}

const LINE_BREAK = /\r\n|\r|\n/;

/**
 * Reads the first lines, and prepares to read the rest.
 * @param name the file's name in messages
 * @throws RegistryError if the file is not a public TNS file; the batches throw one if the file is truncated
 */
export async function readPublicObjects(csv: AsyncIterable<Buffer>, name: string): Promise<PublicObjects> {
  const rows = parseCsv(csv, name);
  let first = await rows.next();
  while (!first.done && isEmpty(first.value.cells)) first = await rows.next();
  const span = first.value?.cells.length === 1 ? parseTimeLine(first.value.cells[0]!) : undefined;
  const header = span ? await rows.next() : first;
  if (header.done && !span) throw notPublic(name, 'it is empty');
  const places = header.done ? undefined : placesOf(header.value.cells, name);
  const width = header.value?.cells.length ?? 0;
  return { span, batches: places ? inBatches(rows, places, width) : noBatches() };
}

const isEmpty = (cells: readonly string[]) => cells.length === 1 && cells[0] === '';

async function* noBatches(): AsyncGenerator<RowBatch> {}

const notPublic = (name: string, why: string) =>
  new RegistryError(
    `Cannot read ${name} because ${why}: use a public TNS file, which begins with a time and the column names`,
  );

function placesOf(header: readonly string[], name: string): Places {
  const names = header.map(cell => cell.trim());
  const missing = NEEDED.filter(column => !names.includes(column));
  if (missing.length > 0) throw notPublic(name, `it has no column ${missing.join(', ')}`);
  return Object.fromEntries([...NEEDED, ...WELCOME].map(column => [column, names.indexOf(column)])) as Places;
}

const CSV = { relax_column_count: true, relax_quotes: true } as const;

/** Parses the rows. A stray quote is kept as it is; it may join a row with the next ones. */
async function* parseCsv(csv: AsyncIterable<Buffer>, name: string): AsyncGenerator<Row, undefined> {
  const parser = parse({ ...CSV, bom: true, raw: true, max_record_size: MAX_ROW_CHARACTERS });
  // An error of the source destroys the parser with that error, and the loop over the parser throws it.
  pipeline(Readable.from(csv), parser, () => {});
  try {
    let line = 0;
    for await (const { record, raw } of parser) {
      const lines = raw.split(LINE_BREAK);
      if (lines.at(-1) === '') lines.pop();
      line += lines.length;
      yield { cells: record, line, lines };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const why = error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'it ends within a quoted string' : error.message;
    throw new RegistryError(`Cannot read ${name} because ${why}: download it again`, { cause: error });
  }
  return undefined;
}

async function* inBatches(rows: AsyncIterable<Row>, places: Places, width: number): AsyncGenerator<RowBatch> {
  const emptyBatch = () => ({ records: [] as RowBatch['records'][number][], bad: [] as BadRow[], notes: new Notes() });
  let batch = emptyBatch();
  for await (const { cells, line } of separated(rows, places, width)) {
    const record =
      cells.length === width
        ? recordOf(cells, places, batch.notes)
        : `the row does not have ${width} cells like the header`;
    if (isEmpty(cells)) batch.notes.add('empty line');
    else if (typeof record === 'object') batch.records.push({ line, record });
    else batch.bad.push({ line, reason: record, text: cells.join(',') });
    if (batch.records.length + batch.bad.length < BATCH_ROWS) continue;
    yield { ...batch, notes: batch.notes.counts };
    batch = emptyBatch();
  }
  yield { ...batch, notes: batch.notes.counts };
}

/** The rows. If a line of a row is an object by itself, a stray quote has joined them: each line is then a row. */
async function* separated(rows: AsyncIterable<Row>, places: Places, width: number): AsyncGenerator<Row> {
  const isObject = ({ cells }: Row) =>
    cells.length === width && typeof recordOf(cells, places, new Notes()) === 'object';
  for await (const row of rows) {
    const { lines } = row;
    const first = row.line - lines.length + 1;
    const each =
      lines.length > 1 ? lines.map((line, i) => ({ cells: cellsOf(line), line: first + i, lines: [line] })) : [];
    if (each.some(isObject)) yield* each;
    else yield row;
  }
}

/** The cells of a line; the line as a single cell if it ends within a quoted string. */
function cellsOf(line: string): readonly string[] {
  try {
    return parseText(line, CSV)[0] ?? [''];
  } catch {
    return [line];
  }
}

class Notes {
  readonly counts: Record<string, number> = {};

  add(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const NAME = /^[^"\0-\x1f\x7f]{1,64}$/;
/** In some exports the name begins with the prefix. A designation itself begins with its year. */
const DESIGNATION = /^([A-Z]{2,3})?(\d{4}[0-9A-Z]+)$/i;
const MAX_TEXT_CHARACTERS = 256;

/** The object of a row, or the reason why the row is rejected. An unreadable redshift becomes null, and is counted. */
function recordOf(cells: readonly string[], places: Places, notes: Notes): TnsRecord | string {
  const cell = (column: Column) => cells[places[column]]?.trim() ?? '';
  const objid = /^\d{1,15}$/.test(cell('objid')) ? Number(cell('objid')) : undefined;
  if (objid === undefined) return 'objid is not a whole number';
  // A name with white space or a prefix would not be found, because names are searched for without them.
  const [, prefix, bare = cell('name')] = DESIGNATION.exec(cell('name').replace(/\s+/g, '')) ?? [];
  if (!NAME.test(bare)) return 'name is empty, longer than 64 characters, or has a stray quote';
  const ra = numberWithin(cell('ra'), 0, 360);
  if (ra === undefined) return 'ra is not a number of degrees from 0 to 360';
  const dec = numberWithin(cell('declination'), -90, 90);
  if (dec === undefined) return 'declination is not a number of degrees from -90 to 90';
  const redshift = numberWithin(cell('redshift'), -Infinity, Infinity) ?? null;
  if (redshift === null && cell('redshift') !== '') notes.add('redshift is not a number, dropped');
  const createdUs = parseTime(cell('creationdate'));
  if (createdUs === undefined && cell('creationdate') !== '') notes.add('creationdate is not a time, dropped');
  const textOrNull = (column: Column): string | null => {
    const text = cell(column);
    if (text.length > MAX_TEXT_CHARACTERS) notes.add(`${column} cut to ${MAX_TEXT_CHARACTERS} characters`);
    return text === '' ? null : text.slice(0, MAX_TEXT_CHARACTERS);
  };
  return {
    objid,
    name: bare,
    namePrefix: textOrNull('name_prefix') ?? prefix?.toUpperCase() ?? null,
    ra,
    dec,
    classification: textOrNull('type'),
    redshift,
    ...(createdUs !== undefined && { createdUs }),
  };
}

function numberWithin(text: string, min: number, max: number): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max && Number.isFinite(value) ? value : undefined;
}
