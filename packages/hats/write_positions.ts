/** Writes the positions of a Parquet file's rows: see positions.ts. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { MAGIC, PAGE_BYTES, PAGE_ROWS, type PositionsOf, placeOf, TRAILER_BYTES } from './positions.ts';

/** Ends the name of a file that is being written; before it are the ids of the process and the thread. */
const UNFINISHED = '.part';
const WRITTEN_BY = /\.(\d+)-\d+\.part$/;

/** The id of the process that writes a file, or was killed while it did; undefined for a complete file. */
export function writerOf(name: string): number | undefined {
  const pid = WRITTEN_BY.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** The bytes written at once. */
const WRITTEN_BYTES = 64 * PAGE_BYTES;

/**
 * Writes a position file, row group by row group. It has its name only when it is complete, so that a reader never sees
 * half of it. Memory is bounded, except for about 24 bytes per 256 rows.
 */
export class PositionsWriter implements Disposable {
  readonly #path: string;
  readonly #unfinished: string;
  readonly #values = new Float64Array(WRITTEN_BYTES / 8);
  readonly #lowest: number[] = [];
  readonly #highest: number[] = [];
  readonly #checksums: number[] = [];
  readonly #groups: number[] = [];
  #descriptor: number | undefined;
  #isComplete = false;
  #rows = 0;
  #filled = 0;

  /**
   * @param path the position file
   * @throws the system's errors, like the other methods
   */
  constructor(path: string) {
    this.#path = path;
    this.#unfinished = `${path}.${process.pid}-${threadId}${UNFINISHED}`;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#descriptor = openSync(this.#unfinished, 'w', 0o600);
  }

  /** @param ra as the columns have them, NaN for null */
  addGroup(ra: Float64Array, dec: Float64Array): void {
    let [without, before, isSorted] = [0, 0, true];
    for (let row = 0; row < ra.length; row++) {
      const place = placeOf(ra[row]!, dec[row]!);
      if (this.#rows % PAGE_ROWS === 0) {
        this.#lowest.push(Number.POSITIVE_INFINITY);
        this.#highest.push(Number.NEGATIVE_INFINITY);
      }
      if (Number.isNaN(place)) without++;
      else {
        if (place < before) isSorted = false;
        before = place;
        const page = this.#lowest.length - 1;
        if (place < this.#lowest[page]!) this.#lowest[page] = place;
        if (place > this.#highest[page]!) this.#highest[page] = place;
      }
      this.#values[this.#filled++] = ra[row]!;
      this.#values[this.#filled++] = dec[row]!;
      this.#rows++;
      if (this.#filled === this.#values.length) this.#write();
    }
    this.#groups.push(ra.length, without, isSorted ? 1 : 0);
  }

  /** Completes the file. Its contents are durable; its name is when the directory is flushed. */
  end({ byteLength, modifiedNs, footerChecksum }: PositionsOf): void {
    this.#write();
    const trailer = new DataView(new ArrayBuffer(TRAILER_BYTES));
    trailer.setUint32(0, MAGIC, true);
    trailer.setFloat64(8, byteLength, true);
    trailer.setBigInt64(16, modifiedNs, true);
    trailer.setUint32(24, footerChecksum, true);
    trailer.setFloat64(32, this.#rows, true);
    trailer.setFloat64(40, this.#groups.length / 3, true);
    const parts = [
      Float64Array.from(this.#lowest),
      Float64Array.from(this.#highest),
      Uint32Array.from(this.#checksums),
      Float64Array.from(this.#groups),
      new Uint8Array(trailer.buffer, 0, TRAILER_BYTES - 4),
    ].map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
    const checksum = parts.reduce((sum, part) => crc32(part, sum), 0);
    trailer.setUint32(TRAILER_BYTES - 4, checksum, true);
    writeAll(this.#descriptor!, Buffer.concat([...parts, Buffer.from(trailer.buffer, TRAILER_BYTES - 4)]));
    fsyncSync(this.#descriptor!);
    this.#close();
    renameSync(this.#unfinished, this.#path);
    this.#isComplete = true;
  }

  /** Removes the file unless it is complete. */
  [Symbol.dispose](): void {
    if (this.#isComplete) return;
    this.#close();
    rmSync(this.#unfinished, { force: true });
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(): void {
    const bytes = Buffer.from(this.#values.buffer, 0, 8 * this.#filled);
    for (let at = 0; at < bytes.length; at += PAGE_BYTES)
      this.#checksums.push(crc32(bytes.subarray(at, at + PAGE_BYTES)));
    writeAll(this.#descriptor!, bytes);
    this.#filled = 0;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
