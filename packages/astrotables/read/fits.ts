/** Reads the first binary table with rows of a FITS file. */

import { type Cell, type Column, type ColumnType, numberText } from '../columns.ts';
import { FitsError, type FitsHeader, findHduOf, type Hdu } from '../fits/header.ts';
import {
  type FitsColumn,
  type FitsItem,
  type FitsTable,
  isTable,
  itemReader,
  itemsOf,
  tableOf,
  textsOf,
  valuesAt,
} from '../fits/table.ts';
import { maskPlaces, readAstropyYaml } from './astropy_yaml.ts';
import { FRAME_KEYWORDS, framesOfKeywords } from './frame_keywords.ts';
import { blocksOf, checkRows, distinct, type InputTable, TableError, type TableLimits } from './input_table.ts';
import { headByName } from './votable.ts';

/** The column types for one unscaled value per row. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  L: 'boolean',
  X: 'boolean',
  B: 'int32',
  I: 'int32',
  J: 'int32',
  K: 'int64',
  E: 'float32',
  D: 'float64',
};

/** @throws TableError */
export function openFits(bytes: Uint8Array, limits: TableLimits): InputTable {
  try {
    return tableIn(bytes, limits);
  } catch (error) {
    throw error instanceof FitsError ? new TableError(error.message) : error;
  }
}

function tableIn(bytes: Uint8Array, limits: TableLimits): InputTable {
  const hdu = findHduOf(bytes, hasSources) ?? findHduOf(bytes, isTable);
  if (!hdu) {
    const has = (isWanted: (header: FitsHeader) => boolean) => findHduOf(bytes, isWanted) !== undefined;
    if (has(header => header.get('ZTABLE') === true))
      throw new TableError('its table is compressed (ZTABLE): decompress it with funpack');
    const isAscii = has(header => header.text('XTENSION')?.trim() === 'TABLE');
    throw new TableError(
      `it is a FITS file without a binary table${isAscii ? ': convert its ASCII table with TOPCAT or STILTS' : ''}`,
    );
  }
  checkRows(hdu.header.count('NAXIS2'), limits);
  const table = tableOf(hdu);
  if (hdu.dataStart + hdu.dataBytes > bytes.length) throw new TableError('its rows end early');
  checkRowOriented(table);
  const view = new DataView(bytes.buffer, bytes.byteOffset + hdu.dataStart, hdu.dataBytes);
  const kept = table.columns.filter(isKept);
  checkTexts(view, table, kept);
  return {
    format: 'fits',
    columns: distinct(kept.map(columnOf)),
    dropped: table.columns.filter(column => !isKept(column)).map(({ name }) => name || 'column'),
    rows: table.rows,
    ...framesOf(bytes, hdu, kept),
    blocks: wanted => {
      const readers = wanted.map(place => cellReader(view, table, kept[place]!));
      return blocksOf(table.rows, wanted.length, (from, to) =>
        readers.map(read => Array.from({ length: to - from }, (_, i) => read(from + i))),
      );
    },
  };
}

/** Whether a table has rows, and is not the copy of an image's header that SExtractor puts before its catalog (FITS_LDAC). */
function hasSources(header: FitsHeader): boolean {
  return isTable(header) && header.count('NAXIS2') > 0 && header.text('EXTNAME') !== 'LDAC_IMHEAD';
}

/** @throws TableError if the table has a single row that holds whole columns, as in the `colfits` files of STILTS */
function checkRowOriented({ rows, columns }: FitsTable): void {
  const [first, ...others] = columns.filter(({ letter, heap }) => letter !== 'A' && !heap);
  if (
    rows === 1 &&
    first &&
    first.repeat > 1 &&
    others.length > 0 &&
    others.every(({ repeat }) => repeat === first.repeat)
  )
    throw new TableError('it is a column-oriented FITS table (colfits): write it as fits-basic, a row a source');
}

/**
 * The comment lines around astropy's YAML of columns. A backslash at the end of a line continues it in the next one.
 */
const [YAML_BEGIN, YAML_END] = ['--BEGIN-ASTROPY-SERIALIZED-COLUMNS--', '--END-ASTROPY-SERIALIZED-COLUMNS--'];

/**
 * The frames that the file declares: in astropy's YAML, in the VOTable that STILTS puts before the table, or by RADESYS
 * and EQUINOX.
 */
