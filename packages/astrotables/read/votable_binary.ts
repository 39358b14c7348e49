/**
 * Reads the rows of a VOTable from bytes (VOTable 1.4, sections 5.3 and 5.4): big-endian, and in BINARY2 with one null
 * bit per cell.
 */
import { type Cell, type ColumnType, numberText } from '../columns.ts';
import { TableError } from './input_table.ts';

/** The attributes of a FIELD about its cells. */
export interface Datatype {
  readonly datatype: string;
  readonly arraysize: string | undefined;
  /** The number that stands for null. */
  readonly blank: Cell | undefined;
}

interface BinaryField extends Datatype {
  readonly type: ColumnType;
}

interface Item {
  readonly bytes: number;
  read(view: DataView, at: number): Cell;
}

const ITEMS: Readonly<Record<string, Item>> = {
  boolean: { bytes: 1, read: (view, at) => booleanOf(view.getUint8(at)) },
  // Writers set different bits of the byte: astropy sets 0x08.
  bit: { bytes: 1, read: (view, at) => view.getUint8(at) !== 0 },
  unsignedByte: { bytes: 1, read: (view, at) => view.getUint8(at) },
  short: { bytes: 2, read: (view, at) => view.getInt16(at) },
  int: { bytes: 4, read: (view, at) => view.getInt32(at) },
  long: { bytes: 8, read: (view, at) => view.getBigInt64(at) },
  float: { bytes: 4, read: (view, at) => view.getFloat32(at) },
  double: { bytes: 8, read: (view, at) => view.getFloat64(at) },
  floatComplex: { bytes: 8, read: (view, at) => `${view.getFloat32(at)} ${view.getFloat32(at + 4)}` },
  doubleComplex: { bytes: 16, read: (view, at) => `${view.getFloat64(at)} ${view.getFloat64(at + 8)}` },
  char: { bytes: 1, read: () => null },
  unicodeChar: { bytes: 2, read: () => null },
};

function booleanOf(code: number): boolean | null {
  const character = String.fromCharCode(code);
  return 'Tt1'.includes(character) ? true : 'Ff0'.includes(character) ? false : null;
}

export class BinaryRows {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #fields: readonly BinaryField[];
  readonly #flagBytes: number;

  constructor(bytes: Buffer, fields: readonly BinaryField[], hasFlags: boolean) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#fields = fields;
    this.#flagBytes = hasFlags ? Math.ceil(fields.length / 8) : 0;
    const unknown = fields.find(({ datatype }) => !ITEMS[datatype]);
    if (unknown) throw new TableError(`one of its fields has the datatype ${unknown.datatype}, which cannot be read`);
  }

  *rows(): Iterable<Cell[]> {
    for (let at = 0; at < this.#bytes.length; ) {
      const flags = at;
      at += this.#flagBytes;
      const record: Cell[] = [];
      for (let i = 0; i < this.#fields.length; i++) {
        const { cell, end } = this.#cell(this.#fields[i]!, at);
        const isNull = this.#flagBytes > 0 && (this.#bytes[flags + (i >> 3)]! & (0x80 >> (i & 7))) !== 0;
        record.push(isNull ? null : cell);
        at = end;
      }
      yield record;
    }
  }

  #cell({ datatype, arraysize = '1', blank, type }: BinaryField, at: number): { cell: Cell; end: number } {
    const item = ITEMS[datatype]!;
    const sizes = arraysize.split('x');
    const isVariable = arraysize.includes('*');
    let start = at;
    let count = sizes
      .slice(0, isVariable ? -1 : undefined)
      .reduce((product, size) => product * Number.parseInt(size, 10), 1);
    if (isVariable) {
      if (at + 4 > this.#bytes.length) throw ended();
      count = this.#view.getUint32(at);
      start += 4;
    }
    const isBits = datatype === 'bit';
    const end = start + (isBits ? Math.ceil(count / 8) : count * item.bytes);
    if (!(end <= this.#bytes.length && end >= at)) throw ended();
    if (datatype.endsWith('har')) {
      // An array of strings of one length, each with its own padding.
      const length = sizes.length > 1 ? Math.max(1, Number.parseInt(sizes[0]!, 10) * item.bytes) : end - start;
      const texts: string[] = [];
      for (let from = start; from < end; from += length) {
        const bytes = this.#bytes.subarray(from, Math.min(from + length, end));
        texts.push(textOf(datatype === 'char' ? bytes.toString('utf8') : utf16(bytes)));
      }
      return { cell: texts.join(' ').trimEnd() || null, end };
    }
    if (type !== 'text') {
      const cell = item.read(this.#view, start);
      return { cell: cell === blank ? null : cell, end };
    }
    const itemAt = (i: number) =>
      isBits ? (this.#bytes[start + (i >> 3)]! >> (7 - (i & 7))) & 1 : item.read(this.#view, start + i * item.bytes);
    const shown = (item: Cell) => (datatype === 'float' ? numberText(item as number, 'float32') : item);
    const items = Array.from({ length: count }, (_, i) => shown(itemAt(i)));
    return { cell: items.join(' ') || null, end };
  }
}

function ended(): TableError {
  return new TableError('its rows end early, or do not fit its fields');
}

/** Removes the padding of fixed lengths: zeros or blanks. */
function textOf(text: string): string {
  return text.split('\0', 1)[0]!.trimEnd();
}

function utf16(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString('utf16le');
}
