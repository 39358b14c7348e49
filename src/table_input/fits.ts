/** FITS binary tables (FITS 4.0, section 7.3): the first one of a file. */
import type { Cell, Column, ColumnType } from '../tables/columns.ts';
import { BLOCK, CARD } from '../tables/fits_header.ts';
import { blocksOf, checkRows, distinct, type InputTable, TableError, type TableLimits } from './input_table.ts';

const MAX_HEADER_BLOCKS = 1000;

type Header = ReadonlyMap<string, string>;

interface FitsColumn {
  readonly column: Column;
  readonly offset: number;
  readonly repeat: number;
  readonly form: Form;
  readonly scale: number;
  readonly zero: number;
  readonly blank: string | undefined;
}

interface Form {
  readonly bytes: number;
  readonly type: ColumnType;
  read(view: DataView, at: number): Cell;
}

const FORMS: Readonly<Record<string, Form>> = {
  L: { bytes: 1, type: 'boolean', read: (view, at) => ({ 84: true, 70: false })[view.getUint8(at)] ?? null },
  A: { bytes: 1, type: 'text', read: () => null },
  B: { bytes: 1, type: 'int32', read: (view, at) => view.getUint8(at) },
  I: { bytes: 2, type: 'int32', read: (view, at) => view.getInt16(at) },
  J: { bytes: 4, type: 'int32', read: (view, at) => view.getInt32(at) },
  K: { bytes: 8, type: 'int64', read: (view, at) => view.getBigInt64(at) },
  E: { bytes: 4, type: 'float32', read: (view, at) => view.getFloat32(at) },
  D: { bytes: 8, type: 'float64', read: (view, at) => view.getFloat64(at) },
};

export function openFits(bytes: Uint8Array, limits: TableLimits): InputTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { header, start } = findTable(bytes);
  const [width, rows] = [countOf(header, 'NAXIS1'), countOf(header, 'NAXIS2')];
  checkRows(rows, limits);
  const fields = fieldsOf(header);
  const last = fields.at(-1);
  const least = last ? last.offset + last.repeat * last.form.bytes : 0;
  if (least > width || start + rows * width > bytes.length) throw new TableError('its rows end early');
  const columns = distinct(fields.map(({ column }) => column));
  return {
    format: 'fits',
    columns,
    rows,
    blocks: wanted =>
      blocksOf(rows, wanted.length, (from, to) =>
        wanted.map(place => {
          const cells: Cell[] = new Array(to - from);
          const field = fields[place]!;
          for (let row = from; row < to; row++) cells[row - from] = cellAt(bytes, view, start + row * width, field);
          return cells;
        }),
      ),
  };
}

function cellAt(bytes: Uint8Array, view: DataView, row: number, field: FitsColumn): Cell {
  const { form, repeat, offset, column } = field;
  const at = row + offset;
  if (form === FORMS.A) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, repeat).toString('latin1');
    return text.split('\0', 1)[0]!.trimEnd() || null;
  }
  if (repeat === 1 && form.type === column.type && field.zero === 0) return notBlank(form.read(view, at), field);
  const items = Array.from({ length: repeat }, (_, i) =>
    scaled(notBlank(form.read(view, at + i * form.bytes), field), field),
  );
  return repeat === 1 ? items[0]! : repeat === 0 ? null : items.join(' ');
}

function notBlank(cell: Cell, { blank }: FitsColumn): Cell {
  return blank !== undefined && `${cell}` === blank ? null : cell;
}

function scaled(cell: Cell, { scale, zero, column, repeat }: FitsColumn): Cell {
  if (cell === null || typeof cell === 'boolean' || typeof cell === 'string' || (scale === 1 && zero === 0))
    return cell;
  const isWhole = (scale === 1 && Number.isInteger(zero) && typeof cell !== 'number') || column.type === 'int64';
  if (isWhole && scale === 1) {
    const whole = BigInt(cell) + BigInt(zero);
    return repeat === 1 && column.type === 'text' ? `${whole}` : whole;
  }
  return Number(cell) * scale + zero;
}

