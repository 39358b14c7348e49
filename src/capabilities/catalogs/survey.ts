/** Checks every file of a catalog: whether it can be used, and which of its rows can be the source of a match. */

import { ReadFailure } from '@nearsky/astrotables/files';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import {
  CatalogError,
  type CatalogFiles,
  isRemote,
  MissingFile,
  type Partition,
  REMOTE_CONCURRENCY,
  withParquet,
} from '@nearsky/hats';
import { isPosition, pixelOf, wrapRa } from '@nearsky/sky-index';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import { isTextId, TEXT_ID } from '../../core/contract/source_ids.ts';
import type { CatalogColumns, RowCounts } from '../../core/store/catalog_registration.ts';
import { checkIds, columnsIn, sourceId } from './columns.ts';
import type { PixelSet } from './pixel_set.ts';
import type { CatalogPositionsWriter, FilePositionsWriter } from './positions_writer.ts';
import { checkAllRows, checkSomeRows, sampledFiles } from './row_pixels.ts';
import { type CatalogSchema, SchemaUnion } from './schema.ts';

export interface SurveyOptions {
  /**
   * `footers`: counts rows. `rows`: also reads the position of each row, and its id if ids are strings: two or three
   * columns of the whole catalog.
   */
  readonly depth: 'footers' | 'rows';
  /** Receives the pixels that hold a row with a position; needs `rows`. */
  readonly pixels?: PixelSet;
  /** Stores the positions of the rows that are read. */
  readonly positions?: CatalogPositionsWriter | undefined;
  readonly onProgress?: (progress: SurveyProgress) => void;
}

export interface SurveyProgress {
  readonly files: number;
  readonly filesDone: number;
  readonly rows: number;
}

export interface Survey {
  readonly files: number;
  readonly rows: RowCounts;
  /** The columns of all files that can be read. */
  readonly schema: CatalogSchema;
  /** Files that do not exist, in the order of the partitions. */
  readonly missing: readonly string[];
  /** One error for each file that cannot be used, missing files included, in the order of the partitions. */
  readonly problems: readonly (ReadFailure | CatalogError)[];
}

/** The maximum size of the positions of a remote catalog, as estimated from its first files, bytes. */
const MAX_RECEIVED_BYTES = 2 ** 34;
const ESTIMATED_AFTER = 8;

/**
 * Reads the footer of every file and some rows of some files, and with `rows` the position columns. A file that cannot
 * be used is a problem, not an error.
 * @throws CatalogError if the positions of a remote catalog are too large to download
 */
export async function surveyCatalog(
  files: CatalogFiles,
  partitions: readonly Partition[],
  columns: CatalogColumns,
  { depth, pixels, positions, onProgress = () => {} }: SurveyOptions,
): Promise<Survey> {
  const names = partitions.flatMap(partition => partition.files);
  const partitionsOfFiles = partitions.flatMap(partition => partition.files.map(() => partition));
  const isFar = isRemote(files.location);
  const sampled = sampledFiles(names.length);
  const problems: (readonly [index: number, problem: ReadFailure | CatalogError])[] = [];
  const counts: FileCounts[] = [];
  const union = new SchemaUnion();
  let [filesDone, rows, bytes] = [0, 0, 0];
  await eachConcurrently(names, isFar ? REMOTE_CONCURRENCY : 1, async (name, index) => {
    try {
      const counted = await withParquet(files, name, async file => {
        union.add(file, index);
        const own = columnsIn(file, columns);
        if (sampled.has(index)) await checkSomeRows(file, partitionsOfFiles[index]!, own);
        using stored =
          depth === 'rows' ? positions?.begin({ location: files.location, columns }, name, file) : undefined;
        const found = await countRows(file, own, depth, partitionsOfFiles[index]!, pixels, stored);
        stored?.end(file);
        return found;
      });
      counts.push(counted);
      rows += counted.rows;
      bytes += counted.bytes;
    } catch (error) {
      if (!(error instanceof ReadFailure || error instanceof CatalogError)) throw error;
      problems.push([index, error]);
    }
    const expected = (bytes / ++filesDone) * names.length;
    if (isFar && filesDone >= ESTIMATED_AFTER && expected > MAX_RECEIVED_BYTES) {
      throw new CatalogError(
        `Cannot read the positions of all rows of ${files.location} because about ${Math.round(expected / 2 ** 30)} GiB would have to be downloaded: copy the catalog to a local directory`,
      );
    }
    onProgress({ files: names.length, filesDone, rows });
  });
  positions?.end();
  problems.sort(([a], [b]) => a - b);
  return {
    files: names.length,
    rows: {
      rows,
      withoutPosition: sumOf(counts, 'withoutPosition'),
      withoutId: sumOf(counts, 'withoutId'),
      ...refusedOf(counts),
    },
    schema: union.end(files.location, new Map(), false),
    missing: problems.filter(([, problem]) => problem instanceof MissingFile).map(([index]) => names[index]!),
    problems: problems.map(([, problem]) => problem),
  };
}