function framesOf(
  bytes: Uint8Array,
  { header }: Hdu,
  columns: readonly FitsColumn[],
): Pick<InputTable, 'frames' | 'declared' | 'masks'> {
  const { comments } = header;
  const [begin, end] = [comments.indexOf(YAML_BEGIN), comments.indexOf(YAML_END)];
  const yaml = begin < 0 || end < begin ? '' : `${comments.slice(begin + 1, end).join('\n')}\n`.replaceAll('\\\n', '');
  const first = findHduOf(bytes, () => true)!;
  const votable =
    first.header.get('VOTMETA') === true
      ? headByName(Buffer.from(bytes.subarray(first.dataStart, first.dataStart + first.dataBytes)).toString('utf8'))
      : undefined;
  const astropy = yaml === '' ? undefined : readAstropyYaml(yaml);
  const byName = new Map([...(votable?.frames ?? []), ...(astropy?.frames ?? [])]);
  const frames = new Map(columns.flatMap(({ name }, place) => (byName.has(name) ? [[place, byName.get(name)!]] : [])));
  // A table may inherit the keywords of the primary header (FITS standard 4.0, section 4.4.2.6).
  const word = (keyword: string) =>
    header.text(keyword) ?? (header.get('INHERIT') === true ? first.header.text(keyword) : undefined);
  const keywords = FRAME_KEYWORDS.map(keyword => [keyword, word(keyword) ?? ''] as const);
  return {
    frames,
    declared: [...(votable?.declared ?? []), ...framesOfKeywords(keywords)],
    ...(astropy && {
      masks: maskPlaces(
        astropy,
        columns.map(({ name }) => name),
      ),
    }),
  };
}

/**
 * Whether a cell can hold the column's value: a single value, a text, or several numbers as a text with blanks between.
 */
function isKept({ letter, heap, repeat }: FitsColumn): boolean {
  return letter === 'A' || (!heap && letter in TYPES && (letter !== 'X' || repeat === 1));
}

/** Rejects overlapping texts in the heap, because they could turn a small file into gigabytes of cells. */
function checkTexts(view: DataView, table: FitsTable, columns: readonly FitsColumn[]): void {
  let bytes = 0;
  for (const column of columns)
    if (column.heap) for (let row = 0; row < table.rows; row++) bytes += valuesAt(view, table, column, row).count;
  const held = table.heap.end - table.heap.start;
  if (bytes > held)
    throw new TableError(`its texts of variable length overlap: they have ${bytes} bytes of a heap of ${held}`);
}

function columnOf(column: FitsColumn): Column {
  const { name, unit, ucd, comment } = column;
  const numbers = numbersOf(column);
  return {
    name,
    type: typeOf(column),
    ...(unit && { unit }),
    ...(ucd && { ucd }),
    description: comment ?? '',
    ...(numbers && { numbers }),
  };
}

/** The type of an array's numbers; undefined for other columns, and if some may be missing or are beyond 64 bits. */
function numbersOf(column: FitsColumn): Column['numbers'] {
  if (column.repeat === 1 || column.blank !== undefined) return undefined;
  const type = typeOf({ ...column, repeat: 1 });
  return type === 'int32' || type === 'int64' ? 'int64' : type.startsWith('float') ? 'float64' : undefined;
}

/** The type of a column. TZERO turns signed integers into unsigned ones, which may need the next larger type. */
function typeOf({ letter, repeat, scale, zero, isInteger }: FitsColumn): ColumnType {
  const type = TYPES[letter];
  if (!type || repeat !== 1) return 'text';
  if (type === 'boolean' || (scale === 1 && Number(zero) === 0)) return type;
  if (!isInteger || !Number.isSafeInteger(Number(zero))) return letter === 'K' && isInteger ? 'text' : 'float64';
  return letter === 'K' ? 'text' : 'int64';
}

/** Reads the cell of a row. A blank text, and an empty array, become null. */
function cellReader(view: DataView, table: FitsTable, column: FitsColumn): (row: number) => Cell {
  if (column.letter === 'A')
    return row =>
      textsOf(view, column, valuesAt(view, table, column, row))
        .join(' ')
        .trimEnd() || null;
  const read = itemReader(column);
  const type = typeOf(column);
  const only = (row: number) => read(view, row * table.width + column.offset, 0);
  if (type === 'int64') return row => wholeOf(only(row));
  if (type !== 'text') return only;
  return row => {
    const items = itemsOf(view, column, valuesAt(view, table, column, row), read);
    return items.some(item => item !== null) ? items.map(item => itemText(item, column)).join(' ') : null;
  };
}

function itemText(item: FitsItem, { letter, scale, zero }: FitsColumn): string {
  const isSingle = letter === 'E' && scale === 1 && Number(zero) === 0;
  return typeof item === 'number' && isSingle ? numberText(item, 'float32') : `${item}`;
}

function wholeOf(item: FitsItem): bigint | null {
  return item === null ? null : BigInt(item);
}