function findTable(bytes: Uint8Array): { header: Header; start: number } {
  for (let offset = 0; offset < bytes.length; ) {
    const { header, end } = readHeader(bytes, offset);
    const kind = header.get('XTENSION');
    if (kind === 'BINTABLE' && header.get('ZIMAGE') !== 'T' && header.get('ZTABLE') !== 'T')
      return { header, start: end };
    const size = dataBytes(header);
    offset = end + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new TableError('it is a FITS file without a binary table');
}

function dataBytes(header: Header): number {
  const axes = countOf(header, 'NAXIS');
  if (axes === 0) return 0;
  let size = Math.abs(Number(header.get('BITPIX'))) / 8;
  for (let axis = 1; axis <= axes; axis++) size *= countOf(header, `NAXIS${axis}`);
  size += countOf(header, 'PCOUNT');
  if (Number.isFinite(size)) return size;
  throw new TableError('a header of it gives no size');
}

function countOf(header: Header, keyword: string): number {
  const count = Number(header.get(keyword) ?? 0);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new TableError(`${keyword} in a header of it is ${header.get(keyword)}`);
}

function readHeader(bytes: Uint8Array, start: number): { header: Header; end: number } {
  const header = new Map<string, string>();
  for (let at = start; at < Math.min(bytes.length, start + MAX_HEADER_BLOCKS * BLOCK); at += CARD) {
    const card = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(CARD, bytes.length - at)).toString('latin1');
    const keyword = card.slice(0, 8).trim();
    if (keyword === 'END') return { header, end: start + Math.ceil((at + CARD - start) / BLOCK) * BLOCK };
    if (card.slice(8, 10) === '= ') header.set(keyword, cardText(card.slice(10)));
  }
  throw new TableError('a header of it does not end');
}

/** The text of a card's value. A comment follows after a slash. */
function cardText(text: string): string {
  const quoted = /^\s*'((?:[^']|'')*)'/.exec(text);
  return quoted ? quoted[1]!.replaceAll("''", "'").trimEnd() : text.split('/')[0]!.trim();
}

function fieldsOf(header: Header): FitsColumn[] {
  const count = countOf(header, 'TFIELDS');
  if (count > 999) throw new TableError(`it has ${count} columns, where FITS allows 999`);
  let offset = 0;
  return Array.from({ length: count }, (_, index) => {
    const of = (keyword: string) => header.get(`${keyword}${index + 1}`);
    const name = of('TTYPE') ?? '';
    const [, digits = '', letter = ''] = /^\s*(\d*)([A-Z])/.exec(of('TFORM') ?? '') ?? [];
    const form = FORMS[letter];
    if (!form)
      throw new TableError(`its column ${name} is of the type ${of('TFORM')}, which cannot be kept: leave it out`);
    const repeat = digits === '' ? 1 : Number(digits);
    const [scale, zero] = [Number(of('TSCAL') ?? 1), Number(of('TZERO') ?? 0)];
    const [unit, ucd] = [of('TUNIT'), of('TUCD')];
    const column: Column = {
      name,
      type: typeOf(form, letter, repeat, scale, zero),
      ...(unit && { unit }),
      ...(ucd && { ucd }),
      description: of('TCOMM') ?? '',
    };
    const field: FitsColumn = { column, offset, repeat, form, scale, zero, blank: of('TNULL') };
    offset += repeat * form.bytes;
    return field;
  });
}

/** TZERO makes unsigned integers of signed ones, which may need the next larger type. */
function typeOf(form: Form, letter: string, repeat: number, scale: number, zero: number): ColumnType {
  if (form.type === 'text' || repeat !== 1) return 'text';
  if (scale === 1 && zero === 0) return form.type;
  if (scale !== 1 || !Number.isInteger(zero)) return 'float64';
  if (letter === 'K') return 'text';
  return 'BIJ'.includes(letter) ? 'int64' : 'float64';
}
