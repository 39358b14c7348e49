/**
 * Keeps the generation up to date: starts with the stored index or a new one, then adds every change in the journal. A
 * pool builds, merges and saves, so neither the main thread nor the queries have to wait.
 */

import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { pause } from '../base/timeout.ts';
import type { TaskRunner } from '../pool/pool.ts';
import { readLastRemoval } from '../store/removals.ts';
import { openStore, type Store } from '../store/store.ts';
import { LiveIndex } from './live_index.ts';
import type {
  BuiltArena,
  BuiltIndex,
  MergeTask,
  OpenIndexTask,
  PublishedGeneration,
  SaveIndexTask,
  TailTask,
} from './tasks.ts';

/** The interval between reads of the journal. */
const POLL_MS = 20;
/** The pause after a failure. */
const RETRY_MS = 1000;

interface IndexerOptions {
  readonly dataDir: string;
  /** Must have the same data directory and two threads, so that one can follow the journal while the other merges. */
  readonly pool: TaskRunner;
  readonly log: Log;
  /** Called after each change of `current`. */
  readonly onChange?: () => void;
}

export interface IndexStatus {
  readonly objects: number;
  readonly arenas: number;
  readonly bytes: number;
  /** The last journal entry that the index covers. */
  readonly sequence: number;
  /** When the current generation was published, milliseconds since 1970. */
  readonly publishedMs: number;
}

/** The number of consecutive failed attempts to follow the journal. */
export interface IndexFailure {
  readonly error: unknown;
  /** The time of the first of these failures, by `performance.now()`. */
  readonly firstMs: number;
  /** The time of the latest failure, by `performance.now()`. */
  readonly latestMs: number;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly #stop = new AbortController();
  #store: Store | undefined;
  #following: Promise<void> | undefined;
  #index: LiveIndex | undefined;
  /** Whether an index turned out not to belong to this database. The stored index is then not trusted, either. */
  #distrustStored = false;
  /** The number of rows in the file, the time of its last read or write, and the duration of the last write. */
  #saved = { rows: 0, atMs: 0, tookMs: 0 };
  /** The merge or save in progress. There is only one at a time. */
  #background: Promise<void> | undefined;
  #number = 0;
  /** Generations up to this number came from an index that was dropped. */
  #droppedNumber = 0;
  #replacedBytes = 0;
  #current: PublishedGeneration | undefined;
  #publishedMs = 0;
  #failure: IndexFailure | undefined;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /**
   * The generation that answers queries. Undefined while the index has not caught up with the journal, or is being
   * rebuilt.
   */
  get current(): PublishedGeneration | undefined {
    return this.#current;
  }

  /** The reason why the journal cannot be followed; undefined if it can. */
  get failure(): IndexFailure | undefined {
    return this.#failure;
  }

  /** The state of the index for monitoring; undefined until the index is loaded. */
  get status(): IndexStatus | undefined {
    const index = this.#index;
    return (
      index && {
        objects: index.length,
        arenas: index.arenaCount,
        bytes: index.buffers.reduce((sum, { byteLength }) => sum + byteLength, 0),
        sequence: index.extent.sequence,
        publishedMs: this.#publishedMs,
      }
    );
  }

  /** Starts to load the index, and then to follow the journal. Failures are logged and retried. */
  start(): void {
    this.#following ??= this.#follow();
  }

  /**
   * Drops the index that a generation (by default the current one) came from, because it does not belong to this
   * database, and builds a new one. If a newer index was started since, it is kept, because late answers from the old
   * generation say nothing about it.
   */
  discard(number = this.#number): void {
    if (number > this.#droppedNumber) this.#drop();
  }

  #drop(): void {
    if (this.#index) this.#replacedBytes = this.#index.letGo();
    this.#index = undefined;
    this.#droppedNumber = this.#number;
    this.#distrustStored = true;
    this.#setCurrent(undefined);
  }

  /** Stops following the journal. Saves the index if it has grown and can be stored. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.#background;
    if (this.#index && this.#current && !this.#store?.isReadOnly)
      await this.#save(this.#index).catch(error => this.#logFailure(error));
    await this.#store?.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#catchUp();
        this.#failure = undefined;
      } catch (error) {
        if (!this.#failure && !signal.aborted) this.#logFailure(error);
        const latestMs = performance.now();
        this.#failure = { ...(this.#failure ?? { error, firstMs: latestMs }), latestMs };
      }
      await pause(this.#failure ? RETRY_MS : POLL_MS, signal);
    }
  }

  #logFailure(error: unknown): void {
    this.#options.log('index_failed', { error: messageOf(error) });
  }

  async #catchUp(): Promise<void> {
    this.#store ??= openStore(this.#options.dataDir, 'read');
    const last = this.#lastSequence();
    if (this.#index && last < this.#index.extent.sequence) {
      this.#options.log('index_stale', { error: `the journal ends at ${last}, before ${this.#index.extent.sequence}` });
      this.#drop();
    }
    const index = (this.#index ??= await this.#load());
    while (this.#lastSequence() > index.extent.sequence) await this.#tail(index);
    if (this.#index !== index) return;
    if (!this.#current) {
      this.#publish(index);
      this.#options.log('index_ready', { objects: index.length, arenas: index.arenaCount, ...index.extent });
    }
    this.#background ??= this.#tend(index)?.finally(() => (this.#background = undefined));
  }

  /** Starts the next background work: a merge, or else a save of the index. Undefined if there is none to do. */
  #tend(index: LiveIndex): Promise<void> | undefined {
    const parts = index.takeForMerge(readLastRemoval(this.#store!.databases));
    if (parts.length > 0) return this.#merge(index, parts);
    const { rows: savedRows, atMs, tookMs } = this.#saved;
    const sinceMs = performance.now() - atMs;
    if (!isSaveDue({ rows: index.extent.rows, savedRows, sinceMs, tookMs })) return undefined;
    return this.#save(index).catch(error => {
      // After a failure, the next attempt waits as long as after a success.
      this.#saved = { rows: savedRows, atMs: performance.now(), tookMs };
      this.#logFailure(error);
    });
  }

