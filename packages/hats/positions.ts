/**
 * The positions of a local catalog's rows, in files of their own: a search knows its rows before it reads a Parquet
 * file. There is one such file for each Parquet file. It has the exact values of both columns, so that nothing that is
 * computed from them can differ.
 *
 *   pages       4,096 bytes each, the last one shorter: 256 rows in the order of the file, ra and dec as float64, degrees
 *               in the catalog's convention; NaN if the value is null
 *   directory   float64[pages] and float64[pages]: the lowest and the highest pixel of order 24 among the rows that have
 *               a position. An empty page has infinite bounds. Then uint32[pages]: the CRC-32 of each page
 *   groups      float64[3 * groups]: the rows of each row group, how many of them have no position, and 1 if the others
 *               are sorted by their pixel
 *   trailer     64 bytes: a mark of this format, the Parquet file (size, time of modification, CRC-32 of its footer), rows,
 *               groups, and the CRC-32 of directory, groups and trailer
 *
 * A page can have a row near a position only if its bounds meet the pixels that the disc touches. That holds in whatever
 * order the rows are; if they are sorted, only a few pages do. Numbers are little-endian.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { BoundedCache } from '@nearsky/astrotables/bounded_cache';
import type { OpenFile } from '@nearsky/astrotables/files';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { conePixels, isPosition, MAX_ORDER, pixel24, wrapRa } from '@nearsky/sky-index';
import { MissingFile } from './errors.ts';
import { openLocalFile } from './files.ts';

export const PAGE_ROWS = 256;
export const ROW_BYTES = 16;
export const PAGE_BYTES = PAGE_ROWS * ROW_BYTES;
export const TRAILER_BYTES = 64;
/** Names the format and its version. */
export const MAGIC = 0x706f7331;
const PAGE_DIRECTORY_BYTES = 20;
const GROUP_BYTES = 24;
const ORDER = 24;
/** Added to a radius, so that rounding never loses a row at the limit. */
const PAD_ARCSEC = 1e-3;
/** Half the side of a pixel of order 0. */
const PIXEL_ARCSEC = 105_000;
/** The directories that a thread keeps. */
const directories = new BoundedCache<Directory>(4 << 20);

/** Why the positions of a file cannot be used; the file itself must be read instead. */
export type Unusable = 'missing' | 'stale' | 'damaged' | 'unreadable';

/** The position files of one copy of a catalog. */
export interface PositionFiles {
  readonly directory: string;
  /** The path of the position file of a Parquet file of the catalog. */
  pathOf(file: string): string;
}

/**
 * The position files of a catalog.
 * @param root the directory for the position files of all catalogs
 * @param location the catalog's absolute path
 */
export function positionFiles(
  root: string,
  location: string,
  { ra, dec }: { readonly ra: string; readonly dec: string },
): PositionFiles {
  const name = createHash('sha256')
    .update(JSON.stringify([location, ra, dec]))
    .digest('hex')
    .slice(0, 32);
  const directory = join(root, name);
  return { directory, pathOf: file => join(directory, `${file.replaceAll('/', ',')}.positions`) };
}

/** The Parquet file to which positions belong. */
export interface PositionsOf {
  readonly byteLength: number;
  readonly modifiedNs: bigint;
  readonly footerChecksum: number;
}

export interface GroupPositions {
  /** The rows of the row group, from `rowStart` to `rowEnd` (exclusive), counted from the first row of the file. */
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly withoutPosition: number;
  /** Whether the rows that have a position are sorted by their pixel of order 24. */
  readonly isSorted: boolean;
}

interface Directory {
  readonly of: PositionsOf;
  readonly rows: number;
  readonly groups: readonly GroupPositions[];
  readonly lowest: Float64Array;
  readonly highest: Float64Array;
  /** The highest pixel of a page and those before it; the lowest pixel of a page and those after it. */
  readonly highestBefore: Float64Array;
  readonly lowestAfter: Float64Array;
  readonly checksums: Uint32Array;
}

/** Consecutive rows of a file, and their positions. */
export interface RowRun {
  readonly rowStart: number;
  /** The right ascension and declination of each row, one after the other. */
  readonly values: Float64Array;
}

/** A page of positions is damaged, or cannot be read. The Parquet file must be read instead. */
export class UnusablePositions extends Error {}

