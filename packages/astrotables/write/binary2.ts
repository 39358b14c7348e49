/**
 * The rows of a VOTable as BINARY2 (VOTable 1.4, section 5.4), in base64: per row one null bit per column, then the
 * cells, big-endian.
 */
import { ByteSink } from '../bytes.ts';
import { type Cell, type Column, lengthOf, type Row } from '../columns.ts';
import { timestamp } from '../timestamp.ts';

/** The bytes of one line of base64 in the document: 48 bytes make 64 characters. */
const LINE_BYTES = 48;
const LINE_CHARACTERS = 64;
/** The number of bytes that are encoded at once. */
const BLOCK_BYTES = 256 * LINE_BYTES;

const FIXED_BYTES = { int64: 8, int32: 4, float64: 8, float32: 4, boolean: 1 } as const;
const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

export class Binary2 {
  readonly #out: ByteSink;
  readonly #columns: readonly Column[];
  readonly #flagBytes: number;
  /** Bytes that are not written yet, because they do not fill a line. */
  readonly #held = new ByteSink();

  constructor(out: ByteSink, columns: readonly Column[]) {
    this.#out = out;
    this.#columns = columns;
    this.#flagBytes = Math.ceil(columns.length / 8);
  }

  /** @param cells each null or of its column's type */
  row(cells: Row): void {
    const held = this.#held;
    for (let at = 0; at < this.#flagBytes; at++) held.byte(this.#flags(cells, 8 * at));
    this.#columns.forEach((column, i) => {
      this.#cell(column, cells[i]!);
    });
    if (held.length >= BLOCK_BYTES) this.#flush(Math.floor(held.length / LINE_BYTES) * LINE_BYTES);
  }

  /** Writes the remaining bytes. */
  end(): void {
    this.#flush(this.#held.length);
  }

  /** The null flags of the eight columns from `from` on; the highest bit is the first column's. */
  #flags(cells: Row, from: number): number {
    let flags = 0;
    for (let i = from; i < Math.min(from + 8, this.#columns.length); i++)
      if (cells[i] === null) flags |= 0x80 >> (i - from);
    return flags;
  }

  #cell({ type, isAscii, numbers, shape }: Column, cell: Cell): void {
    if (type === 'time') this.#ascii(cell === null ? '' : timestamp(cell as number));
    else if (type !== 'text') this.#fixed(type, cell);
    else if (numbers) this.#numbers((cell ?? '') as string, numbers, lengthOf(shape));
    else if (isAscii) this.#ascii((cell ?? '') as string);
    else this.#unicode(((cell ?? '') as string).toWellFormed());
  }

  #fixed(type: keyof typeof FIXED_BYTES, cell: Cell): void {
    if (cell === null && type === 'float32') scratch.setFloat32(0, Number.NaN);
    else if (cell === null) scratch.setFloat64(0, type === 'float64' ? Number.NaN : 0);
    else if (type === 'int64') scratch.setBigInt64(0, cell as bigint);
    else if (type === 'int32') scratch.setInt32(0, cell as number);
    else if (type === 'float64') scratch.setFloat64(0, cell as number);
    else if (type === 'float32') scratch.setFloat32(0, cell as number);
    else scratch.setUint8(0, (cell ? 'T' : 'F').charCodeAt(0));
    this.#held.range(scratchBytes, 0, FIXED_BYTES[type]);
  }

  /** @param length how many values an array has, if its column does not fix their number */
  #numbers(text: string, type: 'int64' | 'float64', length: number | undefined): void {
    const list = text.split(' ').filter(Boolean);
    if (length === undefined) this.#count(list.length);
    else while (list.length < length) list.push('NaN');
    for (const each of list) this.#fixed(type, type === 'int64' ? BigInt(each) : Number(each));
  }

  #ascii(text: string): void {
    this.#count(text.length);
    for (let i = 0; i < text.length; i++) this.#held.byte(text.charCodeAt(i));
  }

  /** Writes UTF-16 code units: the characters of VOTable have two bytes, because it uses UCS-2. */
  #unicode(text: string): void {
    this.#count(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      this.#held.byte(unit >> 8);
      this.#held.byte(unit & 0xff);
    }
  }

  #count(count: number): void {
    scratch.setInt32(0, count);
    this.#held.range(scratchBytes, 0, 4);
  }

  /** Writes the first `length` bytes of `#held`, in lines. */
  #flush(length: number): void {
    const held = this.#held;
    const text = Buffer.from(held.bytes.buffer, 0, length).toString('base64');
    for (let at = 0; at < text.length; at += LINE_CHARACTERS) {
      this.#out.part(text, at, Math.min(at + LINE_CHARACTERS, text.length));
      this.#out.text('\n');
    }
    held.bytes.copyWithin(0, length, held.length);
    held.length -= length;
  }
}
