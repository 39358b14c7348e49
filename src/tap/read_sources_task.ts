/**
 * Reads the parts of catalogs that queries need. This is the task of a process whose memory the kernel limits. It
 * copies the columns of row groups that touch an area as they are stored, without decoding them, or picks their rows if
 * these are few.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PixelBounds } from '@nearsky/adql';
import { isOutOfMemory } from '@nearsky/astrotables/bytes';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, catalogFiles, isRemote, REMOTE_CONCURRENCY, withStableFile } from '@nearsky/hats';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import { eachConcurrently } from '../base/concurrency.ts';
import { isThere } from '../base/files.ts';
import { NARROW_TYPES } from '../catalogs/columns.ts';
import { Catalogs, isSameDefinition } from '../contract/catalogs.ts';
import { MAX_CATALOG_FILES } from '../contract/limits.ts';
import type { MatchThreadData } from '../crossmatch/match_file.ts';
import { PoolError, type Task } from '../pool/pool.ts';
import { threadData } from '../pool/thread_data.ts';
import type { CatalogRegistration } from '../store/catalog_registration.ts';
import { currentStore } from '../store/thread_store.ts';
import { EngineFile } from './engine_file.ts';
import { hasAny, PickedRows, touches } from './near_rows.ts';
import type { PartRead, PartWanted } from './query_sources.ts';
import { fileColumn, sourceTables } from './source_tables.ts';

export interface ReadSourcesTask extends Task<SourcesRead> {
  readonly kind: 'readSources';
  readonly parts: readonly PartWanted[];
  /** The output directory, created if it is missing. Deleting it stops the task. */
  readonly directory: string;
  /** The maximum number of bytes that the query may read, including earlier tasks. */
  readonly maxBytes: number;
  /** The number of bytes that the query may still read. */
  readonly left: ReadingLeft;
  /** A query that reads more than this is too large; undefined if any may be read. */
  readonly quickBytes?: number;
}

export interface ReadingLeft {
  readonly bytes: number;
  readonly files: number;
}

export type SourcesRead =
  | { readonly outcome: 'read'; readonly parts: readonly PartRead[]; readonly left: ReadingLeft }
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'unreadable'; readonly message: string }
  | { readonly outcome: 'tooLarge' };

/** The query needs more than is allowed. */
class TooMuch extends Error {}

/** The query needs more than a quick task may read. */
class NotQuick extends Error {}

/** The number of files that are copied at once from a catalog on another host. */
const COPIED_AT_ONCE = 4;
const MIB = 2 ** 20;

export async function runReadSources({
  parts,
  directory,
  maxBytes,
  quickBytes,
  ...task
}: ReadSourcesTask): Promise<SourcesRead> {
  const left = { ...task.left };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const read: PartRead[] = [];
    for (const part of parts) {
      const before = { ...left };
      const again = () => readPart(part, directory, Object.assign(left, before), maxBytes, quickBytes);
      read.push(await withStableFile(again));
    }
    return { outcome: 'read', parts: read, left };
  } catch (error) {
    if (error instanceof TooMuch) return { outcome: 'refused', message: error.message };
    if (error instanceof ReadFailure || error instanceof CatalogError)
      return { outcome: 'unreadable', message: error.message };
    if (error instanceof NotQuick || error instanceof PoolError || isOutOfMemory(error)) return { outcome: 'tooLarge' };
    throw error;
  }
}

/** A file of the catalog, and which of its row groups are needed. */
interface Chosen {
  readonly file: ParquetFile;
  readonly groups: readonly number[];
}

