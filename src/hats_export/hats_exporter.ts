/** Exports the archive as HATS catalogs: objects and matches, each with its margin, all from one snapshot. */

import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { partitionFile } from '@nearsky/hats/layout';
import {
  type ExportFacts,
  type RowsOfPixel,
  SkyRows,
  type WrittenCatalog,
  type WrittenPartition,
  writeCatalogFiles,
  writeCollectionFile,
} from '@nearsky/hats/write';
import { isPosition } from '@nearsky/sky-index';
import { messageOf } from '../base/error_text.ts';
import { flush, makeDirectory } from '../base/files.ts';
import { programModule } from '../base/program_files.ts';
import { type CatalogDefinition, Catalogs } from '../contract/catalogs.ts';
import { Pool } from '../pool/pool.ts';
import { Caller } from '../pool/rpc.ts';
import { partOf } from '../store/parts.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import { changedAfter } from './changed_objects.ts';
import { matchColumns, objectColumns } from './columns.ts';
import { type HatsRequest, type HatsTask, type PartitionJob, PROGRAM } from './writer_thread.ts';

const MARGIN_ARCSEC = 10;
/** A text file with one id a line, below the name of their column. */
const REMOVED_FILE = 'removed_objects.csv';
const ID_COLUMN = 'diaObjectId';
/** The maximum number of threads. More threads would wait for the disk. */
const MAX_THREADS = 8;
/** The HEALPix order of the map, whose pixels are 14 arcmin wide. */
const MAP_ORDER = 8;
/** The maximum number of rows per partition. For the largest partition, a thread needs a hundred MiB or more. */
const DEFAULT_MAX_ROWS = 25_000;
/**
 * The maximum number of attempts to open the same state in all threads. An attempt only fails if a commit happens
 * during it.
 */
