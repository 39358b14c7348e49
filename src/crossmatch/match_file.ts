/** The task `match`: the sources in one file of a catalog that lie near some objects. */

import { conePixels, isPosition, MAX_ORDER, RADIANS_PER_DEGREE, wrapRa } from '../../index/mod.ts';
import { Semaphore } from '../base/semaphore.ts';
import { type CatalogFiles, noReads, type ReadCounts } from '../catalogs/catalog_files.ts';
import { checkColumns, sourceId } from '../catalogs/columns.ts';
import { CatalogError, ReadFailure, withStableFile } from '../catalogs/errors.ts';
import { catalogFiles } from '../catalogs/files.ts';
import { openParquet, type ParquetFile } from '../catalogs/parquet.ts';
import type { RemoteOptions } from '../catalogs/remote/options.ts';
import type { Task } from '../pool/pool.ts';
import { threadData } from '../pool/thread_data.ts';
import type { CatalogColumns } from '../store/catalog_registration.ts';
import { packSource } from '../store/records.ts';
import type { StoreThreadData } from '../store/thread_store.ts';
import { ObjectZones, PAD_ARCSEC } from './zones.ts';

export interface CatalogReading {
  readonly remote?: RemoteOptions;
  /** The limit for the columns that a thread holds at once. */
  readonly memoryBytes: number;
}

/** The `threadData` of pools that crossmatch. */
export interface MatchThreadData extends StoreThreadData {
  readonly catalogs: CatalogReading;
}

const DEFAULT_MEMORY_BYTES = 128 << 20;
/** This thread's settings for reading catalogs. */
const { remote, memoryBytes } = threadData<MatchThreadData>().catalogs ?? { memoryBytes: DEFAULT_MEMORY_BYTES };

export interface MatchTask extends Task<MatchAnswer> {
  readonly kind: 'match';
  /** The catalog's location: an absolute path or an address. */
  readonly location: string;
  /** A Parquet file at the location: a partition, or a part of one. */
  readonly file: string;
  readonly columns: CatalogColumns;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  /** Whether an object gets its nearest source or every one; of equally near ones the lowest id is the nearest. */
  readonly find: 'nearest' | 'all';
  /** Positions of the objects, degrees, both of one length. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/** The pairs of an object and a source within the radius; all arrays are parallel. */
export interface FileMatches {
  /** Positions in the task's arrays; ascending, each once, where the nearest source was asked for. */
  readonly object: Uint32Array;
  readonly id: BigInt64Array;
  readonly separationArcsec: Float64Array;
  /**
   * The bytes of the sources, concatenated: see `packSource`. The position is the source's own, with RA from 0 to 360
   * whatever the catalog's convention; payload values are in the order of `columns.payload`.
   */
  readonly sources: Uint8Array;
  /** The end offset of each source. */
  readonly sourceEnds: Uint32Array;
  /**
   * Rows that cannot be sources: rows that were read and have no position, and rows near an object that have no id.
   */
  readonly rowsPassedOver: number;
}

/** `unreadable`: the file cannot be read now. `unusable`: the file contradicts the catalog's registration. */
export type MatchAnswer = { readonly reads: ReadCounts } & (
  | { readonly outcome: 'searched'; readonly matches: FileMatches }
  | { readonly outcome: 'unreadable' | 'unusable'; readonly reason: string }
);

/** Limits the columns that the thread's tasks hold in memory. */
const memory = new Semaphore(memoryBytes);

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
  /** 0 to 360 degrees, like every right ascension that is compared. */
  readonly ra: number;
  /** The same right ascension in the catalog's convention. */
  readonly publishedRa: number;
  readonly dec: number;
  readonly id: bigint;
}

async function matchFile(task: MatchTask, file: ParquetFile): Promise<FileMatches> {
  const zones = new ObjectZones(task.ra, task.dec, task.radiusArcsec);
  const reached = [...file.rowGroups.keys()].filter(rowGroup => reachesRowGroup(task, file, rowGroup));
  const sifted = await settled(reached.map(rowGroup => sift(task, zones, file, rowGroup)));
  const candidates = sifted.flatMap(part => part.candidates);
  const found = task.find === 'all' ? pairs(zones, candidates) : nearestPairs(task, zones, candidates);
  const matched = found.map(({ candidate }) => candidate);
  const payload = await readPayload(task.columns, file, matched);
  const sources = matched.map(({ ra, dec }, at) =>
    packSource(
      ra,
      dec,
      payload.map(values => values[at]),
    ),
  );
  let end = 0;
  return {
    object: Uint32Array.from(found, ({ object }) => object),
    id: BigInt64Array.from(matched, ({ id }) => id),
    separationArcsec: Float64Array.from(found, ({ separationArcsec }) => separationArcsec),
    sources: Buffer.concat(sources),
    sourceEnds: Uint32Array.from(sources, ({ length }) => (end += length)),
    rowsPassedOver: sifted.reduce((sum, part) => sum + part.passedOver, 0),
  };
}

