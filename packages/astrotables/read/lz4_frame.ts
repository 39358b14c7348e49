/**
 * Decompresses LZ4 frames, which Arrow uses (LZ4 Frame Format 1.6.4). The npm packages for LZ4 either read only blocks
 * without a frame, or are native. Checksums are ignored, because the cells are checked.
 */
import { TableError } from './input_table.ts';

const MAGIC = 0x184d2204;
/** Flags in the first byte of the header. */
const [HAS_BLOCK_CHECKSUM, HAS_CONTENT_SIZE, HAS_DICTIONARY] = [0x10, 0x08, 0x01];
const UNCOMPRESSED = 0x8000_0000;
const MIN_MATCH = 4;

/** @throws TableError if the bytes are not a frame, or decompress to more than `maxBytes` */
export function lz4Frame(frame: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const flags = view.getUint8(4);
  if (view.getUint32(0, true) !== MAGIC || flags >> 6 !== 1 || flags & HAS_DICTIONARY)
    throw new TableError('it has bytes that are not an LZ4 frame');
  const out = new Output(maxBytes);
  for (let at = 7 + (flags & HAS_CONTENT_SIZE ? 8 : 0); ; ) {
    const size = view.getUint32(at, true);
    if (size === 0) return out.taken;
    const end = at + 4 + (size & ~UNCOMPRESSED);
    if (end > frame.length) throw ended();
    const block = frame.subarray(at + 4, end);
    if (size >= UNCOMPRESSED) out.add(block);
    else addBlock(block, out);
    at = end + (flags & HAS_BLOCK_CHECKSUM ? 4 : 0);
  }
}

/** Sequences of literals and a match; the last one has no match (LZ4 Block Format). */
function addBlock(block: Uint8Array, out: Output): void {
  for (let at = 0; at < block.length; ) {
    const token = block[at++]!;
    const length = (short: number) => {
      let total = short;
      for (let byte = short === 15 ? 255 : 0; byte === 255; total += byte) {
        if (at >= block.length) throw ended();
        byte = block[at++]!;
      }
      return total;
    };
    const literals = length(token >> 4);
    if (at + literals > block.length) throw ended();
    out.add(block.subarray(at, at + literals));
    at += literals;
    if (at === block.length) return;
    if (at + 2 > block.length) throw ended();
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    out.repeat(distance, MIN_MATCH + length(token & 15));
  }
}

/** The decompressed bytes. Later blocks refer to them. */
class Output {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get taken(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  add(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  repeat(distance: number, length: number): void {
    const from = this.#length - distance;
    if (distance === 0 || from < 0) throw new TableError('a frame of LZ4 in it refers to missing bytes');
    this.#makeRoom(length);
    // A match may include bytes that the same match writes.
    for (let i = 0; i < length; i++) this.#bytes[this.#length + i] = this.#bytes[from + i]!;
    this.#length += length;
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#maxBytes)
      throw new TableError(`one of its parts has more than ${this.#maxBytes} bytes when it is decompressed`);
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.taken);
    this.#bytes = grown;
  }
}

function ended(): TableError {
  return new TableError('a frame of LZ4 in it ends early');
}