  #lastSequence(): number {
    this.#store!.resetRead();
    return this.#store!.lastSequence();
  }

  /** The stored index, if there is a trusted one. Otherwise an empty index, which will then read the whole database. */
  async #load(): Promise<LiveIndex> {
    const stored = this.#distrustStored ? undefined : await this.#openStored();
    this.#saved = { rows: stored?.rows ?? 0, atMs: performance.now(), tookMs: 0 };
    return new LiveIndex(stored ?? { sequence: 0, rows: 0, arenas: [] }, this.#replacedBytes);
  }

  /** Opens the stored index. The file is only a cache: after any failure, the index is rebuilt. */
  async #openStored(): Promise<BuiltIndex | undefined> {
    const task: OpenIndexTask = { module: 'src/core/generations/index_file', kind: 'openIndex' };
    try {
      return await this.#options.pool.run(task, { signal: this.#stop.signal });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#logFailure(error);
      return undefined;
    }
  }

  async #tail(index: LiveIndex): Promise<void> {
    const absorb = index.toAbsorb();
    const { extent } = index;
    const task: TailTask = {
      module: 'src/core/generations/build',
      kind: 'tail',
      ...extent,
      checked: this.#distrustStored && extent.rows === 0,
      absorb,
    };
    index.extend(await this.#options.pool.run(task, { signal: this.#stop.signal }), absorb);
    if (this.#current) this.#publish(index);
  }

  #publish(index: LiveIndex): void {
    if (this.#index === index) this.#setCurrent(index.generation(++this.#number));
  }

  #setCurrent(generation: PublishedGeneration | undefined): void {
    this.#current = generation;
    this.#publishedMs = Date.now();
    this.#options.onChange?.();
  }

  async #merge(index: LiveIndex, parts: readonly BuiltArena[]): Promise<void> {
    const { signal } = this.#stop;
    try {
      const task: MergeTask = { module: 'src/core/generations/build', kind: 'merge', arenas: parts };
      const answer = await this.#options.pool.run(task, { signal });
      index.merged(parts, answer);
      this.#publish(index);
      // Forces a save: the file still has the removed objects, and the next start would have to remove them again.
      if (parts.length === 1 && answer.arena && this.#index === index) this.#saved = { ...this.#saved, rows: 0 };
    } catch (error) {
      index.discard(parts);
      if (!signal.aborted) this.#logFailure(error);
    }
  }

  /** Saves the index, if it has grown since the last save and was not dropped in the meantime. */
  async #save(index: LiveIndex): Promise<void> {
    const { extent } = index;
    if (this.#index !== index || extent.rows <= this.#saved.rows) return;
    // The file does not say which arenas still have removed objects.
    if (!index.isPurgedTo(readLastRemoval(this.#store!.databases))) return;
    const beganMs = performance.now();
    const task: SaveIndexTask = {
      module: 'src/core/generations/index_file',
      kind: 'saveIndex',
      ...extent,
      arenas: index.buffers,
    };
    await this.#options.pool.run(task);
    const atMs = performance.now();
    if (this.#index === index) this.#saved = { rows: extent.rows, atMs, tookMs: atMs - beganMs };
  }
}

/** How the index differs from its file. */
interface SaveState {
  /** The numbers of rows of the position table that the index covers, and that its file covers. */
  readonly rows: number;
  readonly savedRows: number;
  /** Milliseconds since the file was read or last written, and the duration of the last write. */
  readonly sinceMs: number;
  readonly tookMs: number;
}

/**
 * The index is saved when it has grown by this fraction. So the file lacks at most this fraction, unless the index
 * grows very fast.
 */
const GROWN_SHARE = 0.05;
const MIN_INTERVAL_MS = 2000;
/** A smaller growth is saved only after this time. */
const CALM_INTERVAL_MS = 15 * 60_000;
/**
 * The fraction of a thread's and the disk's time that saving may take: while the index grows fast, and while it hardly
 * grows.
 */
const BUSY_SHARE = 0.01;
const CALM_SHARE = 0.001;

/** Whether the index should be saved now. Each save writes the whole file, so the growth must justify the cost. */
export function isSaveDue({ rows, savedRows, sinceMs, tookMs }: SaveState): boolean {
  const gained = rows - savedRows;
  if (gained <= 0) return false;
  if (gained >= GROWN_SHARE * rows && sinceMs >= Math.max(MIN_INTERVAL_MS, tookMs / BUSY_SHARE)) return true;
  return sinceMs >= Math.max(CALM_INTERVAL_MS, tookMs / CALM_SHARE);
}
