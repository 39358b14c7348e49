/**
 * Reads ECSV (astropy's proposal APE 6), as written by astropy and the Gaia archive: CSV whose comments declare its
 * columns.
 */
import type { Cell, Column, ColumnType } from '../columns.ts';
import { type AstropyColumn, maskPlaces, readAstropyYaml } from './astropy_yaml.ts';
import { Records } from './csv.ts';
import { type InputTable, numberOf, TableError, type TableLimits } from './input_table.ts';
import { rowsTable, splitPreamble, typesOf } from './text_rows.ts';

/**
 * @param areTyped whether cells are converted to the declared types; otherwise every cell is the original text
 * @throws TableError
 */
export function openEcsv(sent: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable {
  const { lines, rest } = splitPreamble(sent);
  const head = readAstropyYaml(
    lines
      .map(line => `${line.replace(/^# ?/, '')}\n`)
      .slice(1)
      .join(''),
  );
  const { delimiter = ' ' } = head;
  if (delimiter.length !== 1) throw new TableError(`its delimiter, ${delimiter.slice(0, 8)}, is not one character`);
  const csv = new Records(rest, delimiter.charCodeAt(0), limits, true);
  const names = csv.header.map(name => (name ?? '').trim());
  const declared = names.map(name => head.columns.get(name) ?? {});
  const types = declared.map(typeOf);
  const found = areTyped && types.includes(undefined) ? typesOf(csv) : [];
  const columns = names.map((name, i): Column => {
    const { unit, ucd, description = '' } = declared[i]!;
    const type = areTyped ? (types[i] ?? found[i]!.type) : 'text';
    return { name, type, ...(unit && { unit }), ...(ucd && { ucd }), description };
  });
  const table = rowsTable(csv, columns, cellOf);
  // Checks the types of all cells now. A later error would cut off an answer that had already started.
  if (areTyped) for (const _ of table.blocks([...columns.keys()]) as Iterable<unknown>);
  const frames = new Map(names.flatMap((name, i) => (head.frames.has(name) ? [[i, head.frames.get(name)!]] : [])));
  const masks = maskPlaces(head, names);
  return {
    ...table,
    frames,
    declared: head.declared,
    masks,
    ...(delimiter === ',' && { csvRow: (row: number) => csv.bytesOf(row) }),
  };
}

/**
 * The types of ECSV, and the names of numpy, which astropy accepts with a warning. Unsigned 64-bit integers, numbers of
 * more than 64 bits, complex numbers and objects stay text.
 */
const TYPES: readonly (readonly [names: RegExp, type: ColumnType])[] = [
  [/^(?:bool_?|b1|\?)$/, 'boolean'],
  [/^(?:u?int8|u?int16|int32|[iu][12]|i4|u?byte|u?short|intc)$/, 'int32'],
  [/^(?:u?int32|int64|u4|i8|uintc|int_?|intp|long(?:long)?)$/, 'int64'],
  [/^(?:float16|float32|f[24]|half|single)$/, 'float32'],
  [/^(?:float64|f8|float_?|double)$/, 'float64'],
  [
    /^(?:uint(?:64|p)?|u8|u?long(?:long)?|f(?:12|16)|(?:float|complex)\d+|complex_?|c(?:8|16|32))$|^[cfl]*longdouble$/,
    'text',
  ],
  [/^(?:string|str_?|unicode_?|bytes_?|object_?|O|[US]\d*)$/, 'text'],
];

/** The type of a column; undefined if none is known. A subtype declares which JSON the texts contain. */
function typeOf({ datatype, subtype }: AstropyColumn): ColumnType | undefined {
  if (subtype !== undefined) return 'text';
  const name = datatype?.replace(/^[<>=|]/, '') ?? '';
  return TYPES.find(([names]) => names.test(name))?.[1];
}

/** The Gaia archive writes `null` where a number is missing. */
function cellOf(text: string, { name, type }: Column): Cell {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return null;
  const cell =
    type === 'boolean' ? booleanOf(trimmed) : type.startsWith('int') ? integerOf(trimmed, type) : floatOf(trimmed);
  if (cell !== undefined) return type === 'float32' ? Math.fround(cell as number) : cell;
  throw new TableError(
    `${text.slice(0, 40)} in its column ${name.slice(0, 64)} is not of the type that its head declares`,
  );
}

function booleanOf(text: string): boolean | undefined {
  return { true: true, '1': true, false: false, '0': false }[text.toLowerCase()];
}

function integerOf(text: string, type: ColumnType): bigint | number | undefined {
  if (!/^[+-]?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(type === 'int64' ? 64 : 32, value) !== value) return undefined;
  return type === 'int64' ? value : Number(value);
}

function floatOf(text: string): number | undefined {
  const value = numberOf(text);
  return Number.isNaN(value) && !/^[+-]?nan$/i.test(text) ? undefined : value;
}
