/** Texts on disk, by number: those of a list may take more memory than there is. */
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { requireSpareBytes } from '../../core/base/disk.ts';

const WRITTEN_BYTES = 1 << 20;

/** The file is unlinked at once, so that it ends with the process. */
export class Spill {
  readonly #directory: string;
  readonly #file: number;
  readonly #ends: Float64Array;
  readonly #starts: Float64Array;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #bytes = 0;

  constructor(path: string, texts: number) {
    this.#directory = dirname(path);
    this.#file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    this.#starts = new Float64Array(texts);
    this.#ends = new Float64Array(texts);
  }

  /** Texts may be set in any order, each once. */
  set(at: number, text: string): void {
    const bytes = Buffer.from(text);
    this.#starts[at] = this.#bytes + this.#gatheredBytes;
    this.#ends[at] = this.#starts[at]! + bytes.length;
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    if (this.#gatheredBytes >= WRITTEN_BYTES) this.#write();
  }

  #write(): void {
    requireSpareBytes(this.#directory, this.#gatheredBytes);
    writeSync(this.#file, Buffer.concat(this.#gathered), 0, this.#gatheredBytes, this.#bytes);
    this.#bytes += this.#gatheredBytes;
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  get(at: number): string {
    if (this.#gatheredBytes > 0) this.#write();
    const bytes = Buffer.allocUnsafe(this.#ends[at]! - this.#starts[at]!);
    readSync(this.#file, bytes, 0, bytes.length, this.#starts[at]!);
    return bytes.toString();
  }

  close(): void {
    closeSync(this.#file);
  }
}
