/**
 * VOTable with its rows as TABLEDATA, BINARY or BINARY2: the first table of a document. Tags are read in place.
 * Entities are never expanded: a document type with declarations is refused.
 */
import type { Cell, Column, ColumnType } from '../columns.ts';
import { CoordinateSystems } from './coordinate_systems.ts';
import {
  blocksOfRecords,
  checkColumns,
  checkRows,
  type DeclaredFrame,
  distinct,
  type InputTable,
  numberOf,
  TableError,
  type TableLimits,
} from './input_table.ts';
import { BinaryRows, type Datatype } from './votable_binary.ts';

interface Field extends Datatype {
  readonly column: Column;
  /** The string that stands for null. */
  readonly blankText: string | undefined;
  readonly xtype: string | undefined;
  readonly id: string | undefined;
  readonly ref: string | undefined;
}

/** The fields of a table, and their declared frames. */
interface Fields extends Pick<InputTable, 'frames' | 'frame'> {
  readonly fields: readonly Field[];
}

interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly isEmpty: boolean;
  readonly attributes: string;
  /** The offset after the tag. */
  readonly end: number;
}

export function openVotable(bytes: Uint8Array, limits: TableLimits): InputTable {
  const text = decoded(bytes);
  const { fields, data, ...frames } = readHead(text);
  checkStatus(text);
  const columns = distinct(fields.map(({ column }) => column));
  const records = rowsOf(text, data, fields, limits);
  let rows = 0;
  for (const _ of records()) checkRows(++rows, limits);
  return {
    format: 'votable',
    columns,
    rows,
    ...frames,
    points: placesOf(fields, 'point'),
    timestamps: placesOf(fields, 'timestamp'),
    *blocks(wanted) {
      yield* blocksOfRecords(records(), wanted, cell => cell);
    },
  };
}

