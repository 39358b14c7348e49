/**
 * Reads NDJSON: one object per line. Integers keep all their digits. Nested lists and objects become their JSON text.
 */

import { type Cell, type Column, type ColumnType, MAX_ROW_BYTES } from '../columns.ts';
import { parseJson, toJson } from '../json.ts';
import {
  blocksOfRecords,
  checkColumns,
  checkRows,
  distinct,
  type InputTable,
  TableError,
  type TableLimits,
} from './input_table.ts';

type Json = Readonly<Record<string, unknown>>;

export function openNdjson(bytes: Uint8Array, limits: TableLimits): InputTable {
  const types = new Map<string, Found | undefined>();
  let [rows, areNested] = [0, true];
  for (const { object, text } of objectsOf(bytes)) {
    checkRows(++rows, limits);
    let reals: ReadonlySet<string> | undefined;
    for (const [name, value] of Object.entries(object)) {
      const [known, found] = [types.get(name), typeOf(value)];
      const isReal = found === 'int64' && known !== 'float64' && (reals ??= wholeReals(text)).has(name);
      types.set(name, together(known, isReal ? 'float64' : found));
    }
    checkColumns(types.size);
    areNested &&= Object.values(object).every(value => typeof value === 'object' && value !== null);
  }
  if (rows === 1 && areNested)
    throw new TableError('it is one JSON document of lists or objects: send one object per line (NDJSON)');
  const names = [...types.keys()];
  const columns = distinct(
    names.map((name): Column => {
      const type = types.get(name) ?? 'text';
      return { name, type: type === 'wide' ? 'int64' : type, description: '' };
    }),
  );
  return {
    format: 'ndjson',
    columns,
    rows,
    *blocks(wanted) {
      const places = columns.map((_, place) => place);
      const records = recordsOf(objectsOf(bytes), places, names);
      yield* blocksOfRecords(records as Iterable<Cell[]>, wanted, (cell, column) =>
        cellOf(cell, columns[column]!.type),
      );
    },
  };
}

function* recordsOf(lines: Iterable<Line>, places: readonly number[], names: readonly string[]): Iterable<unknown[]> {
  for (const { object } of lines)
    yield places.map(place => (Object.hasOwn(object, names[place]!) ? object[names[place]!] : null));
}

interface Line {
  readonly object: Json;
  readonly text: string;
}

function* objectsOf(bytes: Uint8Array): Iterable<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const feed = bytes.indexOf(0x0a, at);
    const end = feed < 0 ? bytes.length : feed;
    if (end - at > MAX_ROW_BYTES) throw new TableError(`its line ${line} has more than ${MAX_ROW_BYTES} bytes`);
    let [value, text]: [unknown, string] = [undefined, ''];
    try {
      text = decoder.decode(bytes.subarray(at, end));
      value = text.trim() === '' ? undefined : parseJson(text);
    } catch {
      throw new TableError(`its line ${line} is not JSON in UTF-8`);
    }
    at = end + 1;
    if (value === undefined) continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TableError(`its line ${line} is not a JSON object`);
    yield { object: value as Json, text };
  }
}

/** A number with a fraction of zeros, or with an exponent; a match may also be inside a string. */
const WHOLE_REAL = /\.0+\s*[,}]|\d[eE][+-]?\d/;

/** The members of a line whose numbers are whole but not written as integers, such as 7.0. */
function wholeReals(line: string): ReadonlySet<string> {
  const found: (readonly [holder: unknown, name: string])[] = [];
  if (!WHOLE_REAL.test(line)) return new Set();
  const object = JSON.parse(line, function (this: unknown, name, value, context?: { readonly source?: string }) {
    if (Number.isInteger(value) && /[.e]/i.test(context?.source ?? '')) found.push([this, name]);
    return value;
  });
  return new Set(found.flatMap(([holder, name]) => (holder === object ? name : [])));
}

/** `wide` means a 64-bit integer that a double cannot represent. */
type Found = ColumnType | 'wide';

function typeOf(value: unknown): Found | undefined {
  if (value === null) return undefined;
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? 'wide' : 'text';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'boolean' : 'text';
}

/**
 * The common type of two values. Integers that doubles can represent, together with other numbers, give numbers; any
 * other mixture gives text.
 */
function together(one: Found | undefined, other: Found | undefined): Found | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  const both = [one, other];
  if (both.every(type => type === 'int64' || type === 'wide')) return 'wide';
  return both.every(type => type === 'int64' || type === 'float64') ? 'float64' : 'text';
}

function cellOf(value: unknown, type: ColumnType): Cell {
  if (value === null) return null;
  if (type === 'int64') return BigInt(value as number | bigint);
  if (type === 'float64') return Number(value);
  if (type === 'boolean' || typeof value === 'string') return value as Cell;
  return toJson(value);
}
