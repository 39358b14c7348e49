/** Picks the rows of a catalog in an area, where these are few of the rows that are stored together. */
import type { PixelBounds } from '@nearsky/adql';
import type { Cell } from '@nearsky/astrotables';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { HEALPIX_COLUMN, HEALPIX_ORDER, statedPixels } from '@nearsky/hats/layout';
import { type FilePositions, placeOf, UnusablePositions } from '@nearsky/hats/positions';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import { cellOf, type WantedColumn } from './engine_columns.ts';
import { EngineFile } from './engine_file.ts';
import type { PartWanted } from './query_sources.ts';

/** Copying the columns of a row group as they are stored takes less time than picking a larger share of its rows. */
const FEW_ROWS = 1 / 8;
/** The cells that are kept until they are written, and their bytes. */
const FEW_CELLS = 1 << 19;
const FEW_BYTES = 1 << 24;
/** The number of bits by which the number of a row's pixel is shifted to get that of an area's pixel. */
const SHIFT = 2 * (HEALPIX_ORDER - MAX_AREA_ORDER);

/** Whether rows of a row group may lie in an area, according to the statistics of their pixels. */
export function touches(file: ParquetFile, group: number, bounds: PixelBounds | undefined): boolean {
  const span = bounds && spanOf(file, group);
  return !span || hasAny(bounds, span.first, span.end);
}

/** Whether an area contains any pixel from `first` to `end` (exclusive). */
export function hasAny(bounds: PixelBounds, first: number, end: number): boolean {
  const next = nextRange(bounds, first);
  return next < bounds.length && bounds[next]! < end;
}

/** The share of the pixels between a row group's first and last that are in an area; 0 if the file does not tell them. */
function coveredShare(file: ParquetFile, group: number, bounds: PixelBounds): number {
  const span = spanOf(file, group);
  if (!span) return 0;
  const { first, end } = span;
  let covered = 0;
  for (let at = nextRange(bounds, first); at < bounds.length && bounds[at]! < end; at += 2)
    covered += Math.min(end, bounds[at + 1]!) - Math.max(first, bounds[at]!);
  return covered / (end - first);
}

/** The first pixel of a row group's rows, and the one behind the last; undefined if the file does not tell them. */
function spanOf(file: ParquetFile, group: number): { readonly first: number; readonly end: number } | undefined {
  const pixels = statedPixels(file, group);
  return pixels && { first: Number(pixels.min >> BigInt(SHIFT)), end: Number(pixels.max >> BigInt(SHIFT)) + 1 };
}

/** The index of the first range of an area that ends behind a pixel. */
function nextRange(bounds: PixelBounds, pixel: number): number {
  let [low, high] = [0, bounds.length / 2];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bounds[2 * middle + 1]! <= pixel) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

/** Writes the picked rows of all files to one file. */
export class PickedRows implements Disposable {
  readonly #path: string;
  readonly #columns: PartWanted['columns'];
  readonly #bounds: PixelBounds;
  #cells: Cell[][];
  #bytes = 0;
  #file: EngineFile | undefined;

  /** @param path the file, which is created with the first rows */
  constructor(path: string, columns: PartWanted['columns'], bounds: PixelBounds) {
    this.#path = path;
    this.#columns = columns;
    this.#bounds = bounds;
    this.#cells = columns.map(() => []);
  }

