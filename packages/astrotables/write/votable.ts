/**
 * VOTable 1.4 (IVOA recommendation of 2019-10-21): one table, its rows as TABLEDATA or BINARY2.
 *
 * The document is ASCII. A null is an empty TD, or a flag of BINARY2, in every type. Times are DALI 1.1's timestamps.
 */
import { type ByteSink, fragment } from '../bytes.ts';
import {
  type Cell,
  type Column,
  type ColumnService,
  type ColumnType,
  checkBlock,
  checkRow,
  lengthOf,
  numberText,
  type Row,
  type Table,
} from '../columns.ts';
import { timestamp } from '../timestamp.ts';
import { Binary2 } from './binary2.ts';
import { type About, rowByRow, type TableWriter } from './table_writer.ts';
import { escapeXml } from './xml.ts';

export const VOTABLE_TYPE = 'application/x-votable+xml';

/** The encoding of the rows. */
export type Serialization = 'tabledata' | 'binary2';

export interface Info {
  readonly name: string;
  readonly value: string;
  readonly text?: string;
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const OPEN_DOCUMENT =
  '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
  'xsi:schemaLocation="http://www.ivoa.net/xml/VOTable/v1.3 http://www.ivoa.net/xml/VOTable/VOTable-1.4.xsd">\n';
const SYSTEMS = {
  icrs: '<COOSYS ID="icrs" system="ICRS"/>\n',
  utc: '<TIMESYS ID="utc" timescale="UTC" refposition="UNKNOWN"/>\n',
} as const;

const OPEN_ROW = fragment('<TR>');
const CLOSE_ROW = fragment('</TR>\n');
const OPEN_CELL = fragment('<TD>');
const CLOSE_CELL = fragment('</TD>');
const NULL_CELL = fragment('<TD/>');

export interface Datatype {
  readonly datatype: string;
  readonly arraysize?: string;
  readonly xtype?: string;
}

const DATATYPES: Readonly<Record<ColumnType, Datatype>> = {
  int64: { datatype: 'long' },
  int32: { datatype: 'int' },
  float64: { datatype: 'double' },
  float32: { datatype: 'float' },
  boolean: { datatype: 'boolean' },
  text: { datatype: 'unicodeChar', arraysize: '*' },
  time: { datatype: 'char', arraysize: '*', xtype: 'timestamp' },
};
const ASCII_TEXT: Datatype = { datatype: 'char', arraysize: '*' };

/** The attributes of a FIELD that give the type of its cells. */
export function datatypeOf({ type, isAscii, numbers, shape }: Column): Datatype {
  if (type === 'text' && numbers)
    return { ...DATATYPES[numbers], arraysize: `${lengthOf(shape) ?? '*'}`, ...(shape && { xtype: shape }) };
  return type === 'text' && isAscii ? ASCII_TEXT : DATATYPES[type];
}

export function beginVotable(out: ByteSink, table: Table, about: About): TableWriter {
  const writer = new VotableWriter(out, table);
  writer.begin([{ name: about.program, value: about.json }]);
  return { row: cells => writer.row(cells), block: cells => writer.block(cells), end: () => writer.end() };
}

/**
 * Writes a document to a sink; call `begin`, `row` for each row, and `end`, in this order. After any of these calls, a
 * caller that streams may take the sink's bytes and set its length to 0.
 */
export class VotableWriter {
  readonly #out: ByteSink;
  readonly #table: Table;
  readonly #binary: Binary2 | undefined;
  /** The services of the table, each with the index of its column. */
  readonly #services: readonly (readonly [column: number, service: ColumnService])[];

