/** The task `match`: the nearest source in one file of a catalog for each of some objects. */
import {
  Arena,
  buildArena,
  conePixels,
  isPosition,
  MAX_ORDER,
  pixelOf,
  RADIANS_PER_DEGREE,
  SkyIndex,
} from '../index/mod.ts';
import { checkColumns, sourceId } from '../src/catalogs/columns.ts';
import { CatalogError, ReadFailure } from '../src/catalogs/errors.ts';
import { openParquet, type ParquetFile } from '../src/catalogs/parquet.ts';
import type { CatalogColumns } from '../src/catalogs/types.ts';

export interface MatchTask {
  readonly kind: 'match';
  /** Absolute path of a Parquet file: a partition, or a part of one. */
  readonly path: string;
  readonly columns: CatalogColumns;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  /** Positions of the objects, degrees, both of one length. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/** The objects that have a source within the radius; all arrays are parallel. */
export interface FileMatches {
  /** Positions in the task's arrays, ascending. */
  readonly object: Uint32Array;
  readonly id: BigInt64Array;
  readonly separationArcsec: Float64Array;
  /** The source's own position, degrees. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  /** Values by payload column, in the order of `columns.payload`. */
  readonly payload: readonly (readonly unknown[])[];
}

/** `unreadable`: the file cannot be read now. `unusable`: it is not what the catalog's registration says. */
export type MatchAnswer =
  | { readonly outcome: 'searched'; readonly matches: FileMatches }
  | { readonly outcome: 'unreadable'; readonly reason: string }
  | { readonly outcome: 'unusable'; readonly reason: string };

export async function runMatch(task: MatchTask): Promise<MatchAnswer> {
  let file: ParquetFile | undefined;
  try {
    file = await openParquet(task.path);
    checkColumns(file, task.columns);
    return { outcome: 'searched', matches: await matchFile(task, file) };
  } catch (error) {
    if (error instanceof ReadFailure) return { outcome: 'unreadable', reason: error.message };
    if (error instanceof CatalogError) return { outcome: 'unusable', reason: error.message };
    throw error;
  } finally {
    file?.close();
  }
}

/** A source within the radius of some object. */
interface Candidate {
  readonly row: number;
  readonly ra: number;
  readonly dec: number;
  readonly id: bigint;
}

async function matchFile(task: MatchTask, file: ParquetFile): Promise<FileMatches> {
  const sieve = new Sieve(task);
  const candidates: Candidate[] = [];
  for (const rowGroup of file.rowGroups.keys()) {
    if (!reachesRowGroup(task, file, rowGroup)) continue;
    for (const candidate of await sift(task, sieve, file, rowGroup)) candidates.push(candidate);
  }
  // In ascending order of id, a candidate's ordinal stands for its id in the index: it breaks ties alike and leads back
  // to the row.
  candidates.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const found = nearestCandidates(task, candidates);
  const matched = found.map(({ ordinal }) => candidates[ordinal]!);
  return {
    object: Uint32Array.from(found, ({ object }) => object),
    id: BigInt64Array.from(matched, ({ id }) => id),
    separationArcsec: Float64Array.from(found, ({ separationArcsec }) => separationArcsec),
    ra: Float64Array.from(matched, ({ ra }) => ra),
    dec: Float64Array.from(matched, ({ dec }) => dec),
    payload: await readPayload(
      task.columns,
      file,
      matched.map(({ row }) => row),
    ),
  };
}

/** The rows of one row group that pass the sieve. A row without a valid position or an id is no source. */
async function sift(task: MatchTask, sieve: Sieve, file: ParquetFile, rowGroup: number): Promise<Candidate[]> {
  const { rowStart } = file.rowGroups[rowGroup]!;
  const ra = await file.readNumbers(task.columns.ra, rowGroup);
  const dec = await file.readNumbers(task.columns.dec, rowGroup);
  const rows: number[] = [];
  for (let row = 0; row < ra.length; row++) {
    if (isPosition(ra[row]!, dec[row]!) && sieve.passes(ra[row]!, dec[row]!)) rows.push(rowStart + row);
  }
  const ids = rows.length > 0 ? await file.readValues(task.columns.id, rows) : [];
  return rows.flatMap((row, index) => {
    const id = sourceId(ids[index], file, task.columns.id);
    return id === undefined ? [] : [{ row, ra: ra[row - rowStart]!, dec: dec[row - rowStart]!, id }];
  });
}

function nearestCandidates({ ra, dec, radiusArcsec }: MatchTask, candidates: readonly Candidate[]) {
  const arena = buildArena({
    ra: Float64Array.from(candidates, candidate => candidate.ra),
    dec: Float64Array.from(candidates, candidate => candidate.dec),
    id: BigInt64Array.from(candidates, (_, ordinal) => BigInt(ordinal)),
  });
  const index = new SkyIndex([new Arena(arena)]);
  return Array.from(ra, (_, object) => {
    const nearest = index.nearest(ra[object]!, dec[object]!, radiusArcsec);
    return nearest && { object, ordinal: Number(nearest.id), separationArcsec: nearest.separationArcsec };
  }).filter(found => found !== undefined);
}

/** The payload columns of the matched rows; a row may be the match of several objects. */
async function readPayload(
  { payload }: CatalogColumns,
  file: ParquetFile,
  matched: readonly number[],
): Promise<unknown[][]> {
  const rows = [...new Set(matched)].sort((a, b) => a - b);
  const place = new Map(rows.map((row, index) => [row, index]));
  const columns: unknown[][] = [];
  for (const { column } of payload) {
    const values = column === null ? [] : await file.readValues(column, rows);
    columns.push(matched.map(row => (column === null ? null : values[place.get(row)!])));
  }
  return columns;
}

/**
 * Added to radii where pixels and boxes are concerned, so that rounding never loses a source on a bound: far above the
 * error of float64 degrees.
 */
const PAD_ARCSEC = 1e-3;

/**
 * Tells which sources lie within the radius of any object: by HEALPix pixels of order 13 (26 arcsec), which costs a
 * quarter, and then exactly.
 *
 * Rows need not be sorted, and no `_healpix_29` column is asked: it may be absent, in any place, or of another version
 * of the positions.
 */
class Sieve {
  readonly #pixels = new Set<number>();
  readonly #objects: SkyIndex;
  readonly #radiusArcsec: number;