  /**
   * Takes the rows of a row group that lie in the area.
   * @param columns the columns as the file spells them
   * @param positions the stored positions of the file's rows, if there are any
   * @returns false if it took none because they are many or large, or because the file does not tell their exact pixels
   */
  async take(
    file: ParquetFile,
    group: number,
    columns: readonly WantedColumn[],
    positions?: FilePositions,
  ): Promise<boolean> {
    // If the area covers much of the row group, the pixels of its rows need not be read.
    if (coveredShare(file, group, this.#bounds) > FEW_ROWS) return false;
    const { rowStart, rowEnd } = file.rowGroups[group]!;
    const most = Math.min(FEW_ROWS * (rowEnd - rowStart), FEW_CELLS / this.#columns.length);
    const stored = positions && rowsInPositions(positions, group, this.#bounds, most);
    const rows = stored ?? (await rowsWithin(file, group, this.#bounds, most));
    if (rows === 'many') return false;
    const groupBytes = columns
      .flatMap(({ stored }) => stored ?? [])
      .reduce((sum, column) => sum + file.bytesInRowGroup(column, group), 0);
    const bytes = (groupBytes * rows.length) / (rowEnd - rowStart);
    if (bytes > FEW_BYTES) return false;
    this.#bytes += bytes;
    await addCells(this.#cells, file, columns, rows);
    if (this.#cells[0]!.length * this.#columns.length >= FEW_CELLS || this.#bytes >= FEW_BYTES) this.#write();
    return true;
  }

  /** Completes the file. Returns whether there is one. */
  end(): boolean {
    if (this.#cells[0]!.length > 0) this.#write();
    this.#file?.writer.end();
    this.#file?.drain();
    return this.#file !== undefined;
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
  }

  #write(): void {
    const columns = this.#columns.map(({ name, type }) => ({ name, type, description: '' }));
    this.#file ??= new EngineFile(this.#path, columns);
    this.#file.writer.block(this.#cells);
    this.#file.drain();
    this.#cells = columns.map(() => []);
    this.#bytes = 0;
  }
}

/** Adds the values of some rows to the cells of each column. */
export async function addCells(
  to: readonly Cell[][],
  file: ParquetFile,
  columns: readonly WantedColumn[],
  rows: readonly number[],
): Promise<void> {
  for (const [i, { type, stored }] of columns.entries()) {
    const cells = to[i]!;
    if (stored === undefined) for (const _ of rows) cells.push(null);
    else for (const value of await file.readValues(stored, rows)) cells.push(cellOf(file, stored, type, value));
  }
}

/** The number of pixels of order 24 in a pixel of an area. */
const PLACES = 4 ** (24 - MAX_AREA_ORDER);

/**
 * Like `rowsWithin`, but reads the stored positions. Undefined if they are damaged, or if a row has no position: then
 * only its pixel determines whether it is in the area.
 * @param runs runs that contain all rows in the area: see `FilePositions.within`
 */
export function rowsInPositions(
  positions: FilePositions,
  group: number,
  bounds: PixelBounds,
  most: number,
  runs = positions.within(group, MAX_AREA_ORDER, bounds),
): number[] | 'many' | undefined {
  if (positions.groups[group]!.withoutPosition > 0) return undefined;
  const rows: number[] = [];
  try {
    for (const [from, to] of runs)
      for (const { rowStart, values } of positions.read(from, to))
        for (let row = 0; 2 * row < values.length; row++) {
          const pixel = Math.floor(placeOf(values[2 * row]!, values[2 * row + 1]!) / PLACES);
          const range = nextRange(bounds, pixel);
          if (!(bounds[range]! <= pixel)) continue;
          if (rows.length >= most) return 'many';
          rows.push(rowStart + row);
        }
  } catch (error) {
    if (error instanceof UnusablePositions) return undefined;
    throw error;
  }
  return rows;
}

/**
 * Returns the rows of a row group that lie in an area or have no pixel, ascending; `many` if there are more than `most`,
 * or if they are unknown.
 */
async function rowsWithin(
  file: ParquetFile,
  group: number,
  bounds: PixelBounds,
  most: number,
): Promise<number[] | 'many'> {
  if (file.columns.get(HEALPIX_COLUMN) !== 'integer64') return 'many';
  const rows: number[] = [];
  // Whether the pixels from `first` to `end` (exclusive) are in the area. Mostly, the next row is among them.
  let [first, end, isWithin] = [0, 0, false];
  for (const { firstRow, endRow, values, present } of await file.pages(HEALPIX_COLUMN, group)) {
    const halves = halvesOf(values as ArrayLike<bigint>);
    for (let row = firstRow, next = 0; row < endRow; row++) {
      if (!present || present[row - firstRow]) {
        const pixel = halves[next + 1]! * 2 ** (32 - SHIFT) + (halves[next]! >>> SHIFT);
        next += 2;
        if (pixel < first || pixel >= end) {
          const range = nextRange(bounds, pixel);
          const start = bounds[range] ?? Number.POSITIVE_INFINITY;
          isWithin = start <= pixel;
          [first, end] = isWithin ? [start, bounds[range + 1]!] : [bounds[range - 1] ?? 0, start];
        }
        if (!isWithin) continue;
      }
      if (rows.length >= most) return 'many';
      rows.push(row);
    }
  }
  return rows;
}

/** 64-bit integers as pairs of 32-bit ones, the low half first: numbers are faster than bigints. */
function halvesOf(values: ArrayLike<bigint>): Uint32Array {
  const { buffer, byteOffset, length } = values instanceof BigInt64Array ? values : BigInt64Array.from(values);
  return new Uint32Array(buffer, byteOffset, 2 * length);
}
