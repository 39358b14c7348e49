/** A Parquet file that a reading process writes for the engine. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Column } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { beginParquet, type ParquetTableWriter } from '@nearsky/astrotables/parquet_writer';
import { requireSpareBytes } from '../../core/base/disk.ts';

const ABOUT = { program: 'nearsky', json: '{}' };

export class EngineFile implements Disposable {
  readonly writer: ParquetTableWriter;
  readonly #directory: string;
  readonly #file: number;
  readonly #out = new ByteSink();

  /** @param copied as for `beginParquet` */
  constructor(path: string, columns: readonly Column[], copied?: Parameters<typeof beginParquet>[3]) {
    this.#directory = dirname(path);
    this.#file = openSync(path, 'w', 0o600);
    this.writer = beginParquet(this.#out, { name: '', description: '', columns }, ABOUT, copied);
  }

  /** The number of bytes that the writer has made and `drain` has not yet moved to the file. */
  get pendingBytes(): number {
    return this.#out.length;
  }

  /** @throws Unavailable if the disk is full */
  drain(): void {
    requireSpareBytes(this.#directory, this.#out.length);
    writeSync(this.#file, this.#out.bytes, 0, this.#out.length);
    this.#out.clear();
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