/** The open positions of one Parquet file. Close them when done. */
export class FilePositions implements Disposable {
  readonly groups: readonly GroupPositions[];
  readonly #file: OpenFile;
  readonly #directory: Directory;
  /** For each page that was read, the rows that were read at once with it. */
  readonly #chunks = new Map<number, RowRun>();

  constructor(file: OpenFile, directory: Directory) {
    this.#file = file;
    this.#directory = directory;
    this.groups = directory.groups;
  }

  /**
   * Finds runs of rows in a row group, ascending. They contain every row within the radius of any of the positions, and
   * other rows.
   * @param radiusArcsec 0 to less than 3600
   */
  near(
    group: number,
    ra: Float64Array,
    dec: Float64Array,
    radiusArcsec: number,
  ): (readonly [from: number, to: number])[] {
    const radius = radiusArcsec + PAD_ARCSEC;
    // Pixels of this order are several times as wide as the disc, so that it touches only a few.
    const order = Math.max(0, Math.min(MAX_ORDER, Math.floor(Math.log2(PIXEL_ARCSEC / radius))));
    const size = 4 ** (ORDER - order);
    const pages = this.#pagesOf(group);
    // Finding the pages of a position takes as long as reading one.
    if (ra.length >= pages.count) return pages.all();
    for (let i = 0; i < ra.length; i++)
      for (const pixel of conePixels(order, ra[i]!, dec[i]!, radius)) pages.mark(pixel * size, (pixel + 1) * size);
    return pages.runs();
  }

  /**
   * Finds runs that contain every row in the pixels, and other rows.
   * @param bounds sorted, disjoint [first, end) pairs of pixels
   */
  within(group: number, order: number, bounds: ArrayLike<number>): (readonly [from: number, to: number])[] {
    const size = 4 ** (ORDER - order);
    const pages = this.#pagesOf(group);
    // An area around thousands of positions has tens of thousands of pairs. Few of them concern one row group.
    let pair = 0;
    for (let high = bounds.length / 2; pair < high; ) {
      const middle = (pair + high) >>> 1;
      if (bounds[2 * middle + 1]! * size <= pages.lowest) pair = middle + 1;
      else high = middle;
    }
    for (let i = 2 * pair; i < bounds.length && bounds[i]! * size <= pages.highest; i += 2)
      pages.mark(bounds[i]! * size, bounds[i + 1]! * size);
    return pages.runs();
  }

  #pagesOf(group: number): MarkedPages {
    return new MarkedPages(this.#directory, this.groups[group]!);
  }

  /**
   * The positions of some rows, in pieces.
   * @param to exclusive
   * @throws UnusablePositions
   */
  *read(from: number, to: number): Generator<RowRun> {
    for (let row = from; row < to; ) {
      const { rowStart, values } = this.#chunkAt(row, to);
      const end = Math.min(to, rowStart + values.length / 2);
      yield { rowStart: row, values: values.subarray(2 * (row - rowStart), 2 * (end - rowStart)) };
      row = end;
    }
  }

  /**
   * Fills in the pixels of order 24 of some rows, NaN for rows without a position.
   * @param to exclusive
   * @throws UnusablePositions
   */
  fillPlaces(from: number, to: number, places: Float64Array): void {
    for (let row = from; row < to; ) {
      const { rowStart, values } = this.#chunkAt(row, to);
      const end = Math.min(to, rowStart + values.length / 2);
      for (; row < end; row++)
        places[row - from] = placeOf(values[2 * (row - rowStart)]!, values[2 * (row - rowStart) + 1]!);
    }
  }

