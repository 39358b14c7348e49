/**
 * Reads NDJSON: one object per line. Integers keep all their digits. Nested lists and objects become their JSON text.
 */

import type { Cell, Column, ColumnType } from '../columns.ts';
import { parseJson, toJson } from '../json.ts';
import {
  blocksOfRecords,
  checkColumns,
  checkRows,
  distinct,
  type InputTable,
  MAX_ROW_BYTES,
  TableError,
  type TableLimits,
} from './input_table.ts';

type Json = Readonly<Record<string, unknown>>;

export function openNdjson(bytes: Uint8Array, limits: TableLimits): InputTable {
  const types = new Map<string, Found | undefined>();
  let [rows, areNested] = [0, true];
  for (const object of objectsOf(bytes)) {
    checkRows(++rows, limits);
    for (const [name, value] of Object.entries(object)) types.set(name, together(types.get(name), typeOf(value)));
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

function* recordsOf(objects: Iterable<Json>, places: readonly number[], names: readonly string[]): Iterable<unknown[]> {
  for (const object of objects)
    yield places.map(place => (Object.hasOwn(object, names[place]!) ? object[names[place]!] : null));
}

function* objectsOf(bytes: Uint8Array): Iterable<Json> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const feed = bytes.indexOf(0x0a, at);
    const end = feed < 0 ? bytes.length : feed;
    if (end - at > MAX_ROW_BYTES) throw new TableError(`its line ${line} has more than ${MAX_ROW_BYTES} bytes`);
    let value: unknown;
    try {
      const text = decoder.decode(bytes.subarray(at, end));
      value = text.trim() === '' ? undefined : parseJson(text);
    } catch {
      throw new TableError(`its line ${line} is not JSON in UTF-8`);
    }
    at = end + 1;
    if (value === undefined) continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TableError(`its line ${line} is not a JSON object`);
    yield value as Json;
  }
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
