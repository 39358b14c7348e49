/**
 * Reads the parts of catalogs that queries need. This is the task of a process whose memory the kernel limits. It
 * copies the columns of row groups that touch an area as they are stored, without decoding those that the engine can
 * read, or picks their rows if these are few.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isOutOfMemory } from '@nearsky/astrotables/bytes';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, catalogFiles, isRemote, REMOTE_CONCURRENCY, withStableFile } from '@nearsky/hats';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import { isThere } from '../../core/base/files.ts';
import { MAX_CATALOG_FILES } from '../../core/contract/limits.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { PoolError } from '../../core/pool/pool_error.ts';
import { threadData } from '../../core/pool/thread_data.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { columnsIn } from '../catalogs/columns.ts';
import { storedPositions } from '../catalogs/stored_positions.ts';
import type { CatalogThreadData } from '../catalogs/thread_data.ts';
import { DECODED_TYPES, decodedColumn, isReadByEngine, type WantedColumn } from './engine_columns.ts';
import { EngineFile } from './engine_file.ts';
import { filesWithin, knownSources, wantedIn } from './known_sources.ts';
import { PickedRows, touches } from './near_rows.ts';
import type { PartRead, PartWanted } from './query_sources.ts';

export interface ReadSourcesTask extends Task<SourcesRead> {
  readonly module: 'src/capabilities/adql/read_sources_task';
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

/** The amount that a query may still read. */
export interface ReadingLeft {
  readonly bytes: number;
  /** The files that were opened, each with its catalog before it. A file counts once, however often it is read. */
  readonly opened: readonly string[];
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
const NUMBER_BYTES = 8;

const knownCatalogs = knownSources();

export const tasks: Tasks<ReadSourcesTask> = { readSources: runReadSources };

async function runReadSources({
  parts,
  directory,
  maxBytes,
  quickBytes,
  ...task
}: ReadSourcesTask): Promise<SourcesRead> {
  let left = task.left;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const read: PartRead[] = [];
    for (const part of parts) {
      const result = await withStableFile(() => readPart(part, directory, left, maxBytes, quickBytes));
      read.push(result.read);
      left = result.left;
    }
    return { outcome: 'read', parts: read, left };
  } catch (error) {
    if (error instanceof TooMuch) return { outcome: 'refused', message: error.message };
    if (error instanceof NotQuick || error instanceof PoolError || isOutOfMemory(error)) return { outcome: 'tooLarge' };
    if (error instanceof ReadFailure || error instanceof CatalogError)
      return { outcome: 'unreadable', message: error.message };
    throw error;
  }
}

/** A file of the catalog, and which of its row groups are needed. */
interface Chosen {
  /** Relative to the catalog's location. */
  readonly name: string;
  readonly file: ParquetFile;
  readonly groups: readonly number[];
  /** The wanted columns as the file spells them. */
  readonly columns: { readonly all: readonly WantedColumn[]; readonly id: WantedColumn & { readonly stored: string } };
}