const FAILURE =
  /<(?:[\w.-]+:)?INFO\b(?=[^<>]*\sname=["']QUERY_STATUS["'])(?=[^<>]*\svalue=["']ERROR["'])[^<>]*>([^<]*)/;

/** @throws TableError if the service that wrote the rows says after them that others are missing (DALI 1.1, section 4.4) */
function checkStatus(text: string): void {
  const end = Math.max(0, ...['TABLEDATA>', 'STREAM>'].map(tag => text.lastIndexOf(tag)));
  const [found, message = ''] = FAILURE.exec(text.slice(end)) ?? [];
  if (found === undefined) return;
  const reason = unescaped(message).trim().slice(0, 200);
  throw new TableError(`it is the incomplete answer of a service, which ended with an error (${reason || 'unknown'})`);
}

function placesOf(fields: readonly Field[], type: string): Set<number> {
  return new Set(fields.flatMap(({ xtype }, i) => (xtype === type ? i : [])));
}

/** The declarations of a VOTable about the columns of another file, by column name. */
interface HeadByName extends Pick<InputTable, 'frame'> {
  readonly columns: ReadonlyMap<string, Column>;
  readonly frames: ReadonlyMap<string, DeclaredFrame>;
}

/**
 * Reads the head of a VOTable without rows.
 * @throws TableError if the text is not a VOTable
 */
export function headByName(votable: string): HeadByName {
  const { fields, frames, frame } = readHead(votable);
  return {
    frame,
    columns: new Map(fields.map(({ column }) => [column.name, column])),
    frames: new Map([...(frames ?? [])].map(([place, each]) => [fields[place]!.column.name, each])),
  };
}

function decoded(bytes: Uint8Array): string {
  const [, encoding = 'utf-8'] =
    /^[^<]*<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(Buffer.from(bytes.subarray(0, 200)).toString('latin1')) ?? [];
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new TableError(`its text cannot be read as ${encoding}`);
  }
}

/** The value of an attribute may contain `>`. Values count as one character of a tag, which has at most 65,536. */
const TAG = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:[^<>"'/]|"[^"]*"|'[^']*'|\/(?!>)){0,65536})(\/?)>/y;

/** The next tag at or after an offset, skipping comments and similar parts; undefined if there is none. */
function nextTag(text: string, from: number): Tag | undefined {
  for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at)) {
    const skipped = [
      ['<!--', '-->'],
      ['<![CDATA[', ']]>'],
      ['<?', '?>'],
      ['<!', '>'],
    ].find(([begin]) => text.startsWith(begin!, at));
    if (!skipped) {
      TAG.lastIndex = at;
      const found = TAG.exec(text);
      if (!found)
        throw new TableError(
          `it is not well-formed, or one of its tags is too long: ${text.slice(at, at + 40).trimEnd()}`,
        );
      const [whole, closing, name, attributes, empty] = found;
      return {
        name: name!,
        isClosing: closing !== '',
        isEmpty: empty !== '',
        attributes: attributes!,
        end: at + whole.length,
      };
    }
    const end = text.indexOf(skipped[1]!, at);
    if (end < 0) throw new TableError('it ends within a comment');
    const markup = text.slice(at, end);
    if (/^<!(?:DOCTYPE[^>]*\[|ENTITY|ELEMENT|ATTLIST)/i.test(markup))
      throw new TableError('its document type declares something: leave out <!DOCTYPE ...>');
    at = end;
  }
  return undefined;
}

/** The text of the tag's element, which must not contain elements. */
function textOf(text: string, { end }: Tag): string {
  const close = text.indexOf('<', end);
  return unescaped(text.slice(end, close < 0 ? end : close))
    .trim()
    .replace(/\s+/g, ' ');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function attributeOf({ attributes }: Tag, name: string): string | undefined {
  const [, quoted, apostrophed] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes) ?? [];
  const value = quoted ?? apostrophed;
  return value === undefined ? undefined : unescaped(value);
}

/**
 * The fields of the first table that has rows, and the tag within its DATA. If no table has rows, the fields of the
 * first table.
 */
function readHead(text: string): Fields & { data: Tag | undefined } {
  const fields: Field[] = [];
  const systems = new CoordinateSystems();
  let empty: Fields | undefined;
  let field: Tag | undefined;
  let about: { description: string; blank: string | undefined } = { description: '', blank: undefined };
  const add = () => {
    if (field) fields.push(fieldOf(field, about.description, about.blank));
    checkColumns(fields.length);
    field = undefined;
    about = { description: '', blank: undefined };
  };
  for (let tag = nextTag(text, 0); tag; tag = nextTag(text, tag.end)) {
    if (tag.name === 'TABLE') {
      if (tag.isClosing && fields.length > 0) empty ??= { fields: [...fields], ...systems.framesOf(fields) };
      fields.length = 0;
    }
    if (!tag.isClosing) systems.open(tag.name, name => attributeOf(tag, name));
    if (tag.isClosing || tag.isEmpty) systems.close(tag.name);
    if (tag.name === 'FIELD') {
      if (!tag.isClosing) field = tag;
      if (tag.isClosing || tag.isEmpty) add();
    } else if (field && tag.name === 'DESCRIPTION' && !tag.isClosing) about.description = textOf(text, tag);
    else if (field && tag.name === 'VALUES') about.blank ??= attributeOf(tag, 'null');
    else if (/^(?:TABLEDATA|BINARY2?|FITS|PARQUET)$/.test(tag.name) && !tag.isClosing && !hasNoRows(text, tag))
      return { fields, data: tag, ...systems.framesOf(fields) };
  }
  if (empty) return { ...empty, data: undefined };
  throw new TableError('it is XML without the data of a VOTable');
}

/** Whether the data are empty: TABLEDATA without a tag, or a stream within the document without content. */
function hasNoRows(text: string, data: Tag): boolean {
  if (data.isEmpty) return true;
  const next = nextTag(text, data.end);
  if (next?.name === data.name && next.isClosing) return true;
  if (next?.name !== 'STREAM' || attributeOf(next, 'href') !== undefined) return false;
  return next.isEmpty || /^\s*<\//.test(text.slice(next.end, next.end + 1000));
}

function fieldOf(tag: Tag, description: string, blankText: string | undefined): Field {
  const datatype = attributeOf(tag, 'datatype') ?? 'char';
  const arraysize = attributeOf(tag, 'arraysize');
  const name = attributeOf(tag, 'name') ?? attributeOf(tag, 'ID') ?? '';
  const [unit, ucd] = [attributeOf(tag, 'unit'), attributeOf(tag, 'ucd')];
  const column: Column = {
    name,
    type: typeOf(datatype, arraysize),
    ...(unit && { unit }),
    ...(ucd && { ucd }),
    description,
  };
  const [xtype, id, ref] = ['xtype', 'ID', 'ref'].map(attribute => attributeOf(tag, attribute));
  return { column, xtype, id, ref, datatype, arraysize, blankText, blank: blankOf(blankText?.trim(), column) };
}

/** `blankText` as a number; undefined if it is not a number. */
function blankOf(text: string | undefined, { type, name }: Column): Cell | undefined {
  if (text === undefined || type === 'text' || type === 'boolean') return undefined;
  try {
    return parsed(text, type, name) ?? undefined;
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
}

const TYPES: Readonly<Record<string, ColumnType>> = {
  boolean: 'boolean',
  bit: 'boolean',
  unsignedByte: 'int32',
  short: 'int32',
  int: 'int32',
  long: 'int64',
  float: 'float32',
  double: 'float64',
};

/** The type of a column; arrays are text. */
function typeOf(datatype: string, arraysize: string | undefined): ColumnType {
  return arraysize === undefined || arraysize === '1' ? (TYPES[datatype] ?? 'text') : 'text';
}

function rowsOf(
  text: string,
  data: Tag | undefined,
  fields: readonly Field[],
  limits: TableLimits,
): () => Iterable<Cell[]> {
  if (!data) return () => [];
  if (data.name === 'TABLEDATA') return () => rowsOfTabledata(text, data, fields);
  const stream = data.isEmpty ? undefined : nextTag(text, data.end);
  if (!data.name.startsWith('BINARY') || stream?.name !== 'STREAM')
    throw new TableError(`its rows are stored as ${data.name}: send TABLEDATA, BINARY or BINARY2`);
  const encoding = attributeOf(stream, 'encoding');
  if (encoding !== 'base64' || attributeOf(stream, 'href') !== undefined)
    throw new TableError('the stream of its rows must be base64 within the document');
  const close = text.indexOf('<', stream.end);
  if (close < 0) throw new TableError('it ends within its rows');
  const bytes = Buffer.from(text.slice(stream.end, close), 'base64');
  if (bytes.length > limits.maxBytes) throw new TableError(`its rows have more than ${limits.maxBytes} bytes`);
  const binary = new BinaryRows(
    bytes,
    fields.map(field => ({ ...field, type: field.column.type })),
    data.name === 'BINARY2',
  );
  return () => binary.rows();
}

const MAX_CELL_CHARACTERS = 1 << 20;

function* rowsOfTabledata(text: string, data: Tag, fields: readonly Field[]): Iterable<Cell[]> {
  if (data.isEmpty) return;
  let record: Cell[] | undefined;
  for (let tag = nextTag(text, data.end); ; tag = nextTag(text, tag.end)) {
    if (!tag) throw new TableError('it ends within its rows');
    const { name, isClosing } = tag;
    if (name === 'TABLEDATA' && isClosing) return;
    if (name === 'TR' && !isClosing && !tag.isEmpty) record = [];
    else if (name === 'TR' && record) {
      if (record.length !== fields.length)
        throw new TableError(`one of its rows has ${record.length} cells, but there are ${fields.length} fields`);
      yield record;
      record = undefined;
    } else if (name === 'TD' && !isClosing && record && record.length < fields.length) {
      const { cell, end } = tag.isEmpty ? { cell: '', end: tag.end } : cellText(text, tag.end);
      record.push(cellOf(cell, fields[record.length]!));
      tag = { ...tag, end };
    } else if (name === 'TD' && !isClosing)
      throw new TableError(`one of its rows has more cells than the ${fields.length} fields`);
  }
}

/** The text up to the end of a cell. */
function cellText(text: string, from: number): { readonly cell: string; readonly end: number } {
  const close = text.indexOf('<', from);
  if (close < 0) throw new TableError('it ends within a cell');
  if (!text.startsWith('<!', close)) return { cell: unescaped(text.slice(from, close)), end: close };
  const end = text.indexOf('</', close);
  if (end < 0 || end - from > MAX_CELL_CHARACTERS) throw new TableError('one of its cells does not end');
  const cell = text
    .slice(from, end)
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/<!\[CDATA\[([\s\S]*?)\]\]>/)
    .map((part, i) => (i % 2 === 0 ? unescaped(part) : part));
  return { cell: cell.join(''), end };
}

function cellOf(text: string, { column: { type, name }, blankText, blank }: Field): Cell {
  if (type === 'text') return text === '' ? null : text;
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === blankText) return null;
  const value = parsed(trimmed, type, name);
  return value === blank ? null : value;
}

/** @throws TableError if the text is not an integer of the type */
function parsed(trimmed: string, type: ColumnType, name: string): Cell {
  if (type === 'boolean') return /^[t1]/i.test(trimmed) ? true : /^[f0]/i.test(trimmed) ? false : null;
  if (type === 'float64') return numberOf(trimmed);
  if (type === 'float32') return Math.fround(numberOf(trimmed));
  const isHex = /^0x[0-9a-f]{1,16}$/i.test(trimmed);
  const value = isHex || /^[+-]?\d{1,19}$/.test(trimmed) ? BigInt(trimmed.replace(/^\+/, '')) : undefined;
  const bits = type === 'int64' ? 64 : 32;
  const stored = value === undefined ? undefined : BigInt.asIntN(bits, value);
  // Hexadecimal digits give the stored bits.
  if (stored === undefined || (stored !== value && !isHex))
    throw new TableError(`${trimmed.slice(0, 40)} in its column ${name} is not an integer of ${bits} bits`);
  return type === 'int64' ? stored : Number(stored);
}