const OPEN_TRIES = 1000;

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
  /** Called from time to time, with the number of rows written so far and the total. */
  readonly onProgress: (rows: number, total: number) => void;
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
  const { path: part, otherPid } = partOf(target, store.livePids());
  if (otherPid)
    throw new StoreError(`${cannot} because process ${otherPid} is exporting there: wait until it finishes`);
  const catalogs = new Catalogs(store.catalogs()).all;
  const writers = new Writers(options, catalogs);
  try {
    makeDirectory(parent);
    mkdirSync(part);
    const counts = await new Export(options, part, catalogs, writers).run();
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
  } finally {
    await writers.close();
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
  #ids = new BigInt64Array(1024);
  readonly #matches: number[] = [];
  readonly #sky = new SkyRows(MARGIN_ARCSEC);
  /** The objects without a position: their ids, and their numbers of matches. */
  readonly #aside: { readonly id: bigint; readonly matches: number }[] = [];
  /** The ids that were removed and not stored anew. */
  readonly #removed = new Set<bigint>();
  #rowsWritten = 0;
  #rowsPlanned = 0;

  constructor(options: HatsExportOptions, part: string, catalogs: readonly CatalogDefinition[], writers: Writers) {
    this.#options = options;
    this.#part = part;
    this.#catalogs = catalogs;
    this.#writers = writers;
  }

  async run(): Promise<HatsExportCounts> {
    const { store, since, at, builder, maxRows = DEFAULT_MAX_ROWS } = this.#options;
    const snapshot = await this.#writers.open(store, at);
    const last = snapshot.lastSequence();
    const sequence = at ?? last;
    // An earlier state is exported with the same bytes each time.
    let created = new Date();
    try {
      snapshot.requireJournal(last);
      if (at !== undefined) created = new Date(Math.floor(snapshot.latestIngestTimeUs(at) / 1000));
      const changes = since === undefined ? undefined : changedAfter(store, since, sequence, Infinity)!;
      for (const id of changes?.removed ?? []) this.#removed.add(id);
      this.#read(snapshot, changes?.changed);
    } finally {
      snapshot.close();
    }
    const further = {
      nearsky_journal_entry: sequence,
      ...(since !== undefined && { nearsky_since_journal_entry: since }),
    };
    const facts: ExportFacts = { program: PROGRAM, builder, created, further };
    const one = () => 1;
    const objects = this.#sky.partitions(maxRows, one);
    const matchesOf = (row: number) => this.#matches[row]!;
    const matches = this.#sky.partitions(maxRows, matchesOf);
    const margin = (name: string) => `${name}_${MARGIN_ARCSEC}arcs`;
    const marginOf = (name: string) => ({ name, arcsec: MARGIN_ARCSEC });
    const planned: Planned[] = [
      { name: 'objects', catalog: 'objects', partitions: objects.partitions },
      { name: margin('objects'), marginOf: marginOf('objects'), catalog: 'objects', partitions: objects.margins },
      { name: 'matches', catalog: 'matches', partitions: matches.partitions },
      { name: margin('matches'), marginOf: marginOf('matches'), catalog: 'matches', partitions: matches.margins },
    ];
    for (const plan of planned)
      for (const partition of plan.partitions) this.#rowsPlanned += this.#rowsOf(plan.catalog, partition);
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
      const columns = plan.catalog === 'objects' ? objectColumns(this.#catalogs) : matchColumns(this.#catalogs).columns;
      writeCatalogFiles(directory, { ...plan, columns, ra: 'ra', dec: 'dec', partitions, maxRows, map }, facts);
      const hasMargin = planned.some(
        ({ marginOf, partitions }) => marginOf?.name === plan.catalog && partitions.length > 0,
      );
      writeCollectionFile(collection, plan.catalog, hasMargin ? margin(plan.catalog) : undefined);
    }
    const withoutPositionFile = await this.#writeAside();
    return {
      sequence,
      objects: this.#sky.length + this.#aside.length,
      matches: [...this.#matches, ...this.#aside.map(({ matches }) => matches)].reduce((sum, count) => sum + count, 0),
      partitions: objects.partitions.length + matches.partitions.length,
      withoutPosition: this.#aside.length,
      withoutPositionFile,
      removed: this.#removed.size,
      removedFile: this.#writeRemoved(),
      bytes,
    };
  }

  #read(snapshot: Snapshot, changed: ReadonlySet<bigint> | undefined): void {
    for (const { object } of snapshot.objects()) {
      const { diaObjectId } = object;
      this.#removed.delete(diaObjectId);
      if (changed && !changed.has(diaObjectId)) continue;
      const matches = object.hasMatches ? object.matches().length : 0;
      const { position } = object;
      if (!position || !isPosition(position.ra, position.dec)) {
        this.#aside.push({ id: diaObjectId, matches });
        continue;
      }
      const row = this.#matches.push(matches) - 1;
      if (row === this.#ids.length) {
        const ids = new BigInt64Array(2 * row);
        ids.set(this.#ids);
        this.#ids = ids;
      }
      this.#ids[row] = diaObjectId;
      this.#sky.add(position.ra, position.dec);
    }
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
        const rows = this.#rowsOf(catalog, partition);
        const bytes = await this.#writers.write(() => {
          const ids = BigInt64Array.from(partition.rows, row => this.#ids[row]!);
          return { catalog, path: join(directory, partitionFile(partition)), ids, rows };
        });
        this.#rowsWritten += rows;
        this.#options.onProgress(this.#rowsWritten, this.#rowsPlanned);
        return { order, ipix, rows, bytes };
      }),
    );
  }

  /** Writes the ids of the removed objects. Returns the name of the file. */
  #writeRemoved(): string | null {
    if (this.#removed.size === 0) return null;
    const path = join(this.#part, REMOVED_FILE);
    writeFileSync(path, `${[ID_COLUMN, ...this.#removed].join('\n')}\n`, { flush: true });
    return REMOVED_FILE;
  }

  /** Writes the objects without a position, and their matches. Returns the name of the file with the objects. */
  async #writeAside(): Promise<string | null> {
    if (this.#aside.length === 0) return null;
    const name = (catalog: string) => `${catalog}_without_position.parquet`;
    const put = (catalog: PartitionJob['catalog'], rows: number) => {
      const ids = BigInt64Array.from(this.#aside, ({ id }) => id);
      return this.#writers.write(() => ({ catalog, path: join(this.#part, name(catalog)), ids, rows }));
    };
    await put('objects', this.#aside.length);
    const matches = this.#aside.reduce((sum, each) => sum + each.matches, 0);
    if (matches > 0) await put('matches', matches);
    return name('objects');
  }
}

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
    { dataDir, threads = Math.min(MAX_THREADS, availableParallelism()) }: HatsExportOptions,
    catalogs: readonly CatalogDefinition[],
  ) {
    this.#pool = new Pool({ threads, entry: programModule('workers/hats_writer') });
    for (let i = 0; i < threads; i++) {
      const { port1, port2 } = new MessageChannel();
      const link = Caller.over<HatsRequest>(port1);
      this.#ports.push(port1);
      const task: HatsTask = { kind: 'hats', dataDir, catalogs, link: port2 };
      const ended = this.#pool.run(task, { transferList: [port2], timeoutMs: Number.POSITIVE_INFINITY });
      ended.catch(error => link.end(error));
      this.#links.push(link);
      this.#ended.push(ended.catch(() => {}));
    }
    this.#idle.push(...this.#links);
  }

  /** Makes this thread and all others see the same state of the database. For `at`, see `Store.snapshot`. */
  async open(store: Store, at: number | undefined): Promise<Snapshot> {
    for (let tries = 0; tries < OPEN_TRIES; tries++) {
      const snapshot = store.snapshot(at);
      const sequence = snapshot.lastSequence();
      const opened = await Promise.all(this.#links.map(link => link.ask<number>({ kind: 'open', at })));
      if (opened.every(seen => seen === sequence)) return snapshot;
      snapshot.close();
    }
    throw new Error('the database changes too fast for several threads to read the same state: try again');
  }

  /** @returns the size of the file, bytes */
  async write(job: () => PartitionJob): Promise<number> {
    const link = this.#idle.pop() ?? (await new Promise<Link>(resolve => this.#waiting.push(resolve)));
    try {
      return await link.ask<number>({ kind: 'write', job: job() });
    } finally {
      const next = this.#waiting.shift();
      if (next) next(link);
      else this.#idle.push(link);
    }
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.ask({ kind: 'done' }).catch(() => {});
    await Promise.all(this.#ended);
    for (const port of this.#ports) port.close();
    await this.#pool.close();
  }
}
