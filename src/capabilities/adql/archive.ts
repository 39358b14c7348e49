/**
 * The archive as tables for the engine, in editions: see `edition.ts`. The first one is made of an export, by a
 * process of its own (`maker.ts`). After that the tables follow the journal. Generations of earlier states are made
 * of exports, too, and never change. Each engine has its own directory, named by its process; the next engine takes over
 * the directory of one that has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { discard, makeDirectory } from '../../core/base/files.ts';
import { isAlive } from '../../core/base/processes.ts';
import { processProgram, withoutEngineFlags } from '../../core/base/runtime.ts';
import { Catalogs, type DescribedRegistration, isSameDefinition } from '../../core/contract/catalogs.ts';
import { RESERVE_BYTES, requireSpace } from '../../core/store/disk_space.ts';
import { whyNotInHistory } from '../../core/store/history.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import type { Store } from '../../core/store/store.ts';
import { changedAfter } from '../hats/changed_objects.ts';
import { unboundedCommand } from '../uploads/bounded_command.ts';
import { BESIDE_FILE, Beside } from './beside.ts';
import { changedRows } from './changed_rows.ts';
import { EarlierStates, type Requester } from './earlier_states.ts';
import { Edition, type NewEdition, type Origin, removeDatabase } from './edition.ts';
import { reportFailure } from './engine_errors.ts';
import type { ListedTable } from './listed_table.ts';
import type { MakeMessage, MakeRequest } from './maker.ts';
import { keyOf, originOf } from './origin.ts';

/** The share of changed objects above which the rows are sorted again. */
const MAX_CHANGED = 0.1;
/**
 * If more objects have changed than this number, and than this share of all, everything is exported again, because that
 * takes less time.
 */
const MAX_FOLLOWED = 20_000;
const MAX_FOLLOWED_SHARE = 0.5;
/** If rows were to be sorted in more pieces than this, everything is exported again. Each piece reads all rows. */
const MAX_PIECES = 16;
/** With more changed objects than this, their ids do not fit into the memory of the process. */
const MAX_FOLLOWED_IDS = 300_000;
/** Making editions takes at most this fraction of the time; so does making tables of earlier states. */
const MAKING_FACTOR = 5;
/** Making tables takes at most this many times the disk space of the present ones: an export, and the tables. */
const MADE_SHARE = 3;
/**
 * The share of the engine's memory for indexes of ids, which are kept in memory completely; and the maximum memory per
 * indexed row.
 */
const INDEX_SHARE = 1 / 8;
const INDEX_ROW_BYTES = 10;
/** The number of rows with all columns that one MiB of the engine's memory can sort while queries run. */
const SORTED_PER_MIB = 256;

export interface ArchiveOptions {
  /** The engine's memory. */
  readonly memoryMib: number;
  /** The engine's threads. */
  readonly threads: number;
  /** The number of changes below which rows are not put in order again, whatever their share. */
  readonly mergeAfter: number;
  /** The maximum number of earlier states whose tables are kept. */
  readonly earlierStates: number;
}

export class Archive {
  readonly #dataDir: string;
  readonly #store: Store;
  readonly #directory: string;
  /** One connection follows the journal, the other makes editions. */
  readonly #following: DuckDBConnection;
  readonly #making: DuckDBConnection;
  readonly #limits: Pick<MakeRequest, 'memoryMib' | 'threads'>;
  readonly #maxIndexed: number;
  readonly #maxSorted: number;
  readonly #mergeAfter: number;
  #current: Edition | undefined;
  /** The edition that is to replace the current one. */
  #next: Edition | undefined;
  /** An edition that must be replaced, because too many rows have changed, or the columns of a catalog. */
  #left: Edition | undefined;
  /** The tables that the catalogs need. */
  readonly #origins = new RegisteredCatalogs(originOf);
  /** Generations that were replaced. */
  readonly #replaced = new Set<Edition>();
  /** The tables that all editions share. */
  #beside: Beside | undefined;
  /** The tables of earlier states. Do not request any before the present tables exist. */
  readonly earlier: EarlierStates;
  #lastNumber = 0;
  #isMaking = false;
  /** When the next edition of the present state, or of an earlier one, may be made, as `performance.now()`. */
  readonly #presentTurn = { atMs: 0 };
  readonly #earlierTurn = { atMs: 0 };
  #child: ChildProcess | undefined;
  #progress: string | undefined;