  constructor({ ra, dec, radiusArcsec }: MatchTask) {
    this.#radiusArcsec = radiusArcsec;
    this.#objects = new SkyIndex([new Arena(buildArena({ ra, dec, id: new BigInt64Array(ra.length) }))]);
    for (let object = 0; object < ra.length; object++) {
      for (const pixel of conePixels(MAX_ORDER, ra[object]!, dec[object]!, radiusArcsec + PAD_ARCSEC))
        this.#pixels.add(pixel);
    }
  }

  passes(ra: number, dec: number): boolean {
    return (
      this.#pixels.has(pixelOf(MAX_ORDER, ra, dec)) && this.#objects.nearest(ra, dec, this.#radiusArcsec) !== undefined
    );
  }
}

/**
 * Whether any object's disc can reach the rows of a row group, by the statistics of the position columns. A group
 * without statistics is always reached. Statistics leave NaN and null out, as we do.
 */
function reachesRowGroup({ columns, ra, dec, radiusArcsec }: MatchTask, file: ParquetFile, rowGroup: number): boolean {
  const raBounds = file.bounds(rowGroup, columns.ra);
  const decBounds = file.bounds(rowGroup, columns.dec);
  const radius = (radiusArcsec + PAD_ARCSEC) / 3600;
  for (let object = 0; object < ra.length; object++) {
    if (decBounds && (dec[object]! < decBounds.min - radius || dec[object]! > decBounds.max + radius)) continue;
    if (!raBounds || reachesRa(ra[object]!, dec[object]!, radius, raBounds)) return true;
  }
  return false;
}

/** Whether a disc (degrees) can hold a right ascension of [min, max], degrees. */
function reachesRa(
  ra: number,
  dec: number,
  radius: number,
  { min, max }: { readonly min: number; readonly max: number },
): boolean {
  // The disc reaches asin(sin r / cos dec) to either side, which up to a ratio of 1/2 is less than 1.1 times the ratio.
  const ratio = radius / Math.cos(dec * RADIANS_PER_DEGREE);
  if (ratio * RADIANS_PER_DEGREE > 0.5) return true;
  return [-360, 0, 360].some(turn => ra + turn + 1.1 * ratio >= min && ra + turn - 1.1 * ratio <= max);
}
