/**
 * VOTable with its rows as TABLEDATA, BINARY or BINARY2: the first table of a document. Tags are read in place.
 * Entities are never expanded: a document type with declarations is refused.
 */
import { isAllocationFailure } from '../bytes.ts';
import { type Cell, type Column, type ColumnType, lengthOf } from '../columns.ts';
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
interface Fields extends Pick<InputTable, 'frames' | 'declared'> {
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
  for (const record of records()) {
    checkRows(++rows, limits);
    columns.forEach(({ shape, name }, i) => {
      const length = `${record[i] ?? ''}`.split(' ').length;
      if (shape && record[i] !== null && length !== lengthOf(shape))
        throw new TableError(`a ${shape} in row ${rows} of its column ${name} has ${length} numbers`);
    });
  }
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
interface HeadByName extends Pick<InputTable, 'declared'> {
  readonly columns: ReadonlyMap<string, Column>;
  readonly frames: ReadonlyMap<string, DeclaredFrame>;
}

/**
 * Reads the head of a VOTable without rows.
 * @throws TableError if the text is not a VOTable
 */
export function headByName(votable: string): HeadByName {
  const { fields, frames, declared = [] } = readHead(votable);
  return {
    declared,
    columns: new Map(fields.map(({ column }) => [column.name, column])),
    frames: new Map([...(frames ?? [])].map(([place, each]) => [fields[place]!.column.name, each])),
  };
}

function decoded(bytes: Uint8Array): string {
  const [, declared = 'utf-8'] =
    /^[^<]*<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(Buffer.from(bytes.subarray(0, 200)).toString('latin1')) ?? [];
  // The declaration was read as single bytes, so the document is not in UTF-16 (any more).
  const encoding = /^utf-?16/i.test(declared) ? 'utf-8' : declared;
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (isAllocationFailure(error)) throw error;
    throw new TableError(`its text cannot be read as ${encoding}`);
  }
}

/** The value of an attribute may contain `>`. Values count as one character of a tag, which has at most 65,536. */
const TAG = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:[^<>"'/]|"[^"]*"|'[^']*'|\/(?!>)){0,65536})(\/?)>/y;

/** The next tag at or after an offset, skipping comments and similar parts; undefined if there is none. */
function nextTag(text: string, from: number): Tag | undefined {
  for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at)) {
    const skipped = [...SECTIONS, ['<!', '>'] as const].find(([begin]) => text.startsWith(begin, at));
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
    const end = text.indexOf(skipped[1], at);
    if (end < 0) throw new TableError('it ends within a comment');
    const markup = text.slice(at, end);
    if (/^<!(?:DOCTYPE[^>]*\[|ENTITY|ELEMENT|ATTLIST)/i.test(markup))
      throw new TableError('its document type declares something: leave out <!DOCTYPE ...>');
    at = end;
  }
  return undefined;
}

/** The text of the tag's element, up to the first element in it, with single blanks. */
function textOf(text: string, { end }: Tag): string {
  return contentAt(text, end).content.trim().replace(/\s+/g, ' ');
}

/** The character data from an offset up to the next tag: without comments, with CDATA sections as they are. */
function contentAt(text: string, from: number): { readonly content: string; readonly end: number } {
  let content = '';
  for (let at = from; ; ) {
    const next = text.indexOf('<', at);
    if (next < 0) throw new TableError('it ends within a cell or a description');
    content += unescaped(text.slice(at, next));
    const [begin, close] = (text[next + 1] !== '/' && SECTIONS.find(([begin]) => text.startsWith(begin, next))) || [];
    if (begin === undefined) return { content, end: next };
    const end = text.indexOf(close!, next + begin.length);
    if (end < 0) throw new TableError(`it ends within ${begin}`);
    if (begin === CDATA) content += text.slice(next + begin.length, end);
    at = end + close!.length;
  }
}

