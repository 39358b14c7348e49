/** The task `match`: finds the sources in one file of a catalog that lie near some objects. */

import type { Cell, Column } from '@nearsky/astrotables';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, type CatalogFiles, catalogFiles, noReads, type ReadCounts, withStableFile } from '@nearsky/hats';
import { HEALPIX_ORDER, MAX_OUTSIDE_ARCSEC, statedPixels } from '@nearsky/hats/layout';
import { type FilePositions, type GroupPositions, UnusablePositions } from '@nearsky/hats/positions';
import {
  conePixels,
  isPosition,
  MAX_ORDER,
  pixel24,
  RADIANS_PER_DEGREE,
  separationArcsec,
  wrapRa,
} from '@nearsky/sky-index';
import { type MovingStar, movedStar } from '@nearsky/sky-index/motion';
import { memoized } from '../../core/base/memoized.ts';
import { Semaphore } from '../../core/base/semaphore.ts';
import { circularErrorMas } from '../../core/contract/position_errors.ts';
import { compareIds, type SourceId } from '../../core/contract/source_ids.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { threadData } from '../../core/pool/thread_data.ts';
import type { CatalogColumns, PayloadColumn } from '../../core/store/catalog_registration.ts';
import { combinedError, lnSum, lnWeight } from '../../core/store/match_statistics.ts';
import { packSource } from '../../core/store/records.ts';
import { cellIn, columnsIn, sourceId } from '../catalogs/columns.ts';
import { storedPositions } from '../catalogs/stored_positions.ts';
import type { CatalogThreadData } from '../catalogs/thread_data.ts';
import type { CatalogErrors } from './catalog_errors.ts';
import { placesOf, RowDensity, type RowPlaces } from './density.ts';
import { type CatalogMotion, longest, MAX_MOTION_MAS, motionMas, reachArcsec, starOf } from './motion.ts';
import { type RadiusColumn, sourceRadius } from './own_radius.ts';
import { ObjectZones, PAD_ARCSEC } from './zones.ts';

const DEFAULT_MEMORY_BYTES = 128 << 20;

export interface MatchTask extends Task<MatchAnswer<FileMatches>>, FileSearchTask {
  readonly module: 'src/capabilities/crossmatch/match_file';
  readonly kind: 'match';
}

/** The answer to the same search for a table, with the payload of the sources as columns. */
export interface MatchColumnsTask extends Task<MatchAnswer<ColumnMatches>>, FileSearchTask {
  readonly module: 'src/capabilities/crossmatch/match_file';
  readonly kind: 'matchColumns';
  /** The columns of the table, parallel to `columns.payload`. */
  readonly payload: readonly Column[];
}

export interface FileSearchTask {
  /** The catalog's location: an absolute path or an address. */
  readonly location: string;
  /** A Parquet file at the location: a partition, or a part of one. */
  readonly file: string;
  readonly columns: CatalogColumns;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  /** Set if each source has a radius of its own, at most `radiusArcsec`. */
  readonly radiusColumn?: RadiusColumn | undefined;
  /**
   * Whether an object gets its nearest source or all sources. Of equally near sources, the one with the lowest id
   * counts as nearest (`compareIds`).
   */
  readonly find: 'nearest' | 'all';
  /**
   * Whether the file has all rows of its partition, so that the density of the catalog can be estimated from it; false
   * by default.
   */
  readonly hasAllRows?: boolean;
  /** The positions of the objects, degrees, as two arrays of equal length. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  /** Undefined if sources are compared at their catalog positions. */
  readonly motion?: MotionTask | undefined;
  /** Undefined if the errors of the objects, or of the sources, are not known. */
  readonly errors?: ErrorsTask | undefined;
  /** Set to describe the catalog at the positions of the objects, too. Sources then get no density. */
  readonly around?: AroundTask | undefined;
}

export interface AroundTask {
  /** The column of magnitudes for the depth; null without one. */
  readonly magnitude: string | null;
  /** Sources that lie farther than this from an object are left out, unless they are brighter than `brighterThan`. */
  readonly withinArcsec: number;
  readonly brighterThan: number;
}

/** What a file has around the positions of the objects, with a source or without; parallel to the task's arrays. */
export interface AroundObjects {
  /** Sources per square arcmin; NaN if it cannot be estimated. */
  readonly density: Float64Array;
  /** See `Around`. An object near an edge gets an answer from several files; the least distance is the right one. */
  readonly distance: Float64Array;
  /** The 95th percentile of the magnitudes of the neighbouring rows; NaN without any. */
  readonly depthMag: Float64Array;
  /** The number of these magnitudes. */
  readonly depthRows: Uint32Array;
}

export interface MotionTask extends CatalogMotion {
  /** Julian years from the catalog's epoch to each object's time; NaN if no motion is applied. */
  readonly years: Float64Array;
}

/** The columns of the sources' errors, and the 1σ errors of the objects' positions, NaN if unknown. */
export interface ErrorsTask extends CatalogErrors {
  readonly objectMas: Float64Array;
}

export type SourceIds = BigInt64Array | readonly string[];

