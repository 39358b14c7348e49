/** Stores the positions of a catalog's rows while these are read, so that searches need not read them again. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@nearsky/astrotables/files';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { openPositions, ROW_BYTES } from '@nearsky/hats/positions';
import { PositionsWriter, writerOf } from '@nearsky/hats/write_positions';
import { spareBytesAt } from '../../core/base/disk.ts';
import { discard, flush, isThere } from '../../core/base/files.ts';
import { isAlive } from '../../core/base/processes.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { positionFilesOf } from './stored_positions.ts';

/** The search of a catalog works without stored positions. So a failure to store them never fails its registration. */
export class CatalogPositionsWriter {
  readonly #dataDir: string;
  readonly #written = new Set<string>();
  #directory: string | undefined;
  /** The number of files whose earlier positions could not be used: the file was replaced, or they were damaged. */
  unusable = 0;
  /** Why the positions of some files are not stored; undefined if all are, or the catalog is on another host. */
  problem: string | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** The number of files whose positions are stored. */
  get files(): number {
    return this.#written.size;
  }

  /** Begins to store the positions of one file. Undefined if they are not stored. */
  begin(
    catalog: Pick<CatalogRegistration, 'location' | 'columns'>,
    name: string,
    file: ParquetFile,
  ): FilePositionsWriter | undefined {
    const files = positionFilesOf(this.#dataDir, catalog.location, catalog.columns);
    if (!files || this.problem !== undefined) return undefined;
    this.#directory = files.directory;
    const path = files.pathOf(name);
    const former = openPositions(path, file);
    if (typeof former === 'object') former[Symbol.dispose]();
    else if (former !== 'missing') this.unusable++;
    return this.#attempt(() => {
      if (file.rows * ROW_BYTES > spareBytesAt(this.#dataDir)) throw new Error('the disk has no space for them');
      return new FilePositionsWriter(
        path,
        work => this.#attempt(work),
        () => this.#written.add(path),
      );
    });
  }

  /**
   * Makes the names durable. Removes the files of partitions that the catalog no longer has, and what killed processes
   * left. If some positions could not be stored, earlier ones stay: they may still be usable.
   */
  end(): void {
    const directory = this.#directory;
    if (directory === undefined || !isThere(directory)) return;
    const isLeft = (name: string) => {
      const pid = writerOf(name);
      if (pid !== undefined) return !isAlive(pid);
      return this.problem === undefined && !this.#written.has(join(directory, name));
    };
    this.#attempt(() => {
      for (const name of readdirSync(directory).filter(isLeft)) rmSync(join(directory, name), { force: true });
      flush(directory);
    });
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.problem ??= reasonOf(error);
      return undefined;
    }
  }
}

type Attempt = <T>(work: () => T) => T | undefined;

/** The positions of one file. They are dropped unless `end` is called. */
export class FilePositionsWriter implements Disposable {
  readonly #writer: PositionsWriter;
  readonly #attempt: Attempt;
  readonly #onEnd: () => void;
  #isWhole = true;

  constructor(path: string, attempt: Attempt, onEnd: () => void) {
    this.#writer = new PositionsWriter(path);
    this.#attempt = attempt;
    this.#onEnd = onEnd;
  }

  add(ra: Float64Array, dec: Float64Array): void {
    if (!this.#isWhole) return;
    this.#isWhole = false;
    this.#attempt(() => {
      this.#writer.addGroup(ra, dec);
      this.#isWhole = true;
    });
  }

  end({ byteLength, version, footerChecksum }: ParquetFile): void {
    if (!this.#isWhole || !version || footerChecksum === undefined) return;
    const { modifiedNs } = version;
    this.#attempt(() => {
      this.#writer.end({ byteLength, modifiedNs, footerChecksum });
      this.#onEnd();
    });
  }

  [Symbol.dispose](): void {
    this.#attempt(() => this.#writer[Symbol.dispose]());
  }
}

/** Removes the stored positions of a catalog, unless another registration has the same files. */
export function removePositions(
  dataDir: string,
  catalog: CatalogRegistration,
  others: readonly CatalogRegistration[],
): void {
  const directoryOf = ({ location, columns }: CatalogRegistration) =>
    positionFilesOf(dataDir, location, columns)?.directory;
  const directory = directoryOf(catalog);
  if (directory !== undefined && !others.some(other => directoryOf(other) === directory)) discard(directory);
}