const CDATA = '<![CDATA[';
/** The parts of a document that may stand within character data. */
const SECTIONS: readonly (readonly [begin: string, end: string])[] = [
  ['<!--', '-->'],
  [CDATA, ']]>'],
  ['<?', '?>'],
];

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** The name and the value of each attribute in turn, so that no value is searched for names. */
const ATTRIBUTE = /(?<=\s)([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function attributeOf({ attributes }: Tag, name: string): string | undefined {
  for (const [, each, quoted, apostrophed] of attributes.matchAll(ATTRIBUTE))
    if (each === name) return unescaped((quoted ?? apostrophed)!);
  return undefined;
}

/**
 * The fields of the first table that has rows, and the tag within its DATA. If no table has rows, the fields of the
 * first table.
 */
function readHead(text: string): Fields & { data: Tag | undefined } {
  let declared: DeclaredField[] = [];
  const systems = new CoordinateSystems();
  /** The null of each VALUES that has an ID, to which others refer. */
  const nulls = new Map<string, string>();
  /** The fields of each TABLE that has an ID: a TABLE that refers to it has the same. */
  const tables = new Map<string, readonly DeclaredField[]>();
  let id: string | undefined;
  let empty: Fields | undefined;
  let field: DeclaredField | undefined;
  const found = (): Fields => {
    const fields = declared.map(each => fieldOf(each, nulls));
    return { fields, ...systems.framesOf(fields) };
  };
  for (let tag = nextTag(text, 0); tag; tag = nextTag(text, tag.end)) {
    const attribute = attributeOf.bind(undefined, tag);
    if (tag.name === 'TABLE') {
      if (tag.isClosing && declared.length > 0) empty ??= found();
      if (tag.isClosing && id !== undefined) tables.set(id, declared);
      declared = tag.isClosing ? [] : [...(tables.get(attribute('ref') ?? '') ?? [])];
      id = tag.isClosing ? undefined : attribute('ID');
    }
    if (!tag.isClosing) systems.open(tag.name, attribute);
    if (tag.isClosing || tag.isEmpty) systems.close(tag.name);
    if (tag.name === 'FIELD') {
      if (!tag.isClosing) declared.push((field = { tag, description: '', values: [] }));
      if (tag.isClosing || tag.isEmpty) field = undefined;
      checkColumns(declared.length);
    } else if (tag.name === 'VALUES' && !tag.isClosing) {
      const [own, blank] = [attribute('ID'), attribute('null')];
      if (own !== undefined && blank !== undefined) nulls.set(own, blank);
      field?.values.push({ blank, ref: attribute('ref') });
    } else if (field && tag.name === 'DESCRIPTION' && !tag.isClosing) field.description = textOf(text, tag);
    else if (/^(?:TABLEDATA|BINARY2?|FITS|PARQUET)$/.test(tag.name) && !tag.isClosing && !hasNoRows(text, tag))
      return { ...found(), data: tag };
  }
  if (empty) return { ...empty, data: undefined };
  throw new TableError('it is XML without the data of a VOTable');
}

/** A FIELD with the elements in it. */
interface DeclaredField {
  readonly tag: Tag;
  description: string;
  readonly values: { readonly blank: string | undefined; readonly ref: string | undefined }[];
}

/** Whether the data are empty: TABLEDATA without a tag, or a stream within the document without content. */
function hasNoRows(text: string, data: Tag): boolean {
  if (data.isEmpty) return true;
  const next = nextTag(text, data.end);
  if (next?.name === data.name && next.isClosing) return true;
  if (next?.name !== 'STREAM' || attributeOf(next, 'href') !== undefined) return false;
  return next.isEmpty || /^\s*<\//.test(text.slice(next.end, next.end + 1000));
}

function fieldOf({ tag, description, values }: DeclaredField, nulls: ReadonlyMap<string, string>): Field {
  const blankText = values.map(({ blank, ref }) => blank ?? nulls.get(ref ?? '')).find(each => each !== undefined);
  const datatype = attributeOf(tag, 'datatype') ?? 'char';
  const arraysize = attributeOf(tag, 'arraysize');
  const name = attributeOf(tag, 'name') ?? attributeOf(tag, 'ID') ?? '';
  const [unit, ucd, xtype, id, ref] = ['unit', 'ucd', 'xtype', 'ID', 'ref'].map(attribute =>
    attributeOf(tag, attribute),
  );
  const type = typeOf(datatype, arraysize);
  const numbers = type === 'text' ? NUMBERS[datatype] : undefined;
  const isInDegrees = numbers === 'float64' && (unit === undefined || unit === 'deg');
  const shape = isInDegrees ? SHAPES.find(each => each === xtype) : undefined;
  const column: Column = {
    name,
    type,
    ...(unit && { unit }),
    ...(ucd && { ucd }),
    description,
    ...(numbers && { numbers }),
    ...(shape && { shape }),
  };
  return { column, xtype, id, ref, datatype, arraysize, blankText, blank: blankOf(blankText?.trim(), column) };
}

/** The types of arrays of numbers. */
const NUMBERS: Readonly<Record<string, Column['numbers']>> = {
  unsignedByte: 'int64',
  short: 'int64',
  int: 'int64',
  long: 'int64',
  float: 'float64',
  double: 'float64',
};
/** The shapes of a fixed number of values. */
const SHAPES = ['point', 'circle'] as const;

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
      const { content, end } = tag.isEmpty ? { content: '', end: tag.end } : contentAt(text, tag.end);
      record.push(cellOf(content, fields[record.length]!));
      tag = { ...tag, end };
    } else if (name === 'TD' && !isClosing)
      throw new TableError(`one of its rows has more cells than the ${fields.length} fields`);
  }
}

function cellOf(text: string, { column: { type, name, numbers }, blankText, blank }: Field): Cell {
  if (numbers)
    return (
      text
        .match(/\S+/g)
        ?.map(item => `${parsed(item, numbers, name)}`)
        .join(' ') ?? null
    );
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