async function readPart(
  wanted: PartWanted,
  directory: string,
  left: { bytes: number; files: number },
  maxBytes: number,
  quickBytes = Number.POSITIVE_INFINITY,
): Promise<PartRead> {
  const store = currentStore();
  const { name } = wanted.catalog;
  const registration = store.catalog(name);
  const catalogs = new Catalogs(store.catalogs());
  const table = sourceTables(catalogs).find(({ schema }) => schema === name);
  if (!registration || !table) throw new TooMuch(`the catalog ${name} is not registered here any more`);
  if (!isSameDefinition(catalogs.get(name)!, wanted.catalog))
    throw new CatalogError(`the catalog ${name} was replaced or described anew since the tables were made`);
  const names = filesWithin(registration, wanted.bounds);
  requireFew(registration, wanted, names.length, left.files);
  const { remote } = threadData<MatchThreadData>().catalogs ?? {};
  const files = await catalogFiles(registration.location, { remote });
  const isFar = isRemote(registration.location);
  const columns = wanted.columns.map(({ name, type }) => {
    if (!table.columns.some(column => column.name === name && column.type === type))
      throw new CatalogError(`the column ${name} of ${wanted.catalog.name} has changed since the tables were made`);
    return { name, type, stored: fileColumn(registration, table, name) };
  });
  const chosen: (Chosen | undefined)[] = new Array(names.length);
  const few = `part${wanted.part}.parquet`;
  // Another host is asked for as few columns as possible: not for the pixels of rows.
  using picked = wanted.bounds && !isFar ? new PickedRows(join(directory, few), columns, wanted.bounds) : undefined;
  let [bytes, rows] = [0, 0];
  try {
    const isEnough = () => wanted.rows !== undefined && rows >= wanted.rows;
    // If any rows will do, files are opened one at a time.
    await eachConcurrently(names, isFar && wanted.rows === undefined ? REMOTE_CONCURRENCY : 1, async (name, i) => {
      if (isEnough()) return;
      if (left.files-- === 0) throw tooManyFiles(registration, i + 1);
      const file = await openParquet(await files.open(name));
      const groups: number[] = [];
      chosen[i] = { file, groups };
      for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
        if (rowEnd === rowStart || isEnough() || !touches(file, group, wanted.bounds)) continue;
        groups.push(group);
        rows += rowEnd - rowStart;
        for (const { stored } of columns) if (stored !== undefined) bytes += file.storedBytes(stored, group);
      }
      if (bytes > left.bytes) throw tooManyBytes(wanted, bytes, maxBytes, names.length);
      if (bytes > quickBytes) throw new NotQuick();
    });
    left.bytes -= bytes;
    const has = new Set<string>();
    const written: string[] = [];
    const some = chosen.flatMap(each => (each && each.groups.length > 0 ? [each] : []));
    await eachConcurrently(some, isFar ? COPIED_AT_ONCE : 1, async ({ file, groups }, i) => {
      if (!isThere(directory)) throw new TooMuch('the query was ended');
      const own = columns.flatMap(({ name, type, stored }) => {
        const kind = stored === undefined ? undefined : file.columns.get(stored);
        if (stored === undefined || kind === undefined || kind === 'null') return [];
        if ((type === 'float32' || type === 'int32') && NARROW_TYPES[kind] !== type) throw widened(file, stored);
        return [{ name, stored }];
      });
      for (const { name } of own) has.add(name);
      const dense: number[] = [];
      for (const group of groups) if (!(await picked?.take(file, group))) dense.push(group);
      if (dense.length === 0) return;
      const to = `part${wanted.part}-${i}.parquet`;
      // A file without the columns still has rows.
      const copied = own.length > 0 ? own : [{ name: table.partial!.id, stored: registration.columns.id }];
      await copy({ file, groups: dense }, copied, join(directory, to));
      written.push(to);
    });
    if (picked?.end()) written.push(few);
    return { part: wanted.part, files: written, columns: [...has] };
  } finally {
    for (const each of chosen) each?.file.close();
  }
}

/** The files of the partitions that touch an area; all files without an area. */
function filesWithin({ partitions }: CatalogRegistration, bounds: PixelBounds | undefined): string[] {
  return partitions.flatMap(({ order, ipix, files }) => {
    const size = 4 ** (MAX_AREA_ORDER - order);
    return !bounds || hasAny(bounds, ipix * size, (ipix + 1) * size) ? files : [];
  });
}

function requireFew(registration: CatalogRegistration, wanted: PartWanted, files: number, most: number): void {
  if (wanted.rows !== undefined) return;
  if (!wanted.bounds && (isRemote(registration.location) || files > most))
    throw new TooMuch(`the query reads all of ${sizeOf(registration)}, which is too much: ${NARROWER}`);
  if (files > most) throw tooManyFiles(registration, files);
}

function tooManyFiles(registration: CatalogRegistration, files: number): TooMuch {
  return new TooMuch(
    `the query reads ${files} files of ${sizeOf(registration)}; a query reads at most ${MAX_CATALOG_FILES} files of catalogs: ${NARROWER}`,
  );
}

function sizeOf({ name, hats: { rows }, partitions }: CatalogRegistration): string {
  return `${name}.sources (${rows === null ? '' : `${rows} rows in `}${partitions.length} partitions)`;
}

function tooManyBytes({ catalog }: PartWanted, bytes: number, maxBytes: number, files: number): TooMuch {
  const mib = (count: number) => `${Math.ceil(count / MIB)} MiB`;
  return new TooMuch(
    `the query reads at least ${mib(bytes)} of ${catalog}.sources (in ${files} files), and may read ${mib(maxBytes)}: ${NARROWER}`,
  );
}

const NARROWER =
  'name fewer columns, or fewer rows, by a CIRCLE, POLYGON, BOX or MOC around its position, a join by DISTANCE with the positions of another table, ids, or TOP without WHERE and ORDER BY';

/** A type that is wider than when the catalog was added: its values would lose digits. */
function widened(file: ParquetFile, column: string): CatalogError {
  return new CatalogError(
    `Cannot use ${file.name} because the type of column ${column} was narrower when the catalog was added: add the catalog again`,
  );
}

/** Copies columns of some row groups to a file. */
async function copy(
  { file, groups }: Chosen,
  columns: readonly { readonly name: string; readonly stored: string }[],
  path: string,
): Promise<void> {
  const elements = new Map(file.elements.map(element => [element.name, element]));
  const described = columns.map(({ name }) => ({ name, type: 'float64' as const, description: '' }));
  using target = new EngineFile(
    path,
    described,
    columns.map(({ stored }) => elements.get(stored)!),
  );
  for (const group of groups) {
    const stored = await Promise.all(columns.map(({ stored }) => file.storedColumn(stored, group)));
    for (const _ of target.writer.group(stored)) target.drain();
  }
  target.writer.end();
  target.drain();
}
