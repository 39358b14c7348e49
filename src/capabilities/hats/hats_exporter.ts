/**
 * Exports the archive as HATS catalogs: objects and matches, each with its margin, all from one snapshot. The objects are
 * read twice by ascending id: first their positions, which determine the partitions, then all of them (`RecordFiles`).
 * Threads then write the partitions.
 */

import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { partitionFile } from '@nearsky/hats/layout';
import {
  type ExportFacts,
  type RowsOfPixel,
  type SkyPartitions,
  SkyRows,
  type WrittenCatalog,
  type WrittenPartition,
  writeCatalogFiles,
  writeCollectionFile,
} from '@nearsky/hats/write';
import { isPosition } from '@nearsky/sky-index';
import { messageOf } from '../../core/base/error_text.ts';
import { flush, makeDirectory } from '../../core/base/files.ts';
import { type CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import { Pool } from '../../core/pool/pool.ts';
import { Caller } from '../../core/pool/rpc.ts';
import { readCatalogs } from '../../core/store/catalog_registration.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { countRecords } from '../../core/store/object_tables.ts';
import { partFileOf } from '../../core/store/part_file.ts';
import type { Snapshot } from '../../core/store/snapshot.ts';
import type { Store } from '../../core/store/store.ts';
import { StoreError } from '../../core/store/store_error.ts';
import type { SkyPosition } from '../../core/store/types.ts';
import { changedAfter } from './changed_objects.ts';
import { type MatchesKept, matchColumns, matchRows, objectColumns } from './columns.ts';
import { type HatsRequest, type HatsTask, type PartitionJob, PROGRAM } from './partition_writer.ts';
import { RecordFiles } from './record_files.ts';

const MARGIN_ARCSEC = 10;
/** A text file with one id a line, below the name of their column. */
const REMOVED_FILE = 'removed_objects.csv';
const ID_COLUMN = 'diaObjectId';
const CATALOGS = ['objects', 'matches'] as const;
const NO_BYTES = new Uint8Array(0);
/** The maximum number of threads. More threads would wait for the disk. */
const MAX_THREADS = 8;
/** The HEALPix order of the map, whose pixels are 14 arcmin wide. */
const MAP_ORDER = 8;
/** The maximum number of rows per partition. For the largest partition, a thread needs a hundred MiB or more. */
const DEFAULT_MAX_ROWS = 25_000;

export interface HatsExportOptions {
  readonly dataDir: string;
  /** The store, opened on `dataDir`. */
  readonly store: Store;
  /** The directory to create. It may exist if it is empty. */
  readonly target: string;
  /** Only objects that changed after this journal entry are exported. */
  readonly since?: number;
  /** The journal entry after which the objects are exported; by default the last one. */
  readonly at?: number;
  readonly builder: string;
  readonly threads?: number;
  /** The maximum number of rows per partition. */
  readonly maxRows?: number;
  /** Whether matches of earlier crossmatches have rows; by default the current ones alone. */
  readonly kept?: MatchesKept;
  /** Set to leave out the margins. */
  readonly withoutMargins?: true;
  /**
   * Called from time to time. The rows are the objects whose positions were read, the rows read, and the rows written. The
   * total is undefined while positions are read.
   */
  readonly onProgress: (rows: number, total: number | undefined) => void;
}

export interface HatsExportCounts {
  /** The last journal entry in the export. It is the value of `since` for the next export. */
  readonly sequence: number;
  readonly objects: number;
  readonly matches: number;
  readonly partitions: number;
  /** The number of objects that are in no partition, because they have no position; and the file that contains them. */
  readonly withoutPosition: number;
  readonly withoutPositionFile: string | null;
  /** The number of objects that were removed after `since`, and the file with their ids. */
  readonly removed: number;
  readonly removedFile: string | null;
  readonly bytes: number;
}

/**
 * Writes the catalogs under a temporary name, and renames them when they are complete.
 * @throws StoreError; Error if the export cannot be written. Then nothing exists under the final name
 */
export async function exportHats(options: HatsExportOptions): Promise<HatsExportCounts> {
  const { store, target } = options;
  const cannot = `Cannot export to ${target}`;
  if (isTaken(target)) throw new StoreError(`${cannot} because it exists: choose another directory`);
  const parent = dirname(resolve(target));
  const { path: part, otherPid } = partFileOf(target, store.livePids());
  if (otherPid)
    throw new StoreError(`${cannot} because process ${otherPid} is exporting there: wait until it finishes`);
  const catalogs = new Catalogs(readCatalogs(store.databases)).all;
  try {
    makeDirectory(parent);
    mkdirSync(part);
    const writers = new Writers(options, catalogs);
    const counts = await new Export(options, part, catalogs, writers).run().finally(() => writers.close());
    store.requireUndisturbed();
    flush(part);
    renameSync(part, target);
    flush(parent);
    return counts;
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    store.requireUndisturbed();
    if (error instanceof StoreError) throw error;
    throw new Error(`${cannot}: ${messageOf(error)}`, { cause: error });
  }
}

function isTaken(target: string): boolean {
  const found = statSync(target, { throwIfNoEntry: false });
  return found !== undefined && !(found.isDirectory() && readdirSync(target).length === 0);
}

/** The files to write for a catalog or its margin. */
interface Planned {
  readonly name: string;
  readonly marginOf?: WrittenCatalog['marginOf'];
  readonly catalog: PartitionJob['catalog'];
  readonly partitions: readonly RowsOfPixel[];
}

class Export {
  readonly #options: HatsExportOptions;
  readonly #part: string;
  readonly #catalogs: readonly CatalogDefinition[];
  readonly #writers: Writers;
  readonly #matches: number[] = [];
  readonly #sky = new SkyRows(MARGIN_ARCSEC);
  /** The numbers of objects without a position, and of their matches. They are in no partition. */
  readonly #aside: Record<PartitionJob['catalog'], number> = { objects: 0, matches: 0 };
  /** The file with the objects of each partition, and the number of their rows. */
  readonly #records = new Map<RowsOfPixel, Pick<PartitionJob, 'records' | 'rows'>>();
  /** The ids that were removed and not stored anew. */
  readonly #removed = new Set<bigint>();
  #rowsDone = 0;
  #rowsPlanned: number | undefined;

  constructor(options: HatsExportOptions, part: string, catalogs: readonly CatalogDefinition[], writers: Writers) {
    this.#options = options;
    this.#part = part;
    this.#catalogs = catalogs;
    this.#writers = writers;
  }

  get #kept(): MatchesKept {
    return this.#options.kept ?? 'current';
  }

  async run(): Promise<HatsExportCounts> {
    const { store, since, at, builder, maxRows = DEFAULT_MAX_ROWS } = this.#options;
    const one = () => 1;
    const matchesOf = (row: number) => this.#matches[row]!;
    const snapshot = store.snapshot(at);
    const last = snapshot.lastSequence();
    const sequence = at ?? last;
    // An earlier state is exported with the same bytes each time.
    let created = new Date();
    let planned: readonly Planned[];
    try {
      snapshot.requireJournal(last);
      if (at !== undefined) created = new Date(Math.floor(snapshot.latestIngestTimeUs(at) / 1000));
      const changes = since === undefined ? undefined : changedAfter(store, since, sequence, Infinity)!;
      for (const id of changes?.removed ?? []) this.#removed.add(id);
      this.#read(snapshot, changes?.changed);
      planned = this.#plan(this.#sky.partitions(maxRows, one), this.#sky.partitions(maxRows, matchesOf));
      this.#copyRecords(snapshot, changes?.changed, planned);
    } finally {
      snapshot.close();
    }
    const further = {
      nearsky_journal_entry: sequence,
      ...(since !== undefined && { nearsky_since_journal_entry: since }),
    };
    const facts: ExportFacts = { program: PROGRAM, builder, created, further };
    let bytes = 0;
    for (const plan of planned) {
      const isMargin = plan.marginOf !== undefined;
      // In a small export there may be no row near an edge. A margin without rows would not be a valid catalog.
      if (isMargin && plan.partitions.length === 0) continue;
      const collection = join(this.#part, plan.catalog);
      const directory = join(collection, plan.name);
      const partitions = await this.#write(directory, plan);
      bytes += partitions.reduce((sum, each) => sum + each.bytes, 0);
      const weight = plan.catalog === 'objects' ? one : matchesOf;
      const map = isMargin ? undefined : { order: MAP_ORDER, counts: this.#sky.counts(MAP_ORDER, weight) };
      const columns =
        plan.catalog === 'objects' ? objectColumns(this.#catalogs) : matchColumns(this.#catalogs, this.#kept).columns;
      writeCatalogFiles(directory, { ...plan, columns, ra: 'ra', dec: 'dec', partitions, maxRows, map }, facts);
      const hasMargin = planned.some(
        ({ marginOf, partitions }) => marginOf?.name === plan.catalog && partitions.length > 0,
      );
      writeCollectionFile(collection, plan.catalog, hasMargin ? marginName(plan.catalog) : undefined);
    }
    const withoutPositionFile = await this.#writeAside();
    rmSync(this.#recordsDirectory, { recursive: true });
    return {
      sequence,
      objects: this.#sky.length + this.#aside.objects,
      matches: this.#matches.reduce((sum, count) => sum + count, this.#aside.matches),
      partitions: planned.reduce((sum, { marginOf, partitions }) => sum + (marginOf ? 0 : partitions.length), 0),
      withoutPosition: this.#aside.objects,
      withoutPositionFile,
      removed: this.#removed.size,
      removedFile: this.#writeRemoved(),
      bytes,
    };
  }

  #read(snapshot: Snapshot, changed: ReadonlySet<bigint> | undefined): void {
    for (const object of snapshot.objects()) {
      const { diaObjectId } = object;
      this.#removed.delete(diaObjectId);
      this.#progress(1);
      if (changed && !changed.has(diaObjectId)) continue;
      const matches = matchRows(object, this.#kept);
      const place = placeOf(object);
      if (place) {
        this.#matches.push(matches);
        this.#sky.add(place.ra, place.dec);
      } else {
        this.#aside.objects++;
        this.#aside.matches += matches;
      }
    }
  }

  #plan(objects: SkyPartitions, matches: SkyPartitions): readonly Planned[] {
    return Object.entries({ objects, matches }).flatMap(([name, { partitions, margins }]) => {
      const catalog = name as PartitionJob['catalog'];
      const marginOf = { name, arcsec: MARGIN_ARCSEC };
      return [
        { name, catalog, partitions },
        { name: marginName(name), marginOf, catalog, partitions: this.#options.withoutMargins ? [] : margins },
      ];
    });
  }

  /** Copies the objects into one file for each file to write; see `RecordFiles`. */
  #copyRecords(snapshot: Snapshot, changed: ReadonlySet<bigint> | undefined, planned: readonly Planned[]): void {
    mkdirSync(this.#recordsDirectory);
    const jobs = planned.flatMap(({ catalog, partitions }) => partitions.map(partition => ({ catalog, partition })));
    let rows = 0;
    for (const { catalog, partition } of jobs) {
      const ofPartition = this.#rowsOf(catalog, partition);
      this.#records.set(partition, { records: this.#recordsPath(this.#records.size), rows: ofPartition });
      rows += ofPartition;
    }
    this.#rowsPlanned = this.#rowsDone + 2 * rows;
    const asides = CATALOGS.map(catalog => this.#recordsPath(catalog));
    const files = new RecordFiles([...Array.from(this.#records.values(), ({ records }) => records), ...asides]);
    const filesOf = filesByRow(
      this.#sky.length,
      jobs.map(({ partition }) => partition.rows),
    );
    let row = 0;
    for (const object of snapshot.objects()) {
      if (changed && !changed.has(object.diaObjectId)) continue;
      const sources = snapshot.sourceBytesOf(object);
      if (placeOf(object)) {
        const matches = this.#matches[row]!;
        for (const file of filesOf(row++)) {
          const isOfObjects = jobs[file]!.catalog === 'objects';
          files.add(file, object, isOfObjects ? NO_BYTES : sources);
          this.#progress(isOfObjects ? 1 : matches);
        }
      } else {
        files.add(jobs.length, object, NO_BYTES);
        if (matchRows(object, this.#kept) > 0) files.add(jobs.length + 1, object, sources);
      }
    }
    files.close();
  }

  get #recordsDirectory(): string {
    return join(this.#part, 'records');
  }

  #recordsPath(name: string | number): string {
    return join(this.#recordsDirectory, `${name}`);
  }

  #rowsOf(catalog: PartitionJob['catalog'], { rows }: RowsOfPixel): number {
    if (catalog === 'objects') return rows.length;
    let sum = 0;
    for (const row of rows) sum += this.#matches[row]!;
    return sum;
  }

  #write(directory: string, { catalog, partitions }: Planned): Promise<WrittenPartition[]> {
    return Promise.all(
      partitions.map(async partition => {
        const { order, ipix } = partition;
        const { records, rows } = this.#records.get(partition)!;
        const path = join(directory, partitionFile(partition));
        const bytes = await this.#writers.write({ catalog, path, records, rows });
        this.#progress(rows);
        return { order, ipix, rows, bytes };
      }),
    );
  }

  #progress(rows: number): void {
    this.#rowsDone += rows;
    this.#options.onProgress(this.#rowsDone, this.#rowsPlanned);
  }

  /** Writes the objects without a position, and their matches. Returns the name of the file with the objects. */
  async #writeAside(): Promise<string | null> {
    const name = (catalog: string) => `${catalog}_without_position.parquet`;
    for (const catalog of CATALOGS) {
      const rows = this.#aside[catalog];
      const [path, records] = [join(this.#part, name(catalog)), this.#recordsPath(catalog)];
      if (rows > 0) await this.#writers.write({ catalog, path, records, rows });
    }
    return this.#aside.objects > 0 ? name('objects') : null;
  }

  /** Writes the ids of the removed objects. Returns the name of the file. */
  #writeRemoved(): string | null {
    if (this.#removed.size === 0) return null;
    const path = join(this.#part, REMOVED_FILE);
    writeFileSync(path, `${[ID_COLUMN, ...this.#removed].join('\n')}\n`, { flush: true });
    return REMOVED_FILE;
  }
}

const marginName = (catalog: string) => `${catalog}_${MARGIN_ARCSEC}arcs`;

/** null if the object is in no partition. */
function placeOf({ position }: ObjectView): SkyPosition | null {
  return position && isPosition(position.ra, position.dec) ? position : null;
}

/** @returns a function that returns the files of a row, as indices into `rowsOfFiles` */
function filesByRow(rows: number, rowsOfFiles: readonly Uint32Array[]): (row: number) => Uint32Array {
  const starts = new Uint32Array(rows + 1);
  for (const each of rowsOfFiles) for (const row of each) starts[row + 1]!++;
  for (let row = 0; row < rows; row++) starts[row + 1]! += starts[row]!;
  const files = new Uint32Array(starts[rows]!);
  const next = starts.slice();
  for (const [file, each] of rowsOfFiles.entries()) for (const row of each) files[next[row]!++] = file;
  return row => files.subarray(starts[row], starts[row + 1]);
}

/** One for each full partition: a thread takes longer to start than to write a small one. */
const threadsFor = ({ databases }: Store) =>
  Math.min(MAX_THREADS, availableParallelism(), Math.max(1, Math.ceil(countRecords(databases) / DEFAULT_MAX_ROWS)));

type Link = Caller<HatsRequest>;

/** The threads that write. Each writes one file at a time. */
class Writers {
  readonly #pool: Pool;
  readonly #ports: MessagePort[] = [];
  readonly #links: Link[] = [];
  readonly #ended: Promise<unknown>[] = [];
  readonly #idle: Link[] = [];
  readonly #waiting: ((link: Link) => void)[] = [];

  constructor(
    { dataDir, store, kept = 'current', threads = threadsFor(store) }: HatsExportOptions,
    catalogs: readonly CatalogDefinition[],
  ) {
    this.#pool = new Pool({ threads });
    for (let i = 0; i < threads; i++) {
      const { port1, port2 } = new MessageChannel();
      const link = Caller.over<HatsRequest>(port1);
      this.#ports.push(port1);
      const task: HatsTask = {
        module: 'src/capabilities/hats/partition_writer',
        kind: 'hats',
        dataDir,
        catalogs,
        kept,
        link: port2,
      };
      const ended = this.#pool.run(task, { transferList: [port2], timeoutMs: Number.POSITIVE_INFINITY });
      ended.catch(error => link.end(error));
      this.#links.push(link);
      this.#ended.push(ended.catch(() => {}));
    }
    this.#idle.push(...this.#links);
  }

  /** @returns the size of the file, bytes */
  async write(job: PartitionJob): Promise<number> {
    const link = this.#idle.pop() ?? (await new Promise<Link>(resolve => this.#waiting.push(resolve)));
    try {
      return await link.ask<number>({ kind: 'write', job });
    } finally {
      const next = this.#waiting.shift();
      if (next) next(link);
      else this.#idle.push(link);
    }
  }

  /** Threads end their current file, but write no further ones. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    for (const link of this.#links) link.ask({ kind: 'done' }).catch(() => {});
    await Promise.all(this.#ended);
    for (const port of this.#ports) port.close();
    await this.#pool.close();
  }
}
