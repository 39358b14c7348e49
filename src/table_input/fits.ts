/** FITS binary tables: the first one of a file. */
import { FitsError, findHduOf, type Hdu } from '../fits/header.ts';
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
import { type Cell, type Column, type ColumnType, numberText } from '../tables/columns.ts';
import { readAstropyYaml } from './astropy_yaml.ts';
import {
  blocksOf,
  checkRows,
  distinct,
  equatorialFrame,
  type InputTable,
  TableError,
  type TableLimits,
} from './input_table.ts';
import { headByName } from './votable.ts';

/** The type of a column with one unscaled value a row. */
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
  const hdu = findHduOf(bytes, isTable);
  if (!hdu) throw new TableError('it is a FITS file without a binary table');
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

/** @throws TableError for one row whose columns are all the values of a column, as STILTS writes `colfits` */
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

/** astropy's YAML of columns stands between these lines of comments; a line with a backslash at its end goes on in the next one. */
const [YAML_BEGIN, YAML_END] = ['--BEGIN-ASTROPY-SERIALIZED-COLUMNS--', '--END-ASTROPY-SERIALIZED-COLUMNS--'];

/** The frames that astropy, STILTS (in the VOTable that it puts before the table) or RADESYS and EQUINOX declare. */
function framesOf(
  bytes: Uint8Array,
  { header }: Hdu,
  columns: readonly FitsColumn[],
): Pick<InputTable, 'frames' | 'frame'> {
  const { comments } = header;
  const [begin, end] = [comments.indexOf(YAML_BEGIN), comments.indexOf(YAML_END)];
  const yaml = begin < 0 || end < begin ? '' : `${comments.slice(begin + 1, end).join('\n')}\n`.replaceAll('\\\n', '');
  const first = findHduOf(bytes, () => true)!;
  const votable =
    first.header.get('VOTMETA') === true
      ? headByName(Buffer.from(bytes.subarray(first.dataStart, first.dataStart + first.dataBytes)).toString('utf8'))
      : undefined;
  const byName = new Map([...(votable?.frames ?? []), ...(yaml === '' ? [] : readAstropyYaml(yaml).frames)]);
  const frames = new Map(columns.flatMap(({ name }, place) => (byName.has(name) ? [[place, byName.get(name)!]] : [])));
  // A table may inherit the keywords of the primary header (FITS standard 4.0, section 4.4.2.6). RADECSYS is the old name (section 8.3).
  const word = (keyword: string) =>
    (header.text(keyword) ?? (header.get('INHERIT') === true ? first.header.text(keyword) : undefined))?.trim();
  return {
    frames,
    frame: votable?.frame ?? equatorialFrame(word('RADESYS') ?? word('RADECSYS'), word('EQUINOX')),
  };
}

/** Whether a cell can hold the values of a row: a value, a text, or a text of numbers with blanks between. */
function isKept({ letter, heap, repeat }: FitsColumn): boolean {
  return letter === 'A' || (!heap && letter in TYPES && (letter !== 'X' || repeat === 1));
}

/** Texts that overlap in the heap could make a small file gigabytes of cells. */
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
  return { name, type: typeOf(column), ...(unit && { unit }), ...(ucd && { ucd }), description: comment ?? '' };
}

/** TZERO makes unsigned integers of signed ones, which may need the next larger type. */
function typeOf({ letter, repeat, scale, zero, isInteger }: FitsColumn): ColumnType {
  const type = TYPES[letter];
  if (!type || repeat !== 1) return 'text';
  if (type === 'boolean' || (scale === 1 && Number(zero) === 0)) return type;
  if (!isInteger || !Number.isSafeInteger(Number(zero))) return letter === 'K' && isInteger ? 'text' : 'float64';
  return letter === 'K' ? 'text' : 'int64';
}

/** The cell of a row. A text of blanks, and an array of nothing, are null. */
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
