import { closeSync, readSync, writeSync } from 'node:fs';
import { openAnonymousFile } from '../../core/base/files.ts';
import { storeError } from '../../core/store/store_error.ts';
import { type Line, LineCutter, MAX_LINE_BYTES, splitLines } from '../ingest/lines.ts';

const BLOCK_BYTES = 2 ** 20;
/** The bytes before each line, which hold its file and line number. */
const MAX_PREFIX_BYTES = 64;

interface EarlyLine {
  readonly file: string;
  readonly line: Line;
}

/**
 * Stores lines that come before the line of their object on disk, until all other lines are read. The file has no name,
 * so it disappears however the process ends.
 */
export class EarlyLines {
  readonly #dataDir: string;
  readonly #files: string[] = [];
  #waiting = '';
  #descriptor: number | undefined;
  #size = 0;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** @throws StoreError */
  add(file: string, line: Line): void {
    if (this.#files.at(-1) !== file) this.#files.push(file);
    this.#waiting += `${this.#files.length - 1} ${line.number} ${line.text}\n`;
    if (this.#waiting.length >= BLOCK_BYTES) this.#write();
  }

  #write(): void {
    try {
      this.#descriptor ??= openAnonymousFile(this.#dataDir);
      const bytes = Buffer.from(this.#waiting);
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#size + at);
      }
      this.#size += bytes.length;
      this.#waiting = '';
    } catch (error) {
      throw storeError(`keep the lines that arrived before their object in ${this.#dataDir}`, error);
    }
  }

  /** The lines, in the order of `add`. Call it after the last `add`. */
  *read(): Iterable<EarlyLine> {
    this.#write();
    const maxLineBytes = MAX_LINE_BYTES + MAX_PREFIX_BYTES;
    const cutter = new LineCutter(maxLineBytes);
    for (let at = 0; at < this.#size; ) {
      const block = Buffer.alloc(Math.min(BLOCK_BYTES, this.#size - at));
      at += readSync(this.#descriptor!, block, 0, block.length, at);
      for (const { text } of cutter.cut(block).flatMap(lines => [...splitLines(lines, maxLineBytes)])) {
        const [place, number] = text.split(' ', 2) as [string, string];
        yield {
          file: this.#files[Number(place)]!,
          line: { number: Number(number), text: text.slice(place.length + number.length + 2) },
        };
      }
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}