/** The results of all promises. Rejects with the first failure, once no promise is pending any more. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

interface Sifted<T> {
  readonly candidates: T[];
  readonly passedOver: number;
}

/** The rows of one row group that lie near an object. A row without a valid position or an id is not a source. */
async function sift(
  task: MatchTask,
  zones: ObjectZones,
  file: ParquetFile,
  rowGroup: number,
): Promise<Sifted<Candidate>> {
  const { columns } = task;
  const { rowStart } = file.rowGroups[rowGroup]!;
  const bytes = file.bytesInRowGroup(columns.ra, rowGroup) + file.bytesInRowGroup(columns.dec, rowGroup);
  const found = await memory.run(bytes, async () => {
    const [ra, dec] = await settled([file.readNumbers(columns.ra, rowGroup), file.readNumbers(columns.dec, rowGroup)]);
    return nearRows(zones, ra!, dec!);
  });
  const rows = found.candidates.map(({ row }) => rowStart + row);
  const ids = await memory.run(file.bytesOfRows(columns.id, rows), () => file.readValues(columns.id, rows));
  const candidates = found.candidates.flatMap((place, index) => {
    const id = sourceId(ids[index], file, columns.id);
    return id === undefined ? [] : [{ ...place, row: rows[index]!, id }];
  });
  return { candidates, passedOver: found.passedOver + rows.length - candidates.length };
}

function nearRows(zones: ObjectZones, published: Float64Array, decs: Float64Array): Sifted<Omit<Candidate, 'id'>> {
  const candidates: Omit<Candidate, 'id'>[] = [];
  let passedOver = 0;
  for (let row = 0; row < published.length; row++) {
    const publishedRa = published[row]!;
    const ra = wrapRa(publishedRa);
    const dec = decs[row]!;
    if (!isPosition(ra, dec)) passedOver++;
    else if (zones.hasNear(ra, dec)) candidates.push({ row, ra, publishedRa, dec });
  }
  return { candidates, passedOver };
}

interface Pair {
  readonly object: number;
  readonly candidate: Candidate;
  readonly separationArcsec: number;
}

function pairs(zones: ObjectZones, candidates: readonly Candidate[]): Pair[] {
  const found: Pair[] = [];
  for (const candidate of candidates)
    zones.near(candidate.ra, candidate.dec, (object, separationArcsec) => {
      found.push({ object, candidate, separationArcsec });
    });
  return found;
}

/** Each object that has a candidate with its nearest one, by ascending object. */
function nearestPairs({ ra }: MatchTask, zones: ObjectZones, candidates: readonly Candidate[]): Pair[] {
  const nearest: (Pair | undefined)[] = new Array(ra.length).fill(undefined);
  for (const candidate of candidates) {
    zones.near(candidate.ra, candidate.dec, (object, separationArcsec) => {
      const best = nearest[object];
      const isNearer =
        !best ||
        separationArcsec < best.separationArcsec ||
        (separationArcsec === best.separationArcsec && candidate.id < best.candidate.id);
      if (isNearer) nearest[object] = { object, candidate, separationArcsec };
    });
  }
  return nearest.filter(found => found !== undefined);
}

/** The limit for payload columns that are read together; a single larger column is read alone. */
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
    if (column === ra) return matched.map(candidate => candidate.publishedRa);
    if (column === dec) return matched.map(candidate => candidate.dec);
    return places.map(at => storable(values.get(column)![at]));
  });
}

/**
 * A decimal without a fraction may have more digits than the integers of the store; such a value becomes the nearest
 * double.
 */
function storable(value: unknown): unknown {
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value)
    return value;
  return Number(value);
}

/** The columns in their order, in groups of at most PAYLOAD_BYTES. */
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

/** The column that HATS sorts the rows by: NESTED pixels of order 29. */
const HEALPIX_COLUMN = '_healpix_29';
/** The shift between a pixel of MAX_ORDER and the pixels of order 29 inside it. */
const HEALPIX_SHIFT = BigInt(2 * (29 - MAX_ORDER));
/** The writer of the rows has rounded their pixels in its own way (0.4 mas at order 29). */
const HEALPIX_PAD_ARCSEC = 0.01;

/**
 * Whether any object's disc can reach the rows of a row group, by the statistics of the position columns and of the
 * HEALPix pixels: positions bound the rows by a box, pixels tell where in the box they lie. A group without statistics
 * counts as reached. The statistics ignore NaN and null, and so does the search.
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

/** Whether a disc (degrees) can hold a right ascension in [min, max], degrees of any convention. */
function reachesRa(
  ra: number,
  dec: number,
  radius: number,
  { min, max }: { readonly min: number; readonly max: number },
): boolean {
  // The disc extends asin(sin r / cos dec) to either side, which is less than 1.1 times the ratio for ratios up to 1/2.
  const ratio = radius / Math.cos(dec * RADIANS_PER_DEGREE);
  if (ratio * RADIANS_PER_DEGREE > 0.5) return true;
  const width = max - min;
  // The rows span the full circle, or the span is unknown because rows may have infinite right ascensions.
  if (!(width < 360)) return true;
  // The distance from the least right ascension eastward to the disc's western edge. The eastern edge may lie beyond
  // 360 degrees.
  const west = wrapRa(ra - 1.1 * ratio - wrapRa(min));
  return west <= width || west + 2.2 * ratio >= 360;
}