/** The pairs of an object and a source within the radius; all arrays are parallel. */
export interface FoundPairs {
  /** Indexes into the task's arrays. If only the nearest source was requested, they ascend and each occurs once. */
  readonly object: Uint32Array;
  readonly id: SourceIds;
  readonly separationArcsec: Float64Array;
  /** At the object's time; NaN for a source that has not moved. */
  readonly separationAtEpochArcsec: Float64Array;
  /** Sources per square arcmin around the source; NaN if it cannot be estimated. */
  readonly density: Float64Array;
  /** Sources of the file within the radius of the object. */
  readonly sourcesWithinRadius: Uint32Array;
  /** The separation of the second nearest source, like `nearness`; NaN without one. */
  readonly secondSeparationArcsec: Float64Array;
  /** See `combinedError`; NaN if the error of object or source is not known. */
  readonly combinedErrorMas: Float64Array;
  /**
   * The logarithm of the sum of the weights (`lnWeight`) of the file's sources within the radius of the object; NaN if
   * the combined error of one of them is not known.
   */
  readonly lnWeights: Float64Array;
  /** Set if the task has `around`. */
  readonly around?: AroundObjects;
  /** Rows that cannot be sources: rows without a position, and rows near an object without a source id or a radius. */
  readonly rowsPassedOver: number;
}

export interface FileMatches extends FoundPairs {
  /**
   * The bytes of the sources, concatenated: see `packSource`. The position is the source's own, with RA from 0 to 360
   * whatever the catalog's convention; payload values are in the order of `columns.payload`.
   */
  readonly sources: Uint8Array;
  readonly sourceEnds: Uint32Array;
}

export interface ColumnMatches extends FoundPairs {
  /** The sources' own positions, degrees; RA from 0 to 360. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  /** Parallel to the task's `payload`. */
  readonly payload: readonly SourceColumn[];
}

export interface SourceColumn {
  /** A typed array if the column has 64-bit numbers. */
  readonly values: ArrayLike<Cell>;
  /** 1 for each null, whose entry in `values` is then meaningless; undefined if `values` contains the nulls itself. */
  readonly isNull?: Uint8Array;
}

/** `unreadable`: the file cannot be read now. `unusable`: the file contradicts the catalog's registration. */
export type MatchAnswer<Matches> = { readonly reads: ReadCounts } & (
  | { readonly outcome: 'searched'; readonly matches: Matches }
  | { readonly outcome: 'unreadable' | 'unusable'; readonly reason: string }
);

const memoryOf = memoized(
  ({ catalogs }: Partial<CatalogThreadData>) => new Semaphore(catalogs?.memoryBytes ?? DEFAULT_MEMORY_BYTES),
);
/** Limits the columns that the thread's tasks hold in memory. */
const memory = () => memoryOf(threadData<CatalogThreadData>());

export const tasks: Tasks<MatchTask | MatchColumnsTask> = { match: runMatch, matchColumns: runMatchColumns };

export async function runMatch(task: FileSearchTask): Promise<MatchAnswer<FileMatches>> {
  return await searched(task, packedSources);
}

export async function runMatchColumns(task: MatchColumnsTask): Promise<MatchAnswer<ColumnMatches>> {
  return await searched(task, sourceColumns);
}

/** Converts the matched sources to the form of the answer. */
type SourcesOf<Own, Sources> = (task: Own, file: ParquetFile, matched: readonly Candidate[]) => Promise<Sources>;

async function searched<Own extends FileSearchTask, Sources>(
  task: Own,
  sourcesOf: SourcesOf<Own, Sources>,
): Promise<MatchAnswer<FoundPairs & Sources>> {
  const reads = noReads();
  try {
    const { remote } = threadData<CatalogThreadData>().catalogs ?? {};
    const files = await catalogFiles(task.location, { remote, counts: reads });
    const matches = await withStableFile(() => matchIn(files, task, sourcesOf));
    return { outcome: 'searched', matches, reads };
  } catch (error) {
    if (error instanceof ReadFailure) return { outcome: 'unreadable', reason: error.message, reads };
    if (error instanceof CatalogError) return { outcome: 'unusable', reason: error.message, reads };
    throw error;
  }
}

async function matchIn<Own extends FileSearchTask, Sources>(
  files: CatalogFiles,
  task: Own,
  sourcesOf: SourcesOf<Own, Sources>,
): Promise<FoundPairs & Sources> {
  const file = await openParquet(await files.open(task.file));
  try {
    using positions = storedPositions(task, file);
    return await matchFile(taskIn(file, task), file, positions, sourcesOf);
  } finally {
    file.close();
  }
}

/** The task with the columns as the file spells them. Without a column that it lacks, sources do not move, or have no errors. */
function taskIn<Own extends FileSearchTask>(file: ParquetFile, task: Own): Own {
  const columns = columnsIn(file, task.columns);
  const own = new Map(task.columns.payload.map(({ column }, i) => [column, columns.payload[i]!.column]));
  const { motion, errors, around, radiusColumn } = task;
  const [pmra, pmdec] = [motion?.pmra, motion?.pmdec].map(column => column && own.get(column));
  const [raError, decError] = [errors?.ra, errors?.dec].map(column => column && own.get(column));
  return {
    ...task,
    columns,
    motion:
      motion && pmra && pmdec
        ? {
            ...motion,
            pmra,
            pmdec,
            parallax: own.get(motion.parallax) ?? null,
            radialVelocity: own.get(motion.radialVelocity) ?? null,
          }
        : undefined,
    errors: errors && raError && decError ? { ...errors, ra: raError, dec: decError } : undefined,
    around: around && { ...around, magnitude: own.get(around.magnitude) ?? null },
    radiusColumn: radiusColumn && { ...radiusColumn, column: own.get(radiusColumn.column) ?? null },
  };
}

