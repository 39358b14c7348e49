/**
 * CSV as people send it: with commas, semicolons, tabs or bars, a byte-order mark, lines of comments. Read in place, a
 * line at a time: a library's array of all records would take many times the memory of the table.
 */
import type { Cell, Column } from '../tables/columns.ts';
import {
  blocksOfRecords,
  checkRows,
  distinct,
  type InputTable,
  numberOf,
  TableError,
  type TableLimits,
  TypeOfTexts,
} from './input_table.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const MAX_RECORD_CHARACTERS = 1 << 20;
const CHUNK_BYTES = 1 << 18;

/** A record, with null for an empty field that is not quoted. */
type Fields = (string | null)[];

/** @param areTyped whether a column of numbers is to become one; else every cell is the text that was sent */
export function openCsv(bytes: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable {
  const delimiter = delimiterOf(bytes);
  let header: Fields | undefined;
  let types: TypeOfTexts[] = [];
  let rows = 0;
  for (const fields of recordsOf(bytes, delimiter)) {
    if (!header) {
      header = fields;
      types = header.map(() => new TypeOfTexts());
      continue;
    }
    if (fields.length !== header.length)
      throw new TableError(
        `its row ${rows + 1} has ${fields.length} fields, where its first line has ${header.length}`,
      );
    checkRows(++rows, limits);
    if (areTyped) for (let i = 0; i < fields.length; i++) if (fields[i] !== null) types[i]!.add(fields[i]!);
  }
  if (!header) throw new TableError('it is empty');
  const columns = distinct(
    header.map((name, i): Column => ({ name: (name ?? '').trim(), type: types[i]!.type, description: '' })),
  );
  return {
    format: 'csv',
    columns,
    rows,
    *blocks(wanted) {
      const records = recordsOf(bytes, delimiter);
      records.next();
      yield* blocksOfRecords(records, wanted, (cell, column) => cellOf(cell as string | null, columns[column]!));
    },
  };
}

function cellOf(text: string | null, { type }: Column): Cell {
  if (text === null || type === 'text') return text;
  return type === 'int64' ? BigInt(text) : numberOf(text);
}

/** The delimiter that the first line has most often, outside of quotes. */
function delimiterOf(bytes: Uint8Array): string {
  const [first = ''] = linesOfHead(bytes);
  const counts = DELIMITERS.map(delimiter => first.replace(/"[^"]*"/g, '').split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function linesOfHead(bytes: Uint8Array): string[] {
  const head = new TextDecoder().decode(bytes.subarray(0, CHUNK_BYTES));
  return head.split(/\r\n|\n|\r/).filter(line => !isSkipped(line));
}

function isSkipped(line: string): boolean {
  return line.startsWith('#') || line.trim() === '';
}

/** The records from the first line that is no comment on. */
function* recordsOf(bytes: Uint8Array, delimiter: string): Generator<Fields, undefined, undefined> {
  let text = '';
  let at = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let from = 0; from < bytes.length || at < text.length; from += CHUNK_BYTES) {
    const isLast = from + CHUNK_BYTES >= bytes.length;
    text = text.slice(at) + decoded(decoder, bytes.subarray(from, from + CHUNK_BYTES), isLast);
    at = 0;
    for (;;) {
      const end = lineEnd(text, at, isLast);
      if (end < 0) break;
      const line = text.slice(at, text[end - 1] === '\r' ? end - 1 : end);
      if (line.includes('"') && !isSkipped(line)) {
        const read = quotedRecord(text, at, delimiter, isLast);
        if (!read) break;
        at = read.end;
        yield read.fields;
        continue;
      }
      at = end + 1;
      if (isSkipped(line)) continue;
      const fields: Fields = line.split(delimiter);
      for (let i = 0; i < fields.length; i++) if (fields[i] === '') fields[i] = null;
      yield fields;
    }
    if (text.length - at > MAX_RECORD_CHARACTERS)
      throw new TableError(`a row of it has more than ${MAX_RECORD_CHARACTERS} characters: is it CSV?`);
    if (isLast) return;
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array, isLast: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !isLast });
  } catch {
    throw new TableError(
      'it is neither text in UTF-8 nor a table of a known format: send CSV, NDJSON, VOTable, FITS, Parquet or Arrow',
    );
  }
}

/** The place of the line feed, or of the end of the last line; -1 where the line goes on beyond the text. */
function lineEnd(text: string, at: number, isLast: boolean): number {
  const end = text.indexOf('\n', at);
  if (end >= 0) return end;
  return isLast && at < text.length ? text.length : -1;
}

/** A record with quotes, which may go on over lines; undefined where the text ends before it. */
function quotedRecord(
  text: string,
  start: number,
  delimiter: string,
  isLast: boolean,
): { readonly fields: Fields; readonly end: number } | undefined {
  const fields: Fields = [];
  for (let at = start; ; at++) {
    let field = '';
    let isQuoted = false;
    while (text[at] === ' ' && text[at + 1] === '"') at++;
    if (text[at] === '"') {
      isQuoted = true;
      for (at++; ; at += 2) {
        const end = text.indexOf('"', at);
        if (end < 0 || (end + 1 === text.length && !isLast)) {
          if (!isLast) return undefined;
          throw new TableError(`a quote that begins in its row ${text.slice(start, start + 40)} does not end`);
        }
        field += text.slice(at, end);
        at = end;
        if (text[end + 1] !== '"') break;
        field += '"';
      }
      at++;
    }
    const from = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++;
    if (at === text.length && !isLast) return undefined;
    const rest = text.slice(from, at);
    field += text[at] === delimiter ? rest : rest.replace(/\r$/, '');
    fields.push(field === '' && !isQuoted ? null : field);
    if (text[at] !== delimiter) return { fields, end: at + 1 };
  }
}