  private constructor(
    dataDir: string,
    store: Store,
    connections: readonly [DuckDBConnection, DuckDBConnection],
    { memoryMib, threads, mergeAfter, earlierStates }: ArchiveOptions,
  ) {
    this.#limits = { memoryMib, threads };
    this.#mergeAfter = mergeAfter;
    this.earlier = new EarlierStates({
      maxKept: earlierStates,
      make: (at, replace) => this.#makeEarlier(at, replace),
      drop: edition => this.#replaced.add(edition),
    });
    this.#maxSorted = memoryMib * SORTED_PER_MIB;
    this.#maxIndexed = (memoryMib * 2 ** 20 * INDEX_SHARE) / INDEX_ROW_BYTES;
    this.#dataDir = dataDir;
    this.#store = store;
    this.#directory = ownDirectory(join(dataDir, 'tap'));
    [this.#following, this.#making] = connections;
  }

  static async open(
    dataDir: string,
    store: Store,
    instance: DuckDBInstance,
    options: ArchiveOptions,
  ): Promise<Archive> {
    const connections = [await instance.connect(), await instance.connect()] as const;
    const archive = new Archive(dataDir, store, connections, options);
    await archive.#openStored(options.earlierStates);
    archive.#beside = await Beside.open(store, connections[0], join(archive.#directory, BESIDE_FILE));
    return archive;
  }

  get directory(): string {
    return this.#directory;
  }

  /** The edition that queries read; undefined until the first one is made. */
  get current(): Edition | undefined {
    return this.#current;
  }

  /** The tables that all editions share, for a query that reads one of them. */
  besideTables({ contents: { sequence } }: Edition): ListedTable[] {
    return this.#beside!.tables(sequence);
  }

  /** The seconds until tables may be made again; undefined if the last attempt did not fail. */
  get retrySeconds(): number | undefined {
    const seconds = (this.#presentTurn.atMs - performance.now()) / 1000;
    return this.#current || seconds <= 0 ? undefined : Math.ceil(seconds);
  }

  /** The progress of an export, such as 12%; undefined while it is not known. */
  get progress(): string | undefined {
    return this.#progress;
  }

  /** Opens the newest edition of this archive, and those of earlier states, and removes everything else. */
  async #openStored(maxEarlier: number): Promise<void> {
    const found = new Map<number, string>();
    const earlier: Edition[] = [];
    for (const name of readdirSync(this.#directory)) {
      const number = Number(GENERATION.exec(name)?.[1] ?? 0);
      if (number > 0) found.set(number, name);
      else if (!name.endsWith('.wal') && name !== BESIDE_FILE)
        rmSync(join(this.#directory, name), { recursive: true, force: true });
    }
    for (const [number, name] of [...found].sort(([a], [b]) => b - a)) {
      this.#lastNumber = Math.max(this.#lastNumber, number);
      const made = { connection: this.#following, number, file: join(this.#directory, name) };
      const isEarlier = name.startsWith(EARLIER);
      const isWanted = isEarlier ? earlier.length < maxEarlier : !this.#current;
      const stored = isWanted ? await Edition.open(made).catch(unlessLocked) : undefined;
      if (!stored || !this.#isOurs(stored)) await removeDatabase(this.#following, number, made.file);
      else if (isEarlier) earlier.unshift(stored);
      else this.#current = stored;
    }
    for (const each of earlier) this.earlier.keep(each);
  }

  /** Whether an edition has the tables of this release, and the rows of this database's journal. */
  #isOurs({ contents: { key, mark, sequence }, catalogs }: Edition): boolean {
    return key === keyOf(catalogs) && mark === this.#store.journalMark(sequence);
  }

  /**
   * Brings the tables to the archive's present state. If new columns or sorted rows are needed, a new edition is
   * made meanwhile.
   * @returns the number of changed objects
   */
  async refresh(): Promise<number> {
    const origin = this.#readOrigin();
    // A damaged registry must not keep the other tables from being made.
    await this.#beside!.follow().catch(reportFailure);
    // Objects that were removed from the history, too, must not stay in tables.
    this.earlier.removeWhere(at => whyNotInHistory(this.#store.databases, at));
    for (const each of this.#replaced)
      if (!each.isUsed) {
        await each.remove(this.#following);
        this.#replaced.delete(each);
      }
    if (!this.#current) {
      this.#current = await this.#alone(this.#presentTurn, () => this.#make());
      if (this.#current) this.#presentTurn.atMs = 0;
      return 0;
    }
    const ofNext = this.#next ? await this.#replaceBy(this.#next) : 0;
    const current = this.#current;
    const ofCurrent = current === this.#left ? undefined : await this.#follow(current);
    const isFollowed = ofCurrent !== undefined;
    if (!isFollowed) this.#left = current;
    const { objects, changed, key } = current.contents;
    const isNew = key !== origin.key;
    if (!isFollowed || (isNew && !this.#hasColumnsOf(current, origin.registered))) this.#makeAside(() => this.#make());
    else if (isNew || changed > Math.max(this.#mergeAfter, MAX_CHANGED * objects))
      this.#makeAside(() =>
        objects > MAX_PIECES * this.#maxSorted
          ? this.#make()
          : current.merged(this.#newGeneration(), origin, this.#maxSorted),
      );
    this.earlier.next();
    return ofNext + (ofCurrent ?? 0);
  }

  /** The present tables. They are the same ones as before if no catalog was registered meanwhile. */
  #readOrigin(): Origin {
    this.#store.resetRead();
    return this.#origins.of(this.#store);
  }

  /** Whether an edition differs at most in the set of registered built-in catalogs. */
  #hasColumnsOf({ catalogs, contents: { key } }: Edition, registered: readonly DescribedRegistration[]): boolean {
    const [before, after] = [catalogs, new Catalogs(registered)].map(({ all }) => JSON.stringify(all));
    return before === after && key === keyOf(catalogs);
  }

  /**
   * Replaces the current edition, unless the next one has an earlier state and cannot be brought up to date.
   * @returns the number of changed objects
   */
  async #replaceBy(next: Edition): Promise<number> {
    this.#next = undefined;
    this.#replaced.add(next);
    const followed = await this.#follow(next);
    const current = this.#current!;
    if (next.contents.sequence >= current.contents.sequence) {
      this.#replaced.delete(next);
      this.#replaced.add(current);
      this.#current = next;
    }
    return followed ?? 0;
  }

  /**
   * @returns the number of changed objects; undefined, without any change, if there are too many, or a catalog has other
   * columns
   */
  async #follow(edition: Edition): Promise<number | undefined> {
    const { contents } = edition;
    const asOfMs = Date.now();
    const snapshot = this.#store.snapshot();
    try {
      const { key, registered } = this.#origins.of(snapshot);
      if (key !== contents.key && isDescribedAnew(edition.catalogs, new Catalogs(registered))) return undefined;
      const sequence = snapshot.lastSequence();
      if (sequence === contents.sequence) {
        edition.seen(asOfMs);
        return 0;
      }
      const share = Math.min(MAX_FOLLOWED_IDS, MAX_FOLLOWED_SHARE * contents.objects);
      const objects = changedAfter(this.#store, contents.sequence, sequence, Math.max(MAX_FOLLOWED, share));
      if (!objects) return undefined;
      const catalogs = edition.catalogs.all;
      // A failed commit, or one whose process was killed, may still have stored objects.
      const added = edition.isCertain ? objects.added : NONE;
      const rows = changedRows(this.#store, snapshot, { ...objects, added }, catalogs);
      const mark = this.#store.markOf(sequence);
      const next = { ...contents, mark, sequence, asOfMs, changed: contents.changed + objects.changed.size };
      await edition.take(this.#following, rows, objects.removed, next);
      return objects.changed.size;
    } finally {
      snapshot.close();
    }
  }

  /** @param isEarlier whether it holds an earlier state. Such an edition has no index, to save memory */
  #newGeneration(isEarlier = false): NewEdition {
    const number = ++this.#lastNumber;
    const name = `${isEarlier ? EARLIER : PRESENT}-${number}.duckdb`;
    return {
      connection: this.#making,
      number,
      file: join(this.#directory, name),
      maxIndexed: isEarlier ? 0 : this.#maxIndexed,
    };
  }

  /** Starts to make an edition in the background, unless one is being made, or was made recently. */
  #makeAside(make: () => Promise<Edition>): void {
    this.#alone(this.#presentTurn, async () => {
      this.#next = await make();
    })?.catch(reportFailure);
  }

  /** Makes an edition, unless one is being made, or one of this kind was made recently. */
  #alone<T>(turn: { atMs: number }, make: () => Promise<T>): Promise<T> | undefined {
    const beganMs = performance.now();
    if (this.#isMaking || beganMs < turn.atMs) return undefined;
    this.#isMaking = true;
    return make().finally(() => {
      const nowMs = performance.now();
      turn.atMs = nowMs + MAKING_FACTOR * (nowMs - beganMs);
      this.#isMaking = false;
    });
  }

  /** The edition of the state after an earlier journal entry; see `EarlierStates.get`. */
  earlierOf(at: number, requester: Requester): Edition | undefined {
    return this.earlier.get(at, this.#readOrigin().key, requester);
  }

  /**
   * Makes tables, also soon after others, unless they replace some: only repeated replacing would take much of the time.
   * @param replace removes other tables; undefined if there is room
   */
  #makeEarlier(at: number, replace: (() => void) | undefined): Promise<Edition> | undefined {
    return this.#alone(replace ? this.#earlierTurn : { atMs: 0 }, async () => {
      // Later data needs disk space, too.
      const bytes = RESERVE_BYTES + MADE_SHARE * this.#current!.bytes;
      requireSpace(`make the tables of journal entry ${at}`, this.#directory, bytes);
      replace?.();
      return await this.#make(at);
    });
  }

  /** Makes an edition from a complete export, by default of the present state. */
  async #make(at?: number): Promise<Edition> {
    const made = this.#newGeneration(at !== undefined);
    // The database is made there, too: so a process that was killed leaves no file that looks like an edition.
    const directory = join(this.#directory, `new-${process.pid}`);
    const file = join(directory, 'tables.duckdb');
    const { number, maxIndexed } = made;
    const request = { dataDir: this.#dataDir, directory, file, number, maxIndexed, ...this.#limits };
    try {
      rmSync(directory, { recursive: true, force: true });
      await this.#runMaker({ ...request, ...(at !== undefined && { at }) });
      renameSync(file, made.file);
      return (await Edition.open(made))!;
    } catch (error) {
      await removeDatabase(this.#making, number, made.file);
      throw error;
    } finally {
      discard(directory);
    }
  }

  async #runMaker(request: MakeRequest): Promise<void> {
    const [command, ...args] = unboundedCommand(processProgram('src/capabilities/adql/maker', this.#dataDir));
    const child = spawn(command!, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // The heap of this process is small; the export needs more for many objects.
      env: withoutEngineFlags(process.env),
    });
    this.#child = child;
    let last: MakeMessage | undefined;
    child.on('message', (message: MakeMessage) => {
      last = message;
      if ('progress' in message) this.#progress = `${message.progress}%`;
    });
    try {
      const end = await new Promise((resolve, reject) => {
        child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code));
        child.send(request);
      });
      if (last && 'isMade' in last) return;
      throw new Error(
        `the tables were not made: ${last && 'error' in last ? last.error : `the process ended with ${end}`}`,
      );
    } finally {
      this.#child = undefined;
      this.#progress = undefined;
    }
  }

  /** Whether tables are being made, or queries wait for them to be made. */
  get isBusy(): boolean {
    return this.#isMaking || this.earlier.isQueued();
  }

  /** Ends the process that makes tables. */
  stop(): void {
    this.#child?.kill('SIGKILL');
  }

  /**
   * Closes the connections. Call it when no refresh runs. Returns false if an edition is being made; only the end of
   * the process can stop that.
   */
  close(): boolean {
    if (this.#isMaking) return false;
    for (const connection of [this.#following, this.#making]) connection.closeSync();
    return true;
  }
}

/** The names of the files begin with these words. */
const [PRESENT, EARLIER] = ['archive', 'earlier'];
const GENERATION = new RegExp(`^(?:${PRESENT}|${EARLIER})-(\\d+)\\.duckdb$`);

const NONE: ReadonlySet<bigint> = new Set();

/** Whether the columns of a catalog may differ. New rows do not fit the former columns, which would be null. */
function isDescribedAnew(before: Catalogs, now: Catalogs): boolean {
  return before.all.some(catalog => {
    const present = now.get(catalog.name);
    return present !== undefined && !isSameDefinition(present, catalog);
  });
}

/** The file may be damaged, or from another version of the engine. */
function unlessLocked(error: unknown): undefined {
  if (/set lock/i.test(`${error}`)) throw error;
}

/**
 * Returns the directory of this process. It takes over the directory of an ended process, the one that changed last, and
 * removes the directories of other ended processes.
 */
export function ownDirectory(all: string): string {
  const own = join(all, `${process.pid}`);
  makeDirectory(all);
  // An engine may outlive its killed service, and the engine after it, which has the newer tables, may end first.
  const changedMs = (name: string) => statSync(join(all, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const found = readdirSync(all).map(name => ({ name, ms: changedMs(name) }));
  for (const { name } of found.sort((a, b) => b.ms - a.ms)) {
    const path = join(all, name);
    const pid = Number.parseInt(name, 10);
    if (path === own || isAlive(pid)) continue;
    try {
      if (existsSync(own) || name !== `${pid}`) rmSync(path, { recursive: true, force: true });
      else renameSync(path, own);
    } catch (error) {
      // Another engine has taken this directory.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  mkdirSync(own, { recursive: true });
  return own;
}