  /** The chunk that has a row. It is read, with the pages up to `to`, unless it is kept. */
  #chunkAt(row: number, to: number): RowRun {
    const page = Math.floor(row / PAGE_ROWS);
    return this.#chunks.get(page) ?? this.#readChunk(page, Math.ceil(to / PAGE_ROWS));
  }

  #readChunk(first: number, end: number): RowRun {
    const { rows, checksums } = this.#directory;
    const last = Math.min(end, first + READ_PAGES);
    const bytes = readNow(this.#file, first * PAGE_BYTES, Math.min(last * PAGE_BYTES, rows * ROW_BYTES));
    if (this.#chunks.size + last - first > KEPT_PAGES) this.#chunks.clear();
    const chunk = { rowStart: first * PAGE_ROWS, values: new Float64Array(bytes) };
    for (let page = first; page < last; page++) {
      const start = (page - first) * PAGE_BYTES;
      const own = new Uint8Array(bytes, start, Math.min(PAGE_BYTES, bytes.byteLength - start));
      if (crc32(own) !== checksums[page]) throw new UnusablePositions(`${this.#file.name} is damaged`);
      this.#chunks.set(page, chunk);
    }
    return chunk;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** Pages read at once. */
const READ_PAGES = 64;
/** Pages kept while a file is searched, because neighbouring rows are read again. */
const KEPT_PAGES = 256;

/** The pages of a row group that may have rows in pixels. */
class MarkedPages {
  readonly #directory: Directory;
  readonly #group: GroupPositions;
  readonly #first: number;
  readonly #marks: Uint8Array;

  constructor(directory: Directory, group: GroupPositions) {
    this.#directory = directory;
    this.#group = group;
    this.#first = Math.floor(group.rowStart / PAGE_ROWS);
    this.#marks = new Uint8Array(Math.max(0, Math.ceil(group.rowEnd / PAGE_ROWS) - this.#first));
  }

  /** Marks the pages that may have a row in the pixels from `first` to `end` (exclusive). */
  mark(first: number, end: number): void {
    const { lowest, highest, highestBefore, lowestAfter } = this.#directory;
    const behind = this.#first + this.#marks.length;
    let page = this.#first;
    for (let high = behind; page < high; ) {
      const middle = (page + high) >>> 1;
      if (highestBefore[middle]! < first) page = middle + 1;
      else high = middle;
    }
    for (; page < behind && lowestAfter[page]! < end; page++)
      if (highest[page]! >= first && lowest[page]! < end) this.#marks[page - this.#first] = 1;
  }

  get count(): number {
    return this.#marks.length;
  }

  /** No pixel of the row group is below; infinite if it has no rows. */
  get lowest(): number {
    return this.#directory.lowestAfter[this.#first] ?? Number.POSITIVE_INFINITY;
  }

  /** No pixel of the row group is above. */
  get highest(): number {
    return this.#directory.highestBefore[this.#first + this.#marks.length - 1] ?? Number.NEGATIVE_INFINITY;
  }

  all(): (readonly [from: number, to: number])[] {
    const { rowStart, rowEnd } = this.#group;
    return rowStart < rowEnd ? [[rowStart, rowEnd]] : [];
  }

  runs(): (readonly [from: number, to: number])[] {
    const { rowStart, rowEnd } = this.#group;
    const runs: (readonly [number, number])[] = [];
    const rowOf = (page: number) => Math.min(rowEnd, Math.max(rowStart, (this.#first + page) * PAGE_ROWS));
    for (let page = 0; page < this.#marks.length; page++) {
      if (!this.#marks[page]) continue;
      let end = page + 1;
      // Reading another page takes no longer than beginning to read once more.
      while (end < this.#marks.length && (this.#marks[end] || this.#marks[end + 1])) end++;
      if (rowOf(page) < rowOf(end)) runs.push([rowOf(page), rowOf(end)]);
      page = end;
    }
    return runs;
  }
}

/**
 * Opens the positions of a Parquet file. The caller must close the result.
 * @param path of the position file
 * @returns why they cannot be used if they are missing, damaged, or of another version of the Parquet file
 */
export function openPositions(path: string, parquet: ParquetFile): FilePositions | Unusable {
  const { footerChecksum, rowGroups } = parquet;
  if (footerChecksum === undefined) return 'missing';
  return openOf(
    path,
    parquet,
    ({ of, groups }) =>
      of.footerChecksum === footerChecksum &&
      groups.length === rowGroups.length &&
      rowGroups.every(({ rowEnd }, group) => groups[group]!.rowEnd === rowEnd),
  );
}

/**
 * Why the positions of a Parquet file cannot be used, as far as its size and time tell; undefined if they can. Reads no
 * rows.
 * @param path of the position file
 */
export function whyUnusable(path: string, parquetPath: string): Unusable | undefined {
  const parquet = opened(parquetPath);
  if (typeof parquet === 'string') return 'stale';
  const positions = openOf(path, { version: undefined, ...parquet }, () => true);
  parquet.close();
  if (typeof positions === 'string') return positions;
  positions[Symbol.dispose]();
  return undefined;
}

function openOf(
  path: string,
  { byteLength, version }: Pick<ParquetFile, 'byteLength' | 'version'>,
  isOf: (directory: Directory) => boolean,
): FilePositions | Unusable {
  if (!version) return 'missing';
  const file = opened(path);
  if (typeof file === 'string') return file;
  const found = readDirectory(file);
  if (
    typeof found !== 'string' &&
    found.of.byteLength === byteLength &&
    found.of.modifiedNs === version.modifiedNs &&
    isOf(found)
  )
    return new FilePositions(file, found);
  file.close();
  return typeof found === 'string' ? found : 'stale';
}

function opened(path: string): OpenFile | 'missing' | 'unreadable' {
  try {
    return openLocalFile(path);
  } catch (error) {
    return error instanceof MissingFile ? 'missing' : 'unreadable';
  }
}

function readDirectory(file: OpenFile): Directory | 'damaged' | 'unreadable' {
  const { key, isRecent } = file.version!;
  const known = directories.get(key);
  if (known) return known;
  try {
    const directory = decodeDirectory(file);
    if (!directory) return 'damaged';
    if (!isRecent) directories.set(key, directory, 36 * directory.checksums.length + 256);
    return directory;
  } catch (error) {
    if (error instanceof UnusablePositions) return 'unreadable';
    throw error;
  }
}

function decodeDirectory(file: OpenFile): Directory | undefined {
  if (file.byteLength < TRAILER_BYTES) return undefined;
  const trailer = new DataView(readNow(file, file.byteLength - TRAILER_BYTES, file.byteLength));
  const [rows, groupCount] = [trailer.getFloat64(32, true), trailer.getFloat64(40, true)];
  const pages = Math.ceil(rows / PAGE_ROWS);
  const start = rows * ROW_BYTES;
  const directoryBytes = pages * PAGE_DIRECTORY_BYTES;
  const end = start + directoryBytes + groupCount * GROUP_BYTES;
  if (trailer.getUint32(0, true) !== MAGIC || end + TRAILER_BYTES !== file.byteLength) return undefined;
  const bytes = readNow(file, start, file.byteLength);
  const checked = new Uint8Array(bytes, 0, bytes.byteLength - 4);
  if (crc32(checked) !== trailer.getUint32(TRAILER_BYTES - 4, true)) return undefined;
  const lowest = new Float64Array(bytes, 0, pages);
  const highest = new Float64Array(bytes, 8 * pages, pages);
  const checksums = new Uint32Array(bytes, 16 * pages, pages);
  const groups: GroupPositions[] = [];
  const stored = new Float64Array(bytes.slice(directoryBytes, directoryBytes + groupCount * GROUP_BYTES));
  for (let group = 0, rowStart = 0; group < groupCount; group++) {
    const [count, withoutPosition, isSorted] = stored.subarray(3 * group, 3 * group + 3) as unknown as number[];
    groups.push({ rowStart, rowEnd: rowStart + count!, withoutPosition: withoutPosition!, isSorted: isSorted === 1 });
    rowStart += count!;
  }
  const highestBefore = highest.slice();
  for (let page = 1; page < pages; page++)
    highestBefore[page] = Math.max(highestBefore[page]!, highestBefore[page - 1]!);
  const lowestAfter = lowest.slice();
  for (let page = pages - 2; page >= 0; page--)
    lowestAfter[page] = Math.min(lowestAfter[page]!, lowestAfter[page + 1]!);
  const of = {
    byteLength: trailer.getFloat64(8, true),
    modifiedNs: trailer.getBigInt64(16, true),
    footerChecksum: trailer.getUint32(24, true),
  };
  return { of, rows, groups, lowest, highest, highestBefore, lowestAfter, checksums };
}

/** @throws UnusablePositions if the file cannot be read */
function readNow(file: OpenFile, start: number, end: number): ArrayBuffer {
  try {
    return file.readNow!(start, end);
  } catch (error) {
    throw new UnusablePositions(`${file.name} cannot be read`, { cause: error });
  }
}

/** The pixel of order 24 of a row; NaN if the row has no position. */
export function placeOf(ra: number, dec: number): number {
  const wrapped = wrapRa(ra);
  return isPosition(wrapped, dec) ? pixel24(wrapped, dec) : Number.NaN;
}
