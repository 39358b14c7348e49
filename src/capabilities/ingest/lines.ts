/** Reads the lines of a file or of standard input, in blocks as they arrive. Decompresses gzip. */
import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../core/base/error_text.ts';

/**
 * Longer lines are not read. The limit is far above the size of an alert with cutouts (1.6 MB), and far below a size
 * that would strain the memory.
 */
export const MAX_LINE_BYTES = 16 * 2 ** 20;
/** How much of an unusable line is kept for display. */
const HEAD_BYTES = 4096;
const READ_BYTES = 2 ** 20;
/** About the number of lines per commit. */
const MAX_BLOCK_LINES = 1000;
const NEWLINE = 0x0a;
/** A byte order mark, which some editors write at the start of a file. It is not part of the first line. */
const BYTE_ORDER_MARK = /^\uFEFF/;
/** No JSON text starts with this byte, the first of gzip's magic number. */
const GZIP_FIRST_BYTE = 0x1f;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** The line without its line break; of an unusable line, only the beginning. */
  readonly text: string;
  /** Why the line cannot be used. */
  readonly problem?: string;
}

export interface PlacedLine extends Line {
  /** The offset of the line in the bytes of the block. */
  readonly start: number;
}

/** Whole lines, unparsed. The block is plain data for any thread. It has its own buffer, which may be transferred. */
export interface LineBlock {
  /** The lines, with the line breaks between them, but not the last one. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of the first line, from 1. */
  readonly firstLine: number;
  /** How many bytes longer than the limit the first line is. These bytes are missing from its end. */
  readonly missingBytes: number;
}

/**
 * A stream of bytes, in chunks. A chunk may be overwritten when the next one is requested. The stream must be destroyed
 * after use, even if it was not read to its end.
 */
export interface ByteStream extends AsyncIterable<Buffer> {
  destroy(): void;
}

/**
 * Opens a file, or standard input if the name is `-`.
 * @param onRead called after each read of a file, with the number of bytes read; not called for standard input
 */
export function openByteStream(file: string, onRead: (bytes: number) => void = () => {}): ByteStream {
  return file === '-' ? process.stdin : new FileStream(file, onRead);
}

/**
 * Every read uses the same buffer. With new buffers, the garbage collector counted their bytes, and stopped the thread
 * 50 times in 100,000 alerts.
 */
class FileStream implements ByteStream {
  readonly #opened: Promise<FileHandle>;
  readonly #onRead: (bytes: number) => void;

  constructor(file: string, onRead: (bytes: number) => void) {
    this.#onRead = onRead;
    this.#opened = open(file);
    this.#opened.catch(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const handle = await this.#opened;
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    try {
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, null);
        if (bytesRead === 0) return;
        this.#onRead(bytesRead);
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  destroy(): void {
    this.#opened.then(handle => handle.close()).catch(() => {});
  }
}

/** How far a file was stored that can be read no further. */
export const STORED_BEFORE = 'the part read before is stored';

/**
 * The lines of a stream, in blocks. Gzip is recognised by its first byte or by the extension `.gz`.
 * @param read what the error says about the lines that were yielded before it
 * @throws Error if the stream cannot be read further (missing file, broken gzip), after yielding the lines before the
 * fault
 */
export async function* readBlocks(stream: ByteStream, file: string, read?: string): AsyncGenerator<LineBlock> {
  const cutter = new LineCutter(MAX_LINE_BYTES);
  try {
    for await (const chunk of decompressed(stream, file.endsWith('.gz'))) {
      yield* cutter.cut(chunk);
    }
  } catch (error) {
    const what = `Cannot read ${file} because ${messageOf(error)}: fix that and run again`;
    throw new Error(read === undefined ? what : `${what}; ${read}`, { cause: error });
  }
  yield* cutter.end();
}

async function* decompressed(stream: ByteStream, gzipped: boolean): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  const first = await chunks.next();
  async function* all() {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (!gzipped && (first.done || first.value[0] !== GZIP_FIRST_BYTE)) {
    yield* all();
    return;
  }
  // The chunks are copied, because the pipeline reads ahead.
  async function* copies() {
    for await (const chunk of all()) yield Buffer.from(chunk);
  }
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  // An error in either stream destroys gunzip with that error, and the loop over gunzip throws it.
  pipeline(Readable.from(copies()), gunzip, () => {});
  yield* gunzip;
}

/** Splits chunks of bytes into lines. */
export class LineCutter {
  readonly #maxLineBytes: number;
  /** The parts of a line that has not ended yet, up to the limit, and the full length of the line. */
  #parts: Uint8Array[] = [];
  #length = 0;
  #nextLine = 1;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Adds a chunk, and returns the lines that end in it, in blocks. The chunk may be overwritten afterwards. */
  cut(chunk: Buffer): LineBlock[] {
    const blocks: LineBlock[] = [];
    /** The next block: where it starts, how many lines it has so far, and where its first and its last line end. */
    let [start, lines, firstEnd, lastEnd] = [0, 0, 0, 0];
    const take = () => {
      blocks.push(this.#take(chunk.subarray(start, firstEnd), chunk.subarray(firstEnd, lastEnd), lines));
      start = lastEnd + 1;
      lines = 0;
    };
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, end + 1)) {
      if (lines === 0) firstEnd = end;
      lastEnd = end;
      if (++lines === MAX_BLOCK_LINES) take();
    }
    if (lines > 0) take();
    this.#append(chunk.subarray(start));
    return blocks;
  }