/** A source within the radius of some object. */
interface Candidate {
  readonly row: number;
  /** 0 to 360 degrees, like every right ascension that is compared. */
  readonly ra: number;
  /** The same right ascension in the catalog's convention. */
  readonly publishedRa: number;
  readonly dec: number;
  readonly id: SourceId;
  /** Undefined for a source that does not move. */
  readonly star: MovingStar | undefined;
  /** The values of `ErrorsTask.ra` and `dec`; undefined without errors. */
  readonly raError: unknown;
  readonly decError: unknown;
  /** The 1σ error of the position; NaN if unknown. */
  readonly errorMas: number;
  /** The radius within which an object matches the source, arcsec. */
  readonly radiusArcsec: number;
  /** See `FoundPairs`. */
  readonly density: number;
}

async function matchFile<Own extends FileSearchTask, Sources>(
  task: Own,
  file: ParquetFile,
  positions: FilePositions | undefined,
  sourcesOf: SourcesOf<Own, Sources>,
): Promise<FoundPairs & Sources> {
  const around = task.around && new AroundPositions(task, file);
  const reached = await reachedRowGroups(task, file, around);
  const reach = Math.max(0, ...reached.map(each => each.reachArcsec));
  const zones = new ObjectZones(task.ra, task.dec, task.radiusArcsec + reach);
  const search = { task, zones, file, around, positions };
  const sifted = await settled(reached.map(({ rowGroup }) => sift(search, rowGroup)));
  const candidates = sifted.flatMap(part => part.candidates);
  const neighbours = new Neighbours(task.ra.length);
  const find = task.find === 'all' ? pairs : nearestPairs;
  const found = find(task, zones, candidates, neighbours);
  const matched = found.map(({ candidate }) => candidate);
  return {
    object: Uint32Array.from(found, ({ object }) => object),
    id: idsOf(task.columns, matched),
    separationArcsec: Float64Array.from(found, ({ separationArcsec }) => separationArcsec),
    separationAtEpochArcsec: Float64Array.from(found, ({ separationAtEpochArcsec }) => separationAtEpochArcsec),
    density: Float64Array.from(matched, ({ density }) => density),
    sourcesWithinRadius: Uint32Array.from(found, ({ object }) => neighbours.count[object]!),
    secondSeparationArcsec: Float64Array.from(found, ({ object }) => neighbours.second[object]!),
    combinedErrorMas: Float64Array.from(found, ({ combinedErrorMas }) => combinedErrorMas),
    lnWeights: Float64Array.from(found, ({ object }) => neighbours.lnWeights[object]!),
    rowsPassedOver: sifted.reduce((sum, part) => sum + part.passedOver, 0),
    ...(around && { around: await around.found() }),
    ...(await sourcesOf(task, file, matched)),
  };
}

function idsOf({ hasTextIds }: CatalogColumns, matched: readonly Candidate[]): SourceIds {
  return hasTextIds
    ? matched.map(({ id }) => id as string)
    : BigInt64Array.from(matched as readonly { readonly id: bigint }[], ({ id }) => id);
}

async function packedSources(task: FileSearchTask, file: ParquetFile, matched: readonly Candidate[]) {
  const payload = await readPayload(task, file, matched);
  const sources = matched.map(({ ra, dec }, at) =>
    packSource(
      ra,
      dec,
      payload.map(values => values[at]),
    ),
  );
  let end = 0;
  return { sources: Buffer.concat(sources), sourceEnds: Uint32Array.from(sources, ({ length }) => (end += length)) };
}

async function sourceColumns(task: MatchColumnsTask, file: ParquetFile, matched: readonly Candidate[]) {
  const payload = await readPayload(task, file, matched);
  return {
    ra: Float64Array.from(matched, ({ ra }) => ra),
    dec: Float64Array.from(matched, ({ dec }) => dec),
    payload: payload.map((values, i) => sourceColumn(file, task.columns.payload[i]!, task.payload[i]!, values)),
  };
}

