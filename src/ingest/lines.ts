/** Lines of a file or of standard input, decompressed where they are gzipped, in blocks as they arrive. */

import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../error_text.ts';

/** A longer line is not read: far above an alert with its cutouts (1.6 MB), far below what would trouble the memory. */
export const MAX_LINE_BYTES = 16 * 2 ** 20;
/** Of a line that cannot be used, this much is kept to show. */
const HEAD_BYTES = 4096;
const READ_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Some editors put it at the beginning of a file; it is no part of the first line. */
const BYTE_ORDER_MARK = /^\uFEFF/;
/** No JSON text begins with the first byte of gzip's magic number. */
const GZIP_FIRST_BYTE = 0x1f;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its line break; where there is a problem, only its beginning. */
  readonly text: string;
  /** Why the line cannot be used. */
  readonly problem?: string;
}

/** A file, or standard input where the name is `-`. Destroy it when done, also in the middle. */
export function openSource(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file, { highWaterMark: READ_BYTES });
}

/**
 * The lines of a source, in blocks. Gzip is known by its first byte, or by the name `.gz`.
 * @throws Error where it cannot be read further (missing, broken gzip), after the lines before that
 */
export async function* readLines(source: Readable, file: string): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(MAX_LINE_BYTES);
  try {
    for await (const chunk of decompressed(source, file.endsWith('.gz'))) {
      const lines = splitter.split(chunk);
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    const why = messageOf(error);
    throw new Error(`Cannot read ${file} as ${why}: mend that and run again, what was read before is stored`, {
      cause: error,
    });
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

async function* decompressed(source: Readable, gzipped: boolean): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  async function* all() {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (!gzipped && (first.done || first.value[0] !== GZIP_FIRST_BYTE)) {
    yield* all();
    return;
  }
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  // An error of either end destroys gunzip with it, and the loop over gunzip throws it.
  pipeline(Readable.from(all()), gunzip, () => {});
  yield* gunzip;
}

/** Cuts chunks of bytes into lines. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #number = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that end within this chunk. */
  split(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
    return lines;
  }

  /** The last line where the input does not end with a line break: one line or none. */
  end(): Line[] {
    return this.#length > 0 ? [this.#take()] : [];
  }

  /** Of a line over the limit only the first part is kept. */
  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const room = this.#maxLineBytes - this.#length;
    this.#length += bytes.length;
    if (bytes.length <= room) this.#parts.push(bytes);
    else if (room > 0) this.#parts.push(bytes.subarray(0, room));
  }

  #take(): Line {
    const number = ++this.#number;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const length = this.#length;
    this.#parts = [];
    this.#length = 0;
    if (length > this.#maxLineBytes) {
      const problem = `longer than ${this.#maxLineBytes} bytes: current value is ${length}`;
      return { number, text: bytes.toString('utf8', 0, HEAD_BYTES), problem };
    }
    if (!isUtf8(bytes)) return { number, text: bytes.toString('utf8', 0, HEAD_BYTES), problem: 'not UTF-8' };
    const text = bytes.toString('utf8');
    return { number, text: number === 1 ? text.replace(BYTE_ORDER_MARK, '') : text };
  }
}