  /** The last line, if the input does not end with a line break: one block or none. */
  end(): LineBlock[] {
    const nothing = new Uint8Array(0);
    return this.#length > 0 ? [this.#take(nothing, nothing, 1)] : [];
  }

  /** Appends bytes. Of a line that exceeds the limit, only the beginning is kept. */
  #append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const room = this.#maxLineBytes - this.#length;
    this.#length += bytes.length;
    if (room > 0) this.#parts.push(new Uint8Array(bytes.subarray(0, room)));
  }

  /**
   * Takes a block of `lines` lines. The first is the line in progress, followed by `end`. The others are in `rest`,
   * each after its line break.
   */
  #take(end: Uint8Array, rest: Uint8Array, lines: number): LineBlock {
    this.#append(end);
    const kept = Math.min(this.#length, this.#maxLineBytes);
    const bytes = new Uint8Array(kept + rest.length);
    let at = 0;
    for (const part of [...this.#parts, rest]) {
      bytes.set(part, at);
      at += part.length;
    }
    const block = { bytes, firstLine: this.#nextLine, missingBytes: this.#length - kept };
    this.#nextLine += lines;
    this.#parts = [];
    this.#length = 0;
    return block;
  }
}

/** Yields the lines of a block. Each line is made when it is requested, so the block must not change before that. */
export function* splitLines(
  { bytes, firstLine, missingBytes }: LineBlock,
  maxLineBytes: number,
): Generator<PlacedLine> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let missing = missingBytes;
  for (let number = firstLine, start = 0, end: number; start <= buffer.length; number++, start = end + 1) {
    end = buffer.indexOf(NEWLINE, start);
    if (end === -1) end = buffer.length;
    yield { ...lineOf(number, buffer.subarray(start, end), missing, maxLineBytes), start };
    missing = 0;
  }
}

function lineOf(number: number, bytes: Buffer, missingBytes: number, maxLineBytes: number): Line {
  const length = bytes.length + missingBytes;
  if (length > maxLineBytes) {
    const problem = `longer than ${maxLineBytes} bytes (${length} bytes)`;
    return { number, text: bytes.toString('utf8', 0, Math.min(HEAD_BYTES, maxLineBytes)), problem };
  }
  if (!isUtf8(bytes)) return { number, text: bytes.toString('utf8', 0, HEAD_BYTES), problem: 'not UTF-8' };
  const text = bytes.toString('utf8');
  return { number, text: number === 1 ? text.replace(BYTE_ORDER_MARK, '') : text };
}