async function readPart(
  wanted: PartWanted,
  directory: string,
  left: ReadingLeft,
  maxBytes: number,
  quickBytes = Number.POSITIVE_INFINITY,
): Promise<{ readonly read: PartRead; readonly left: ReadingLeft }> {
  const { catalog, digest } = wanted;
  const known = knownCatalogs.of(currentStore()).get(catalog);
  if (!known) throw new TooMuch(`the catalog ${catalog} is not registered here any more`);
  if (known.digest !== digest)
    throw new CatalogError(`the catalog ${catalog} was replaced or described anew since the tables were made`);
  const { registration, table } = known;
  const names = filesWithin(registration, wanted.bounds);
  const opened = new Set(left.opened);
  const keyOf = (file: string) => `${catalog} ${file}`;
  requireFew(registration, wanted, new Set([...opened, ...names.map(keyOf)]).size);
  const { remote } = threadData<CatalogThreadData>().catalogs ?? {};
  const files = await catalogFiles(registration.location, { remote });
  const isFar = isRemote(registration.location);
  for (const { name, type } of wanted.columns)
    if (!table.columns.some(column => column.name === name && column.type === type))
      throw new CatalogError(`the column ${name} of ${catalog} has changed since the tables were made`);
  const columnsOf = (file: ParquetFile) => {
    const [id] = table.columns;
    return {
      all: wantedIn(file, wanted, known),
      id: { name: id!.name, type: id!.type, stored: columnsIn(file, registration.columns).id },
    };
  };
  const open: ParquetFile[] = [];
  const chosen: (Chosen | undefined)[] = new Array(names.length);
  const few = `part${wanted.part}.parquet`;
  // Another host is asked for as few columns as possible: not for the pixels of rows.
  using picked =
    wanted.bounds && !isFar ? new PickedRows(join(directory, few), wanted.columns, wanted.bounds) : undefined;
  let [bytes, rows] = [0, 0];
  try {
    const isEnough = () => wanted.rows !== undefined && rows >= wanted.rows;
    // If any rows will do, files are opened one at a time.
    await eachConcurrently(names, isFar && wanted.rows === undefined ? REMOTE_CONCURRENCY : 1, async (name, i) => {
      if (isEnough()) return;
      if (opened.add(keyOf(name)).size > MAX_CATALOG_FILES) throw tooManyFiles(registration, opened.size);
      const file = await openParquet(await files.open(name));
      const groups: number[] = [];
      open.push(file);
      const columns = columnsOf(file);
      chosen[i] = { name, file, groups, columns };
      for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
        if (rowEnd === rowStart || isEnough() || !touches(file, group, wanted.bounds)) continue;
        groups.push(group);
        rows += rowEnd - rowStart;
        for (const column of columns.all) bytes += bytesOf(file, group, column);
      }
      if (bytes > left.bytes) throw tooManyBytes(wanted, bytes, maxBytes, names.length);
      if (bytes > quickBytes) throw new NotQuick();
    });
    const has = new Set<string>();
    const written: string[] = [];
    const some = chosen.flatMap(each => (each && each.groups.length > 0 ? [each] : []));
    await eachConcurrently(some, isFar ? COPIED_AT_ONCE : 1, async ({ name, file, groups, columns }, i) => {
      if (!isThere(directory)) throw new TooMuch('the query was ended');
      const own = columns.all.flatMap(({ name, type, stored }) => {
        const kind = stored === undefined ? undefined : file.columns.get(stored);
        return stored === undefined || kind === 'null' ? [] : [{ name, type, stored }];
      });
      for (const { name } of own) has.add(name);
      const dense: number[] = [];
      const { location, columns: registered } = registration;
      using positions = picked && storedPositions({ location, columns: registered, file: name }, file);
      for (const group of groups) if (!(await picked?.take(file, group, columns.all, positions))) dense.push(group);
      if (dense.length === 0) return;
      const to = `part${wanted.part}-${i}.parquet`;
      // A file without the columns still has rows.
      const copied = own.length > 0 ? own : [columns.id];
      await copy({ file, groups: dense }, copied, join(directory, to));
      written.push(to);
    });
    if (picked?.end()) written.push(few);
    const read = { part: wanted.part, files: written, columns: [...has] };
    return { read, left: { bytes: left.bytes - bytes, opened: [...opened] } };
  } finally {
    for (const file of open) file.close();
  }
}

/** @param files the number of files that the query reads with this part */
function requireFew(registration: CatalogRegistration, wanted: PartWanted, files: number): void {
  if (wanted.rows !== undefined) return;
  const all = registration.partitions.reduce((sum, { files }) => sum + files.length, 0);
  if (!wanted.bounds && (isRemote(registration.location) || all > MAX_CATALOG_FILES))
    throw new TooMuch(`the query reads all of ${sizeOf(registration)}, which is too much: ${NARROWER}`);
  if (files > MAX_CATALOG_FILES) throw tooManyFiles(registration, files);
}

function tooManyFiles(registration: CatalogRegistration, files: number): TooMuch {
  return new TooMuch(
    `the query reads ${files} files of catalogs, with those of ${sizeOf(registration)}; it may read ${MAX_CATALOG_FILES}: ${NARROWER}`,
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

/** The size of a column of a row group in the file, or the size of its numbers if they are decoded and larger. */
function bytesOf(file: ParquetFile, group: number, { stored, type }: WantedColumn): number {
  const kind = stored === undefined ? undefined : file.columns.get(stored);
  if (stored === undefined || kind === undefined || kind === 'null') return 0;
  const bytes = file.storedBytes(stored, group);
  if (isReadByEngine(file, stored, group, type)) return bytes;
  const { rowStart, rowEnd } = file.rowGroups[group]!;
  return Math.max(bytes, NUMBER_BYTES * (rowEnd - rowStart));
}

/** Copies columns of some row groups to a file. Columns that the engine cannot read are decoded. */
async function copy(
  { file, groups }: Pick<Chosen, 'file' | 'groups'>,
  columns: readonly (WantedColumn & { readonly stored: string })[],
  path: string,
): Promise<void> {
  const elements = new Map(file.elements.map(element => [element.name, element]));
  const areCopied = columns.map(({ stored, type }) => groups.every(group => isReadByEngine(file, stored, group, type)));
  using target = new EngineFile(
    path,
    columns.map(({ name, type }) => ({ name, type: DECODED_TYPES[type], description: '' })),
    columns.map(({ stored }, i) => (areCopied[i] ? elements.get(stored) : undefined)),
  );
  for (const group of groups) {
    const read = columns.map(({ stored, type }, i) =>
      areCopied[i] ? file.storedColumn(stored, group) : decodedColumn(file, stored, group, type),
    );
    for (const _ of target.writer.group(await Promise.all(read))) target.drain();
  }
  target.writer.end();
  target.drain();
}