  constructor(out: ByteSink, table: Table, serialization: Serialization = 'tabledata') {
    this.#out = out;
    this.#table = table;
    this.#services = (table.services ?? []).flatMap(service => {
      const column = table.columns.findIndex(({ xmlId }) => xmlId === service.of);
      return column < 0 ? [] : [[column, service] as const];
    });
    this.#binary = serialization === 'binary2' ? new Binary2(out, table.columns) : undefined;
  }

  /** @param infos further information about the result, before the table */
  begin(infos: readonly Info[] = []): void {
    const { name, description, columns } = this.#table;
    const status = { name: 'QUERY_STATUS', value: 'OK' };
    this.#out.longText(
      `${DECLARATION}${OPEN_DOCUMENT}${systemsOf(columns)}<RESOURCE type="results">\n${[status, ...infos].map(infoElement).join('')}` +
        `<TABLE name="${escapeXml(name)}">\n<DESCRIPTION>${escapeXml(description)}</DESCRIPTION>\n` +
        `${columns.map((column, i) => this.#field(column, i)).join('')}<DATA>\n${this.#binary ? '<BINARY2>\n<STREAM encoding="base64">\n' : '<TABLEDATA>\n'}`,
    );
  }

  /** @throws CellError if a cell does not fit its column's type; then nothing of the row is written */
  row(cells: Row): void {
    checkRow(this.#table.columns, cells);
    if (this.#binary) this.#binary.row(cells);
    else this.#dataRow(cells);
  }

  /**
   * Writes some rows, given as the cells of each column.
   * @throws CellError if a cell does not fit its column's type; then nothing is written
   */
  block(cells: readonly ArrayLike<Cell>[]): void {
    const { columns } = this.#table;
    checkBlock(columns, cells);
    const binary = this.#binary;
    if (binary) {
      rowByRow(row => binary.row(row))(cells);
      return;
    }
    const out = this.#out;
    for (let at = 0; at < cells[0]!.length; at++) {
      out.fragment(OPEN_ROW);
      for (let i = 0; i < columns.length; i++) writeData(out, columns[i]!, cells[i]![at]!);
      out.fragment(CLOSE_ROW);
    }
  }

  /**
   * Ends the table and the document.
   * @param status OVERFLOW: there are more rows than these; a text: the reason why the remaining rows are missing
   */
  end(status: 'OK' | 'OVERFLOW' | { readonly error: string } = 'OK'): void {
    this.#binary?.end();
    const data = this.#binary ? '</STREAM>\n</BINARY2>\n' : '</TABLEDATA>\n';
    const trailer =
      typeof status === 'object'
        ? infoElement({ name: 'QUERY_STATUS', value: 'ERROR', text: status.error })
        : status === 'OVERFLOW'
          ? infoElement({ name: 'QUERY_STATUS', value: status })
          : '';
    this.#out.longText(
      `${data}</DATA>\n</TABLE>\n${trailer}</RESOURCE>\n${this.#services.map(([, service]) => serviceElement(service)).join('')}</VOTABLE>\n`,
    );
  }

  #field({ xmlId, ...column }: Column, index: number): string {
    const hasId = this.#services.some(([place]) => place === index);
    return fieldElement(hasId ? { ...column, xmlId: xmlId! } : column);
  }

  #dataRow(cells: Row): void {
    const { columns } = this.#table;
    this.#out.fragment(OPEN_ROW);
    for (let i = 0; i < columns.length; i++) writeData(this.#out, columns[i]!, cells[i]!);
    this.#out.fragment(CLOSE_ROW);
  }
}

function writeData(out: ByteSink, column: Column, cell: Cell): void {
  if (cell === null) {
    out.fragment(NULL_CELL);
    return;
  }
  out.fragment(OPEN_CELL);
  if (isPlain(column, cell)) out.number(cell);
  else {
    const text = cellText(column, cell);
    if (text.length < SHORT_TEXT) out.text(text);
    else out.longText(text);
  }
  out.fragment(CLOSE_CELL);
}

/** Whether VOTable writes the number in the same way as JSON. */
function isPlain({ type }: Column, cell: Cell): cell is number {
  return (type === 'float64' || type === 'int32') && Number.isFinite(cell) && !Object.is(cell, -0);
}

/** The maximum length of a text that is copied character by character. */
const SHORT_TEXT = 40;

function cellText({ type }: Column, cell: Exclude<Cell, null>): string {
  if (type === 'float64' || type === 'float32') return floatText(cell as number, type);
  if (type === 'time') return timestamp(cell as number);
  return type === 'text' ? escapeXml(cell as string) : `${cell}`;
}

/**
 * The shortest text that reads back as the same number. VOTable 1.4, section 6, defines the names of values that are
 * not finite.
 */
