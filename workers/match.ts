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
import { CatalogError, ReadFailure, withStableFile } from '../src/catalogs/errors.ts';
import { type CatalogFiles, catalogFiles, noReads, type ReadCounts } from '../src/catalogs/files.ts';
import { openParquet, type ParquetFile } from '../src/catalogs/parquet.ts';
import type { CatalogColumns } from '../src/catalogs/types.ts';
import { Gate } from './gate.ts';
import { threadCatalogs } from './thread.ts';

export interface MatchTask {
  readonly kind: 'match';
  /** Where the catalog lies: an absolute path or an address. */
  readonly location: string;
  /** A Parquet file there: a partition, or a part of one. */
  readonly file: string;
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
export type MatchAnswer = { readonly reads: ReadCounts } & (
  | { readonly outcome: 'searched'; readonly matches: FileMatches }
  | { readonly outcome: 'unreadable' | 'unusable'; readonly reason: string }
);

const { remote, memoryBytes } = threadCatalogs();
/** On the columns that the thread's tasks hold in memory. */
const memory = new Gate(memoryBytes);

export async function runMatch(task: MatchTask): Promise<MatchAnswer> {
  const reads = noReads();
  try {
    const files = await catalogFiles(task.location, { remote, counts: reads });
    const matches = await withStableFile(() => matchIn(files, task));
    return { outcome: 'searched', matches, reads };
  } catch (error) {
    if (error instanceof ReadFailure) return { outcome: 'unreadable', reason: error.message, reads };
    if (error instanceof CatalogError) return { outcome: 'unusable', reason: error.message, reads };
    throw error;
  }
}

async function matchIn(files: CatalogFiles, task: MatchTask): Promise<FileMatches> {
  const file = await openParquet(await files.open(task.file));
  try {
    checkColumns(file, task.columns);
    return await matchFile(task, file);
  } finally {
    file.close();
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
  const reached = [...file.rowGroups.keys()].filter(rowGroup => reachesRowGroup(task, file, rowGroup));
  const candidates = (await settled(reached.map(rowGroup => sift(task, sieve, file, rowGroup)))).flat();
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
    payload: await readPayload(task.columns, file, matched),
  };
}

/** What all of them resolve with; the first failure only when none of them is under way any more. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The rows of one row group that pass the sieve. A row without a valid position or an id is no source. */
async function sift(task: MatchTask, sieve: Sieve, file: ParquetFile, rowGroup: number): Promise<Candidate[]> {
  const { columns } = task;
  const { rowStart } = file.rowGroups[rowGroup]!;
  const bytes = file.bytesInRowGroup(columns.ra, rowGroup) + file.bytesInRowGroup(columns.dec, rowGroup);
  const found = await memory.run(bytes, async () => {
    const [ra, dec] = await settled([file.readNumbers(columns.ra, rowGroup), file.readNumbers(columns.dec, rowGroup)]);
    return passing(sieve, ra!, dec!);
  });
  const rows = found.map(({ row }) => rowStart + row);
  const ids = await memory.run(file.bytesOfRows(columns.id, rows), () => file.readValues(columns.id, rows));
  return found.flatMap(({ ra, dec }, index) => {
    const id = sourceId(ids[index], file, columns.id);
    return id === undefined ? [] : [{ row: rows[index]!, ra, dec, id }];
  });
}

function passing(sieve: Sieve, ra: Float64Array, dec: Float64Array): Omit<Candidate, 'id'>[] {
  const found: Omit<Candidate, 'id'>[] = [];
  for (let row = 0; row < ra.length; row++) {
    if (isPosition(ra[row]!, dec[row]!) && sieve.passes(ra[row]!, dec[row]!))
      found.push({ row, ra: ra[row]!, dec: dec[row]! });
  }
  return found;
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

/** Payload columns that are read at once take no more, unless it is one. */
const PAYLOAD_BYTES = 64 << 20;

/** The payload of the matched rows; a row may be the match of several objects. */
async function readPayload(
  { ra, dec, payload }: CatalogColumns,
  file: ParquetFile,
  matched: readonly Candidate[],
): Promise<unknown[][]> {
  const rows = [...new Set(matched.map(({ row }) => row))].sort((a, b) => a - b);
  const values = new Map<string, unknown[]>();
  const wanted = new Set(payload.flatMap(({ column }) => (column === ra || column === dec ? [] : (column ?? []))));
  for (const { columns, bytes } of portions([...wanted], column => file.bytesOfRows(column, rows))) {
    const read = await memory.run(bytes, () => settled(columns.map(column => file.readValues(column, rows))));
    columns.forEach((column, at) => {
      values.set(column, read[at]!);
    });
  }
  const place = new Map(rows.map((row, index) => [row, index]));
  const places = matched.map(({ row }) => place.get(row)!);
  return payload.map(({ column }) => {
    if (column === null) return matched.map(() => null);
    if (column === ra) return matched.map(candidate => candidate.ra);
    if (column === dec) return matched.map(candidate => candidate.dec);
    return places.map(at => values.get(column)![at]);
  });
}

/** The columns in their order, as many at once as stay within PAYLOAD_BYTES. */
function portions(
  columns: readonly string[],
  bytesOf: (column: string) => number,
): { readonly columns: string[]; bytes: number }[] {
  const all: { readonly columns: string[]; bytes: number }[] = [];
  for (const column of columns) {
    const bytes = bytesOf(column);
    const last = all.at(-1);
    if (last && last.bytes + bytes <= PAYLOAD_BYTES) {
      last.columns.push(column);
      last.bytes += bytes;
    } else all.push({ columns: [column], bytes });
  }
  return all;
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

/** The column that HATS sorts the rows by: NESTED pixels of order 29. */
const HEALPIX_COLUMN = '_healpix_29';
/** From a pixel of MAX_ORDER to those of order 29 in it. */
const HEALPIX_SHIFT = BigInt(2 * (29 - MAX_ORDER));
/** The rows' pixels are rounded as their writer rounds (0.4 mas at order 29). */
const HEALPIX_PAD_ARCSEC = 0.01;

/**
 * Whether any object's disc can reach the rows of a row group, by the statistics of the position columns and of their
 * HEALPix pixels: the former box the rows in, the latter know how they lie within the box. A group without statistics
 * is always reached. Statistics leave NaN and null out, as we do.
 */
function reachesRowGroup({ columns, ra, dec, radiusArcsec }: MatchTask, file: ParquetFile, rowGroup: number): boolean {
  const raBounds = file.bounds(rowGroup, columns.ra);
  const decBounds = file.bounds(rowGroup, columns.dec);
  const healpixBounds = file.integerBounds(rowGroup, HEALPIX_COLUMN);
  const [first, last] = healpixBounds
    ? [Number(healpixBounds.min >> HEALPIX_SHIFT), Number(healpixBounds.max >> HEALPIX_SHIFT)]
    : [];
  const radius = (radiusArcsec + PAD_ARCSEC) / 3600;
  for (let object = 0; object < ra.length; object++) {
    if (decBounds && (dec[object]! < decBounds.min - radius || dec[object]! > decBounds.max + radius)) continue;
    if (raBounds && !reachesRa(ra[object]!, dec[object]!, radius, raBounds)) continue;
    if (first === undefined || last === undefined) return true;
    const pixels = conePixels(MAX_ORDER, ra[object]!, dec[object]!, radiusArcsec + HEALPIX_PAD_ARCSEC);
    if (pixels.some(pixel => pixel >= first && pixel <= last)) return true;
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