/**
 * The number of ids that are read from a row group whose statistics do not show their range: string ids, and integer
 * ids without statistics.
 */
const SAMPLED_IDS = 100;

/**
 * Checks the ids of a row group by its statistics or, without them, by a sample.
 * @throws CatalogError if an id is not a signed 64-bit integer, or if no string in the sample can be an id
 */
export async function checkSomeIds(file: ParquetFile, columns: CatalogColumns, rowGroup: number): Promise<void> {
  checkIds(file, columns, rowGroup);
  const { id } = columns;
  if (file.columns.get(id)!.endsWith('32') || file.integerBounds(rowGroup, id)) return;
  const { rowStart, rowEnd } = file.rowGroups[rowGroup]!;
  const rows = Array.from({ length: Math.min(SAMPLED_IDS, rowEnd - rowStart) }, (_, i) => rowStart + i);
  const values = await file.readValues(id, rows);
  const ids = values.map(value => sourceId(value, file, columns));
  const refused = values.find(value => typeof value === 'string' && value.trim() !== '');
  if (columns.hasTextIds && rows.length === SAMPLED_IDS && refused && ids.every(found => found === undefined))
    throw new CatalogError(
      `Cannot use ${file.name} because column ${id} must hold ids, each ${TEXT_ID} (${shown(String(refused))} was found)`,
    );
}

interface FileCounts extends RowCounts {
  /** The size in the file of the columns that were read, bytes. */
  readonly bytes: number;
}

async function countRows(
  file: ParquetFile,
  columns: CatalogColumns,
  depth: SurveyOptions['depth'],
  partition: Partition,
  pixels: PixelSet | undefined,
  positions: FilePositionsWriter | undefined,
): Promise<FileCounts> {
  let [withoutPosition, withoutId, bytes] = [0, 0, 0];
  const refused = { rows: 0, first: '' };
  for (const rowGroup of file.rowGroups.keys()) {
    await checkSomeIds(file, columns, rowGroup);
    if (!columns.hasTextIds) withoutId += file.nullCount(columns.id, rowGroup) ?? Number.NaN;
    else if (depth === 'footers') withoutId = Number.NaN;
    if (depth === 'footers') continue;
    if (columns.hasTextIds) {
      withoutId += await countWithoutTextId(file, columns.id, rowGroup, refused);
      bytes += file.storedBytes(columns.id, rowGroup);
    }
    const reading = [columns.ra, columns.dec].map(column => file.readNumbers(column, rowGroup));
    const [ra, dec] = (await Promise.all(reading)) as [Float64Array, Float64Array];
    checkAllRows(file, rowGroup, partition, ra, dec);
    positions?.add(ra, dec);
    withoutPosition += addPositions(ra, dec, pixels);
    for (const column of [columns.ra, columns.dec]) bytes += file.storedBytes(column, rowGroup);
  }
  return {
    rows: file.rows,
    withoutPosition: depth === 'rows' ? withoutPosition : null,
    withoutId: Number.isNaN(withoutId) ? null : withoutId,
    ...(refused.rows > 0 && { refusedIds: refused }),
    bytes,
  };
}

/** Counts the rows of a row group whose string cannot be an id. Adds the strings that are not blank to `refused`. */
async function countWithoutTextId(
  file: ParquetFile,
  column: string,
  rowGroup: number,
  refused: { rows: number; first: string },
): Promise<number> {
  let without = 0;
  for (const { firstRow, endRow, values } of await file.pages(column, rowGroup)) {
    without += endRow - firstRow - values.length;
    for (const value of Array.from(values as ArrayLike<string>)) {
      if (isTextId(value)) continue;
      without++;
      if (value.trim() !== '' && refused.rows++ === 0) refused.first = shown(value);
    }
  }
  return without;
}

/** The number of refused ids in all files, and one of them as an example. */
function refusedOf(counts: readonly RowCounts[]): Pick<RowCounts, 'refusedIds'> {
  const refused = counts.flatMap(({ refusedIds }) => refusedIds ?? []);
  if (refused.length === 0) return {};
  return { refusedIds: { rows: refused.reduce((sum, { rows }) => sum + rows, 0), first: refused[0]!.first } };
}

const SHOWN_CHARACTERS = 100;

/** Shortens a string for a message, and formats it as JSON. */
function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

/** Counts the rows without a usable position, and adds the pixels of the other rows. */
function addPositions(ra: Float64Array, dec: Float64Array, pixels: PixelSet | undefined): number {
  let without = 0;
  for (let row = 0; row < ra.length; row++) {
    const wrapped = wrapRa(ra[row]!);
    if (!isPosition(wrapped, dec[row]!)) without++;
    else pixels?.add(pixelOf(pixels.order, wrapped, dec[row]!));
  }
  return without;
}

/** The sum of a count over all files; null if the count of a file is unknown. */
function sumOf(counts: readonly RowCounts[], name: 'withoutPosition' | 'withoutId'): number | null {
  return counts.reduce<number | null>((sum, count) => {
    const value = count[name];
    return sum === null || value === null ? null : sum + value;
  }, 0);
}
