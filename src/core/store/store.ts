/** Opening the store. Any number of processes and threads may read while one at a time writes (src/core/store/writer.ts). */
import { holdEnd } from '../pool/thread_end.ts';
import { DATABASE_NAMES, type DatabaseName } from './databases.ts';
import { FullDisk, RESERVE_TO_END_BYTES, requireSpace, spaceFor } from './disk_space.ts';
import { type Environment, newestCommit, openEnvironment, reusableBytes } from './environment.ts';
import type { OpenFiles } from './identity.ts';
import { LEVEL } from './level.ts';
import { readRegistrySnapshot } from './registry.ts';
import { type ReadTransaction, Snapshot } from './snapshot.ts';
import { StoreError } from './store_error.ts';
import { StoreReader } from './store_reader.ts';

/**
 * Opens a data directory. `write` creates it (mode 0700) where there is none; `read` needs it to exist. A directory
 * with other content, a newer format, or a log of a higher level is rejected. If one process opens it in both modes,
 * `write` must come first: LMDB opens a file once per process, and keeps the first mode.
 * @param readableLevel the highest readable level of the log; by default the level of this release
 * @throws StoreError
 */
export function openStore(dataDir: string, mode: 'read' | 'write', readableLevel: number = LEVEL): Store {
  return holdEnd(() => new Store(openEnvironment(dataDir, mode, readableLevel), readableLevel));
}

/** A data directory that this thread has open. */
export class Store extends StoreReader {
  /** The highest level of the log that can be read here. */
  readonly readableLevel: number;
  /** Called when a write starts to wait for writes of other processes, and when the wait is over. */
  onWaiting: (isWaiting: boolean) => void = () => {};
  /** Called when the disk has too little space for a write, with the bytes that it may need. */
  onFullDisk: (neededBytes: number) => void = () => {};
  readonly #environment: Environment;

  constructor(environment: Environment, readableLevel: number) {
    super(environment.databases, environment.root);
    this.#environment = environment;
    this.readableLevel = readableLevel;
    // Other processes see that this one is alive by its entry in LMDB's table of readers. The first read makes the
    // entry, and opening databases removes it.
    readRegistrySnapshot(this.databases);
  }

  /** The files that the store has open, to detect when other files, or none, are at their paths. */
  get files(): OpenFiles {
    return this.#environment.files;
  }

  /**
   * A file that was removed or replaced can still be read by the processes that have it open, but no other process sees
   * their writes.
   * @throws StoreError if the files were removed or replaced
   */
  requireInPlace(): void {
    const change = this.files.change();
    if (change) throw new StoreError(`Cannot trust the database because ${change.reason}`);
  }

  /** Whether the file system is mounted read-only, so that no file can be written in the data directory. */
  get isReadOnly(): boolean {
    return this.#environment.unlockedSince !== undefined;
  }

  /**
   * Call this after reading and before using the data. On a file system that is read-only here, another host may
   * overwrite pages while they are being read.
   * @throws StoreError if there was a commit since this store was opened without a lock
   */
  requireUndisturbed(): void {
    const { dataDir, unlockedSince } = this.#environment;
    if (unlockedSince === undefined || newestCommit(dataDir) === unlockedSince) return;
    throw new StoreError(
      `Cannot trust the data read from ${dataDir} because its file system is read-only here and another host wrote to it meanwhile: run again while nothing writes, or set --data to the writable directory`,
    );
  }

  /**
   * @param doing completes the message "Cannot …"
   * @param entries the number of entries that a transaction will change; 0 if it only abandons unfinished work
   * @throws StoreError if the disk may have too little space for the transaction
   */
  requireSpace(doing: string, entries: number): void {
    const bytes = entries === 0 ? RESERVE_TO_END_BYTES : spaceFor(entries, this.files.bytes);
    try {
      requireSpace(doing, this.#environment.dataDir, bytes);
    } catch (error) {
      if (error instanceof FullDisk) this.onFullDisk(bytes);
      throw error;
    }
  }

  /** Whether nothing was ever stored. */
  get isEmpty(): boolean {
    const isArchive = (name: DatabaseName) => !['meta', 'claims', 'history'].includes(name);
    return DATABASE_NAMES.filter(isArchive).every(name => this.databases[name].entryCount() === 0);
  }

  /** The bytes of the database file that hold no data, and that later commits use. */
  reusableBytes = () => reusableBytes(this.#environment);

  /** A read transaction of the present state; to be ended with `done`. */
  readTransaction(): ReadTransaction {
    this.resetRead();
    return this.#environment.root.useReadTransaction();
  }

  /**
   * A snapshot of the whole store; to be closed.
   * @param at the journal entry after which it has the objects; undefined for the present ones
   * @throws StoreError if the history does not have the entry
   */
  snapshot(at?: number): Snapshot {
    return new Snapshot(this.databases, this.readTransaction(), at);
  }

  /** Copies a snapshot of the database to a new file. Writers can continue meanwhile. */
  async copyTo(file: string): Promise<void> {
    await this.#environment.root.backup(file, false);
  }

  /** Closes this thread's handle; the store must not be used afterwards. */
  async close(): Promise<void> {
    await holdEnd(() => this.#environment.root.close());
  }

  [Symbol.asyncDispose] = () => this.close();
}
