/**
 * Reads the few rows of a small area in the engine's own process, if stored positions identify them. Another process
 * takes several times as long, mostly for messages and a file. Large, unusual and damaged parts are left to that
 * process, which has its own memory and reports the reason for a failure.
 */
import type { Cell } from '@nearsky/astrotables';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, catalogFiles } from '@nearsky/hats';
import { openPositions } from '@nearsky/hats/positions';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import { positionFilesOf } from '../catalogs/stored_positions.ts';
import { filesWithin, type KnownSources, wantedIn } from './known_sources.ts';
import { addCells, rowsInPositions, touches } from './near_rows.ts';
import type { PartWanted } from './query_sources.ts';

/** The limits for all such rows of a query, because reading them occupies the engine. */
const MAX_FILES = 8;
const MAX_POSITIONS = 1 << 17;
const MAX_CELLS = 1 << 16;
/**
 * The memory for the columns of the row groups that have the rows: a page is decoded as a whole, and its strings take
 * several times as much of a small heap.
 */
const MAX_BYTES = 16 << 20;
/** The memory for a number. An encoding may store a million of them in a few bytes. */
const NUMBER_BYTES = 8;

export class RowsAtHand {
  readonly #dataDir: string;
  readonly #known: (catalog: string) => KnownSources | undefined;
  #files = MAX_FILES;
  #positions = MAX_POSITIONS;
  #cells = MAX_CELLS;
  #bytes: number;

  /**
   * @param maxBytes the number of bytes that a query may read of catalogs
   * @param known finds a registered catalog
   */
  constructor(dataDir: string, maxBytes: number, known: (catalog: string) => KnownSources | undefined) {
    this.#dataDir = dataDir;
    this.#bytes = Math.min(MAX_BYTES, maxBytes);
    this.#known = known;
  }

  /** The cells of each wanted column; undefined if another process must read the part. */
  async read(wanted: PartWanted): Promise<readonly Cell[][] | undefined> {
    const known = this.#known(wanted.catalog);
    const { bounds, columns, rows, isFar, digest } = wanted;
    if (known?.digest !== digest || !bounds || rows !== undefined || isFar) return undefined;
    const { registration, table } = known;
    const isKnown = ({ name, type }: (typeof columns)[number]) =>
      type !== 'time' && table.columns.some(column => column.name === name && column.type === type);
    if (!columns.every(isKnown)) return undefined;
    const { location } = registration;
    const names = filesWithin(registration, bounds);
    const positionFiles = positionFilesOf(this.#dataDir, location, registration.columns);
    this.#files -= names.length;
    if (!positionFiles || this.#files < 0) return undefined;
    const cells: Cell[][] = columns.map(() => []);
    try {
      const files = await catalogFiles(location);
      for (const name of names) {
        using file = disposable(await openParquet(await files.open(name)));
        const { parquet } = file;
        const own = wantedIn(parquet, wanted, known);
        const found = openPositions(positionFiles.pathOf(name), parquet);
        if (typeof found === 'string') return undefined;
        using positions = found;
        for (const group of parquet.rowGroups.keys()) {
          if (!touches(parquet, group, bounds)) continue;
          const runs = positions.within(group, MAX_AREA_ORDER, bounds);
          for (const [from, to] of runs) this.#positions -= to - from;
          if (this.#positions < 0) return undefined;
          const some = rowsInPositions(positions, group, bounds, Math.floor(this.#cells / columns.length), runs);
          if (!some || some === 'many') return undefined;
          if (some.length === 0) continue;
          this.#cells -= some.length * columns.length;
          for (const { stored } of own) if (stored !== undefined) this.#bytes -= memoryOf(parquet, stored, group);
          if (this.#bytes < 0) return undefined;
          await addCells(cells, parquet, own, some);
          // Many rows may have the same long string of a dictionary.
          for (const column of cells) for (const cell of column.slice(-some.length)) this.#bytes -= lengthOf(cell);
          if (this.#bytes < 0) return undefined;
        }
      }
    } catch (error) {
      if (error instanceof ReadFailure || error instanceof CatalogError) return undefined;
      throw error;
    }
    return cells;
  }
}

function memoryOf(parquet: ParquetFile, column: string, group: number): number {
  const { rowStart, rowEnd } = parquet.rowGroups[group]!;
  return Math.max(parquet.bytesInRowGroup(column, group), NUMBER_BYTES * (rowEnd - rowStart));
}

const lengthOf = (cell: Cell) => (typeof cell === 'string' ? cell.length : 0);

const disposable = <T extends { close(): void }>(parquet: T) => ({ parquet, [Symbol.dispose]: () => parquet.close() });