function floatText(value: number, type: ColumnType): string {
  if (Number.isFinite(value)) return numberText(value, type);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function fieldElement(column: Column): string {
  const { name, unit, ucd, description, xmlId } = column;
  const attributes = Object.entries({
    name,
    ID: xmlId,
    ...datatypeOf(column),
    unit,
    ucd,
    ref: systemOf(column),
  }).flatMap(([attribute, value]) => (value === undefined ? [] : `${attribute}="${escapeXml(value)}"`));
  return `<FIELD ${attributes.join(' ')}><DESCRIPTION>${escapeXml(description)}</DESCRIPTION></FIELD>\n`;
}

function serviceElement({
  name,
  description,
  accessUrl,
  standardId,
  contentType,
  parameter,
  of,
}: ColumnService): string {
  const param = (name: string, value: string, more = '') =>
    `<PARAM name="${name}" datatype="char" arraysize="*" value="${escapeXml(value)}"${more}/>\n`;
  return (
    `<RESOURCE type="meta" utype="adhoc:service" name="${name}">\n<DESCRIPTION>${escapeXml(description)}</DESCRIPTION>\n` +
    `${param('standardID', standardId)}${param('accessURL', accessUrl)}${param('contentType', contentType)}` +
    `<GROUP name="inputParams">\n${param(parameter, '', ` ref="${of}"`)}</GROUP>\n</RESOURCE>\n`
  );
}

/** The elements for the coordinate and time systems that columns refer to. */
function systemsOf(columns: readonly Column[]): string {
  const used = new Set(columns.map(systemOf));
  const frames = new Set(columns.flatMap(({ frame }) => frame ?? []));
  const epochs = new Set(columns.flatMap(column => (systemOf(column)?.startsWith(ICRS_AT) ? column.epoch! : [])));
  const known = Object.entries(SYSTEMS).map(([name, element]) => (used.has(name) ? element : ''));
  const atEpochs = [...epochs].map(
    epoch => `<COOSYS ID="${epochId(epoch)}" system="ICRS" epoch="${escapeXml(epoch)}"/>\n`,
  );
  return [...known, ...atEpochs, ...[...frames].map(coosys)].join('');
}

/** The element for a frame such as `FK4 B1950` or `GALACTIC`, with VOTable's own name for it if there is one. */
function coosys(frame: string): string {
  const [, system = frame, equinox] = /^(FK[45]) (.*)$/.exec(frame) ?? [];
  const name = equinox === undefined ? (frame === 'GALACTIC' ? 'galactic' : frame) : `eq_${system}`;
  return `<COOSYS ID="${frameId(frame)}" system="${escapeXml(name)}"${equinox === undefined ? '' : ` equinox="${escapeXml(equinox)}"`}/>\n`;
}

const ICRS_AT = 'icrs_';
const epochId = (epoch: string) => `${ICRS_AT}${epoch.replace(/[^\w.-]/g, '_')}`;
const frameId = (frame: string) => `frame_${frame.replace(/[^\w.-]/g, '_')}`;

/** The ID of the coordinate or time system of a column's values. */
function systemOf({ type, ucd, frame, epoch }: Column): string | undefined {
  if (type === 'time') return 'utc';
  if (frame !== undefined) return frameId(frame);
  if (ucd === undefined || !/^pos[._]eq[._](ra|dec)\b|^POS_EQ_(RA|DEC)/.test(ucd)) return undefined;
  return epoch === undefined ? 'icrs' : epochId(epoch);
}

function infoElement({ name, value, text }: Info): string {
  const attributes = `name="${escapeXml(name)}" value="${escapeXml(value)}"`;
  return text === undefined ? `<INFO ${attributes}/>\n` : `<INFO ${attributes}>${escapeXml(text)}</INFO>\n`;
}

/**
 * Makes a document with an error instead of a table. Clients of Simple Cone Search 1.03 find the message in the INFO
 * `Error` (section 2.3, erratum 3), clients of DALI 1.1 in QUERY_STATUS (section 4.4).
 */
export function votableError(message: string): string {
  const error = infoElement({ name: 'Error', value: message }).replace('<INFO', '<INFO ID="Error"');
  const status = infoElement({ name: 'QUERY_STATUS', value: 'ERROR', text: message });
  return `${DECLARATION}${OPEN_DOCUMENT}${error}<RESOURCE type="results">\n${status}</RESOURCE>\n</VOTABLE>\n`;
}