function sourceColumn(
  file: ParquetFile,
  { column: stored }: PayloadColumn,
  column: Column,
  found: readonly unknown[],
): SourceColumn {
  const { type } = column;
  const cells = found.map(value => (stored === null ? null : cellIn(file, stored, column, value)));
  if (type !== 'float64' && type !== 'int64') return { values: cells };
  const values = type === 'float64' ? new Float64Array(cells.length) : new BigInt64Array(cells.length);
  const isNull = new Uint8Array(cells.length);
  cells.forEach((cell, i) => {
    if (cell === null) isNull[i] = 1;
    else values[i] = cell as never;
  });
  return { values, isNull };
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

interface Search {
  readonly task: FileSearchTask;
  readonly zones: ObjectZones;
  readonly file: ParquetFile;
  readonly around: AroundPositions | undefined;
  readonly positions: FilePositions | undefined;
}

/** The rows of a row group near an object, and the density around each. */
interface NearRows extends Sifted<NearRow> {
  readonly densities: Float64Array;
}

/**
 * Finds the rows of one row group that lie near an object. A row without a valid position, an id or, if sources have
 * radii of their own, a radius is not a source.
 */
async function sift(search: Search, rowGroup: number): Promise<Sifted<Candidate>> {
  const { task, file } = search;
  const { columns, motion, errors, radiusColumn } = task;
  const { rowStart } = file.rowGroups[rowGroup]!;
  const near = (await inPositions(search, rowGroup)) ?? (await inColumns(search, rowGroup));
  const found = task.around ? { ...near, candidates: await nearOrBright(search, rowStart, near.candidates) } : near;
  const rows = found.candidates.map(({ row }) => rowStart + row);
  const valuesOf = async (column: string | null) =>
    column === null ? [] : memory().run(file.bytesOfRows(column, rows), () => file.readValues(column, rows));
  const ids = await valuesOf(columns.id);
  const parallaxes = await valuesOf(motion?.parallax ?? null);
  const velocities = await valuesOf(motion?.radialVelocity ?? null);
  const raErrors = await valuesOf(errors?.ra ?? null);
  const decErrors = await valuesOf(errors?.dec ?? null);
  const radii = await valuesOf(radiusColumn?.column ?? null);
  const candidates = found.candidates.flatMap(({ motion, ...place }, index) => {
    const id = sourceId(ids[index], file, columns);
    const star = motion && starOf({ ra: place.ra, dec: place.dec, ...motion }, parallaxes[index], velocities[index]);
    const largest = place.radiusArcsec ?? task.radiusArcsec;
    const radiusArcsec = radiusColumn ? sourceRadius(radiusColumn, radii[index], largest) : largest;
    if (id === undefined || Number.isNaN(radiusArcsec)) return [];
    const [raError, decError] = [raErrors[index], decErrors[index]];
    const errorMas = errors ? circularErrorMas(raError, decError, errors.unitMas) : Number.NaN;
    const density = found.densities[index]!;
    return [{ ...place, row: rows[index]!, id, star, raError, decError, errorMas, radiusArcsec, density }];
  });
  return { candidates, passedOver: found.passedOver + rows.length - candidates.length };
}

/** Leaves out rows that `AroundTask` does not want. With a large radius they are many. */
async function nearOrBright(
  { task, zones, file }: Search,
  rowStart: number,
  candidates: readonly NearRow[],
): Promise<NearRow[]> {
  const { magnitude, withinArcsec, brighterThan } = task.around!;
  const rows = candidates.map(({ row }) => rowStart + row);
  const magnitudes =
    magnitude === null
      ? []
      : await memory().run(file.bytesOfRows(magnitude, rows), () => file.readValues(magnitude, rows));
  return candidates.flatMap((near, i) => {
    if (Number(magnitudes[i] ?? Number.NaN) < brighterThan) return near;
    return zones.hasNear(near.ra, near.dec, withinArcsec) ? { ...near, radiusArcsec: withinArcsec } : [];
  });
}

/** Reads the positions of all rows from the file itself. */
async function inColumns({ task, zones, file, around }: Search, rowGroup: number): Promise<NearRows> {
  const { columns, motion } = task;
  const wanted = [columns.ra, columns.dec, ...(motion ? [motion.pmra, motion.pmdec] : [])];
  const bytes = wanted.reduce((sum, column) => sum + file.bytesInRowGroup(column, rowGroup), 0);
  return memory().run(bytes, async () => {
    const [ra, dec, pmra, pmdec] = await settled(wanted.map(column => numbers(file, column, rowGroup)));
    const places = placesOf(ra!, dec!);
    around?.look(rowGroup, places);
    const near: NearRow[] = [];
    const passedOver = nearRows(zones, ra!, dec!, 1, 0, near);
    const candidates = motion ? movedNear(task, zones, near, row => [pmra![row]!, pmdec![row]!]) : near;
    return { candidates, passedOver, densities: densitiesOf(task, zones, candidates, places) };
  });
}

/** Reads the stored positions of rows near the objects; undefined if there are none, or if they are damaged. */
async function inPositions(
  { task, zones, file, around, positions }: Search,
  rowGroup: number,
): Promise<NearRows | undefined> {
  if (!positions) return undefined;
  try {
    const group = positions.groups[rowGroup]!;
    const { rowStart } = group;
    const places = placesIn(positions, group);
    around?.look(rowGroup, places);
    let candidates: NearRow[] = [];
    for (const [from, to] of positions.near(rowGroup, task.ra, task.dec, zones.radiusArcsec))
      for (const { rowStart: first, values } of positions.read(from, to))
        nearRows(zones, values, values.subarray(1), 2, first - rowStart, candidates);
    const { motion } = task;
    if (motion && candidates.length > 0) {
      const rows = candidates.map(({ row }) => rowStart + row);
      const columns = [motion.pmra, motion.pmdec];
      const bytes = columns.reduce((sum, column) => sum + file.bytesOfRows(column, rows), 0);
      const [pmra, pmdec] = await memory().run(bytes, () =>
        settled(columns.map(column => file.readValues(column, rows))),
      );
      const at = new Map(candidates.map(({ row }, i) => [row, i]));
      const ofRow = (values: readonly unknown[], row: number) => Number(values[at.get(row)!] ?? Number.NaN);
      candidates = movedNear(task, zones, candidates, row => [ofRow(pmra!, row), ofRow(pmdec!, row)]);
    }
    return {
      candidates,
      passedOver: group.withoutPosition,
      densities: densitiesOf(task, zones, candidates, places),
    };
  } catch (error) {
    if (error instanceof UnusablePositions) return undefined;
    throw error;
  }
}

/** The places of a row group's rows along the curve, by the stored positions. */
function placesIn(positions: FilePositions, { rowStart, rowEnd, isSorted }: GroupPositions): RowPlaces {
  return {
    length: rowEnd - rowStart,
    isSorted,
    fill: (from, to, places) => positions.fillPlaces(rowStart + from, rowStart + to, places),
  };
}

/** The density around each candidate of a row group; NaN if it is unknown, or cannot be needed. */
function densitiesOf(
  { find, hasAllRows, motion, around, radiusColumn, ra: objects }: FileSearchTask,
  zones: ObjectZones,
  candidates: readonly NearRow[],
  places: RowPlaces,
): Float64Array {
  const densities = new Float64Array(candidates.length).fill(Number.NaN);
  if (!hasAllRows || around || candidates.length === 0) return densities;
  const density = new RowDensity(places);
  // With a large radius, most candidates are not the nearest source of any object.
  const nearest =
    find === 'nearest' && !motion && !radiusColumn && candidates.length > 2 * objects.length
      ? nearestOf(zones, candidates, objects.length)
      : undefined;
  candidates.forEach(({ row }, i) => {
    if (!nearest || nearest[i]) densities[i] = density.at(row);
  });
  return densities;
}

/** Whether each candidate is the nearest of an object, or equally near. */
function nearestOf(zones: ObjectZones, candidates: readonly NearRow[], objects: number): Uint8Array {
  const least = new Float64Array(objects).fill(Number.POSITIVE_INFINITY);
  for (const { ra, dec } of candidates)
    zones.near(ra, dec, (object, separation) => {
      if (separation < least[object]!) least[object] = separation;
    });
  const isNearest = new Uint8Array(candidates.length);
  candidates.forEach(({ ra, dec }, i) => {
    zones.near(ra, dec, (object, separation) => {
      if (separation === least[object]) isNearest[i] = 1;
    });
  });
  return isNearest;
}

/** Reads a column of numbers. A file in which the column has no values at all counts as all null. */
async function numbers(file: ParquetFile, column: string, rowGroup: number): Promise<Float64Array> {
  if (file.columns.get(column) !== 'null') return file.readNumbers(column, rowGroup);
  const { rowStart, rowEnd } = file.rowGroups[rowGroup]!;
  return new Float64Array(rowEnd - rowStart).fill(Number.NaN);
}

/** A row near an object; `motion` is set only if the row moves, `radiusArcsec` only if it is less than the task's. */
type NearRow = Omit<Candidate, 'id' | 'star' | 'raError' | 'decError' | 'errorMas' | 'radiusArcsec' | 'density'> & {
  readonly motion?: Pick<MovingStar, 'pmra' | 'pmdec'>;
  readonly radiusArcsec?: number;
};

/**
 * Adds the rows within the radius of the zones to `found`. A dense search spends nearly all its time here.
 * @param published right ascensions as published, degrees
 * @param stride the distance between consecutive rows in both arrays, in values
 * @param firstRow the number of the first row, counted from the first of the row group
 * @returns the number of rows without a position
 */
function nearRows(
  zones: ObjectZones,
  published: Float64Array,
  decs: Float64Array,
  stride: number,
  firstRow: number,
  found: NearRow[],
): number {
  let passedOver = 0;
  for (let at = 0; at < published.length; at += stride) {
    const publishedRa = published[at]!;
    const ra = wrapRa(publishedRa);
    const dec = decs[at]!;
    if (!isPosition(ra, dec)) passedOver++;
    else if (zones.hasNear(ra, dec)) found.push({ row: firstRow + at / stride, ra, publishedRa, dec });
  }
  return passedOver;
}

/** Picks the rows that lie near an object, or may have moved there. The zones reach as far as the fastest source. */
function movedNear(
  { radiusArcsec, motion }: FileSearchTask,
  zones: ObjectZones,
  candidates: readonly NearRow[],
  motionOf: (row: number) => readonly [pmra: number, pmdec: number],
): NearRow[] {
  const years = longest(motion!.years);
  return candidates.flatMap(near => {
    const [pmra, pmdec] = motionOf(near.row);
    const mas = motionMas(pmra, pmdec);
    if (!zones.hasNear(near.ra, near.dec, radiusArcsec + reachArcsec(mas, years))) return [];
    return mas > 0 ? { ...near, motion: { pmra, pmdec } } : near;
  });
}

interface Pair {
  readonly object: number;
  readonly candidate: Candidate;
  readonly separationArcsec: number;
  /** NaN if the source has not moved. */
  readonly separationAtEpochArcsec: number;
  /** See `FoundPairs`. */
  readonly combinedErrorMas: number;
}

/** Counts the sources within the radius of each object, finds the nearest two, and adds up the weights of all. */
class Neighbours {
  readonly count: Uint32Array;
  readonly #first: Float64Array;
  /** Arcsec; NaN if there is no such source. */
  readonly second: Float64Array;
  /** See `FoundPairs`. */
  readonly lnWeights: Float64Array;

  constructor(objects: number) {
    this.count = new Uint32Array(objects);
    this.#first = new Float64Array(objects).fill(Number.NaN);
    this.second = new Float64Array(objects).fill(Number.NaN);
    this.lnWeights = new Float64Array(objects).fill(Number.NEGATIVE_INFINITY);
  }

  add(object: number, arcsec: number, combinedErrorMas: number): void {
    this.lnWeights[object] = lnSum(this.lnWeights[object]!, lnWeight(arcsec, combinedErrorMas));
    const first = this.#first[object]!;
    const isNearest = !(first <= arcsec);
    const other = isNearest ? first : arcsec;
    if (isNearest) this.#first[object] = arcsec;
    if (this.count[object]!++ > 0 && !(this.second[object]! <= other)) this.second[object] = other;
  }
}

/** Calls `visit` with every object and each candidate within the radius, at the object's time if the source moves. */
function eachPair(
  { ra, dec, motion, errors }: FileSearchTask,
  zones: ObjectZones,
  candidates: readonly Candidate[],
  neighbours: Neighbours,
  visit: (pair: Pair) => void,
): void {
  for (const candidate of candidates)
    zones.near(candidate.ra, candidate.dec, (object, separation) => {
      const { star, radiusArcsec } = candidate;
      const years = motion?.years[object] ?? Number.NaN;
      let atEpoch = Number.NaN;
      if (star && !Number.isNaN(years)) {
        if (separation > radiusArcsec + reachArcsec(motionMas(star.pmra, star.pmdec), years)) return;
        const place = movedStar(star, years);
        atEpoch = separationArcsec(ra[object]!, dec[object]!, place.ra, place.dec);
      }
      const separations = { separationArcsec: separation, separationAtEpochArcsec: atEpoch };
      const arcsec = nearness(separations);
      if (arcsec > radiusArcsec) return;
      const combinedErrorMas = errors ? combinedError(errors.objectMas[object]!, candidate.errorMas) : Number.NaN;
      neighbours.add(object, arcsec, combinedErrorMas);
      visit({ object, candidate, ...separations, combinedErrorMas });
    });
}

/** The separation by which sources are compared: at the object's time if the source has moved. */
export function nearness({
  separationArcsec,
  separationAtEpochArcsec,
}: Pick<Pair, 'separationArcsec' | 'separationAtEpochArcsec'>): number {
  return Number.isNaN(separationAtEpochArcsec) ? separationArcsec : separationAtEpochArcsec;
}

type FindPairs = (
  task: FileSearchTask,
  zones: ObjectZones,
  candidates: readonly Candidate[],
  neighbours: Neighbours,
) => Pair[];

const pairs: FindPairs = (task, zones, candidates, neighbours) => {
  const found: Pair[] = [];
  eachPair(task, zones, candidates, neighbours, pair => found.push(pair));
  return found;
};

/** Each object that has a candidate, with its nearest candidate, by ascending object. */
const nearestPairs: FindPairs = (task, zones, candidates, neighbours) => {
  const nearest: (Pair | undefined)[] = new Array(task.ra.length).fill(undefined);
  eachPair(task, zones, candidates, neighbours, pair => {
    const best = nearest[pair.object];
    const farther = best ? nearness(pair) - nearness(best) : -1;
    if (farther < 0 || (farther === 0 && compareIds(pair.candidate.id, best!.candidate.id) < 0))
      nearest[pair.object] = pair;
  });
  return nearest.filter(found => found !== undefined);
};

/** The limit for payload columns that are read together; a single larger column is read alone. */
const PAYLOAD_BYTES = 64 << 20;

/** Reads the payload of the matched rows; a row may be the match of several objects. */
async function readPayload(
  { columns: { ra, dec, payload }, errors }: FileSearchTask,
  file: ParquetFile,
  matched: readonly Candidate[],
): Promise<unknown[][]> {
  const rows = [...new Set(matched.map(({ row }) => row))].sort((a, b) => a - b);
  const values = new Map<string, unknown[]>();
  const known = new Map<string | null, (candidate: Candidate) => unknown>([
    [null, () => null],
    [ra, candidate => candidate.publishedRa],
    [dec, candidate => candidate.dec],
  ]);
  if (errors) known.set(errors.ra, ({ raError }) => raError).set(errors.dec, ({ decError }) => decError);
  const wanted = new Set(payload.flatMap(({ column }) => (known.has(column) ? [] : (column ?? []))));
  for (const { columns, bytes } of portions([...wanted], column => file.bytesOfRows(column, rows))) {
    const read = await memory().run(bytes, () => settled(columns.map(column => file.readValues(column, rows))));
    columns.forEach((column, at) => {
      values.set(column, read[at]!);
    });
  }
  const place = new Map(rows.map((row, index) => [row, index]));
  const places = matched.map(({ row }) => place.get(row)!);
  return payload.map(({ column }) => {
    const ownValue = known.get(column);
    return ownValue
      ? matched.map(each => storable(ownValue(each)))
      : places.map(at => storable(values.get(column!)![at]));
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

/** The number of rows on each side of a position whose magnitudes give the depth. */
const DEPTH_ROWS_PER_SIDE = 50;
const DEPTH_PERCENTILE = 95;
/** Other values stand for missing ones, such as 99 and -9999. */
const MAGNITUDES = { min: -10, max: 35 } as const;

/** Describes a file at the positions of the objects: its density, and the depth of its neighbouring rows. */
class AroundPositions {
  readonly #task: FileSearchTask;
  readonly #file: ParquetFile;
  /** The row group in whose part of the curve each object lies; undefined if the file does not state its pixels. */
  readonly #groups: Int32Array | undefined;
  readonly #needed: ReadonlySet<number>;
  readonly #density: Float64Array;
  readonly #distance: Float64Array;
  /** The row of the file at each object; -1 if it is not known. */
  readonly #row: Float64Array;

  constructor(task: FileSearchTask, file: ParquetFile) {
    const objects = task.ra.length;
    this.#task = task;
    this.#file = file;
    this.#density = new Float64Array(objects).fill(Number.NaN);
    this.#distance = new Float64Array(objects).fill(Number.POSITIVE_INFINITY);
    this.#row = new Float64Array(objects).fill(-1);
    this.#groups = this.#groupsOfObjects();
    this.#needed = new Set(this.#groups);
  }

  #groupsOfObjects(): Int32Array | undefined {
    const firsts: number[] = [];
    for (const rowGroup of this.#file.rowGroups.keys()) {
      const pixels = statedPixels(this.#file, rowGroup);
      if (!pixels) return this.#file.rowGroups.length === 1 ? new Int32Array(this.#task.ra.length) : undefined;
      firsts.push(Number(pixels.min >> BigInt(2 * (HEALPIX_ORDER - 24))));
    }
    return Int32Array.from(this.#task.ra, (ra, object) => {
      const place = pixel24(ra, this.#task.dec[object]!);
      let own = 0;
      for (let group = 0; group < firsts.length; group++)
        if (firsts[group]! <= place && firsts[group]! >= firsts[own]!) own = group;
      return own;
    });
  }

  /** Whether a row group must be read even if no disc reaches its rows. */
  needs(rowGroup: number): boolean {
    return this.#needed.has(rowGroup);
  }

  look(rowGroup: number, places: RowPlaces): void {
    if (this.#groups && !this.#needed.has(rowGroup)) return;
    const { rowStart } = this.#file.rowGroups[rowGroup]!;
    const rows = new RowDensity(places);
    for (let object = 0; object < this.#task.ra.length; object++) {
      if (this.#groups && this.#groups[object] !== rowGroup) continue;
      const { density, distance, row } = rows.around(this.#task.ra[object]!, this.#task.dec[object]!);
      if (distance >= this.#distance[object]!) continue;
      this.#distance[object] = distance;
      this.#density[object] = this.#task.hasAllRows ? density : Number.NaN;
      this.#row[object] = row === undefined ? -1 : rowStart + row;
    }
  }

  async found(): Promise<AroundObjects> {
    const depthMag = new Float64Array(this.#row.length).fill(Number.NaN);
    const depthRows = new Uint32Array(this.#row.length);
    const magnitudes = await this.#magnitudes();
    if (magnitudes) {
      const window = new Float64Array(2 * DEPTH_ROWS_PER_SIDE);
      for (let object = 0; object < this.#row.length; object++) {
        const [from, to] = this.#windowOf(this.#row[object]!);
        let known = 0;
        for (let at = from; at < to; at++) {
          const value = magnitudes.values[at - magnitudes.first]!;
          if (value > MAGNITUDES.min && value < MAGNITUDES.max) window[known++] = value;
        }
        depthRows[object] = known;
        depthMag[object] = percentile(window.subarray(0, known), DEPTH_PERCENTILE);
      }
    }
    return { density: this.#density, distance: this.#distance, depthMag, depthRows };
  }

  /** The magnitudes of the rows around all objects, by row of the file from `first` on; NaN for missing ones. */
  async #magnitudes(): Promise<{ readonly first: number; readonly values: Float64Array } | undefined> {
    const { magnitude } = this.#task.around!;
    if (magnitude === null) return undefined;
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const row of this.#row) {
      const [from, to] = this.#windowOf(row);
      if (from < to) [first, last] = [Math.min(first, from), Math.max(last, to)];
    }
    if (first >= last) return undefined;
    const isNeeded = new Uint8Array(last - first);
    for (const row of this.#row) {
      const [from, to] = this.#windowOf(row);
      if (from < to) isNeeded.fill(1, from - first, to - first);
    }
    const rows: number[] = [];
    for (let at = 0; at < isNeeded.length; at++) if (isNeeded[at]) rows.push(first + at);
    const read = await memory().run(this.#file.bytesOfRows(magnitude, rows), () =>
      this.#file.readValues(magnitude, rows),
    );
    const values = new Float64Array(last - first).fill(Number.NaN);
    for (let i = 0; i < rows.length; i++) values[rows[i]! - first] = Number(read[i] ?? Number.NaN);
    return { first, values };
  }

  /** The neighbouring rows in the row group, from (inclusive) and to (exclusive). */
  #windowOf(row: number): readonly [from: number, to: number] {
    const group = row < 0 ? undefined : this.#file.rowGroups.findLast(({ rowStart }) => rowStart <= row);
    if (!group) return [0, 0];
    return [Math.max(group.rowStart, row - DEPTH_ROWS_PER_SIDE), Math.min(group.rowEnd, row + DEPTH_ROWS_PER_SIDE)];
  }
}

/** A high percentile, interpolated linearly between ranks; NaN without values. The largest values go to the front. */
function percentile(values: Float64Array, percent: number): number {
  const last = values.length - 1;
  const place = (last * percent) / 100;
  const rank = last - Math.floor(place);
  for (let at = 0; at <= rank; at++) {
    let most = at;
    for (let other = at + 1; other <= last; other++) if (values[other]! > values[most]!) most = other;
    const largest = values[most]!;
    values[most] = values[at]!;
    values[at] = largest;
  }
  const below = values[rank] ?? Number.NaN;
  return below + (place % 1) * ((values[last - Math.ceil(place)] ?? below) - below);
}

/** Half the side of a pixel of order 0. */
const PIXEL_ARCSEC = 105_000;

interface ReachedRowGroup {
  readonly rowGroup: number;
  /** The largest distance that a source of the row group can have moved. */
  readonly reachArcsec: number;
}

/**
 * Selects the row groups with rows that an object's disc can reach. If sources move, the disc grows by the distance
 * that the fastest source of the row group has moved. That speed comes from the statistics of the motion columns or,
 * without statistics, from all their values.
 */
async function reachedRowGroups(
  task: FileSearchTask,
  file: ParquetFile,
  around: AroundPositions | undefined,
): Promise<ReachedRowGroup[]> {
  const reached: ReachedRowGroup[] = [];
  const years = task.motion ? longest(task.motion.years) : 0;
  for (const rowGroup of file.rowGroups.keys()) {
    let reach = reachArcsec(MAX_MOTION_MAS, years);
    if (around?.needs(rowGroup)) {
      reached.push({ rowGroup, reachArcsec: reach });
      continue;
    }
    if (!reachesRowGroup(task, file, rowGroup, reach)) continue;
    if (reach > 0) {
      reach = reachArcsec(await fastestMas(task.motion!, file, rowGroup), years);
      if (!reachesRowGroup(task, file, rowGroup, reach)) continue;
    }
    reached.push({ rowGroup, reachArcsec: reach });
  }
  return reached;
}

/** An upper bound for the motions of a row group, mas per year. */
async function fastestMas({ pmra, pmdec }: CatalogMotion, file: ParquetFile, rowGroup: number): Promise<number> {
  const [east, north] = [file.bounds(rowGroup, pmra), file.bounds(rowGroup, pmdec)];
  if (east && north) {
    const largest = ({ min, max }: typeof east) => Math.max(Math.abs(min), Math.abs(max));
    return Math.min(MAX_MOTION_MAS, Math.hypot(largest(east), largest(north)));
  }
  const bytes = file.bytesInRowGroup(pmra, rowGroup) + file.bytesInRowGroup(pmdec, rowGroup);
  return memory().run(bytes, async () => {
    const [easts, norths] = await settled([pmra, pmdec].map(column => numbers(file, column, rowGroup)));
    return easts!.reduce((fastest, each, row) => Math.max(fastest, motionMas(each, norths![row]!)), 0);
  });
}

/**
 * Whether any object's disc, made larger by `reach` arcsec, can touch the rows of a row group. This follows from the
 * statistics of the position columns, which bound the rows by a box, and of the HEALPix pixels, which locate the rows
 * in the box. A group without statistics counts as reached. The statistics ignore NaN and null, and so does the search.
 */
function reachesRowGroup(task: FileSearchTask, file: ParquetFile, rowGroup: number, reach: number): boolean {
  const { columns, ra, dec } = task;
  const radiusArcsec = task.radiusArcsec + reach;
  const raBounds = file.bounds(rowGroup, columns.ra);
  const decBounds = file.bounds(rowGroup, columns.dec);
  const healpixBounds = statedPixels(file, rowGroup);
  // Pixels of this order are several times as wide as the disc, so that it touches only a few.
  const order = Math.min(MAX_ORDER, Math.floor(Math.log2(PIXEL_ARCSEC / radiusArcsec)));
  const shift = BigInt(2 * (29 - order));
  const [first, last] = healpixBounds ? [Number(healpixBounds.min >> shift), Number(healpixBounds.max >> shift)] : [];
  const radius = (radiusArcsec + PAD_ARCSEC) / 3600;
  for (let object = 0; object < ra.length; object++) {
    if (decBounds && (dec[object]! < decBounds.min - radius || dec[object]! > decBounds.max + radius)) continue;
    if (raBounds && !reachesRa(ra[object]!, dec[object]!, radius, raBounds)) continue;
    if (first === undefined || last === undefined) return true;
    const pixels = conePixels(order, ra[object]!, dec[object]!, radiusArcsec + MAX_OUTSIDE_ARCSEC);
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
  // The distance eastward from the least right ascension to the disc's western edge. The eastern edge may lie beyond
  // 360 degrees.
  const west = wrapRa(ra - 1.1 * ratio - wrapRa(min));
  return west <= width || west + 2.2 * ratio >= 360;
}
