/**
 * Watches the database files (so that queries need not check them), writes that wait for another process, and the disk
 * space for writes.
 */
import { freeBytesAt } from '../base/disk.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import type { SharedState } from '../base/shared_state.ts';
import { RESERVE_BYTES } from '../store/disk_space.ts';
import { openStore, type Store } from '../store/store.ts';
import type { StoreReader } from '../store/store_reader.ts';

/** The interval between checks. Every thread must learn of a change within a second. */
const LOOK_MS = 200;
/** A write that waits this long for another process is reported in the log and by /readyz. */
const LONG_WAIT_MS = 3000;

/**
 * LMDB keeps using files that were removed or replaced, and would answer from a database that no other process sees.
 * While the files are missing, all queries are refused. If the same files come back, service resumes. A different
 * database at their path is never read; that takes a restart.
 */
export class DatabaseWatch {
  readonly #dataDir: string;
  readonly #state: SharedState;
  readonly #log: Log;
  readonly #timer: ReturnType<typeof setInterval>;
  #store: Store | undefined;
  /** The start of the wait that was last logged; 0 if no wait needs to be logged. */
  #toldWaitMs = 0;
  #isFull = false;

  constructor(dataDir: string, state: SharedState, log: Log) {
    this.#dataDir = dataDir;
    this.#state = state;
    this.#log = log;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  /** The processes that have the database open; undefined if this one cannot open it, or its files were replaced. */
  get livePids(): ReadonlySet<number> | undefined {
    return this.#trouble() === undefined ? this.#store?.livePids() : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    void this.#store?.close();
  }

  #look(): void {
    this.#lookAtWrites();
    this.#lookAtDisk();
    const trouble = this.#trouble();
    if (this.#state.databaseIsGone === (trouble !== undefined)) return;
    this.#state.databaseIsGone = trouble !== undefined;
    if (trouble === undefined) this.#log('database_back');
    else this.#log('database_gone', { error: trouble });
  }

  #lookAtWrites(): void {
    const sinceMs = this.#state.writeWaitsSinceMs;
    const told = this.#toldWaitMs;
    if (told !== 0 && sinceMs !== told) {
      this.#toldWaitMs = 0;
      this.#log('writes_go_on', { waited_seconds: Math.round((Date.now() - told) / 1000) });
    }
    const wait = this.#store && this.#toldWaitMs === 0 ? longWait(this.#state, this.#store) : undefined;
    if (!wait) return;
    this.#toldWaitMs = sinceMs;
    this.#log('writes_wait', wait);
  }

  #lookAtDisk(): void {
    try {
      this.#state.diskFreeBytes = freeBytesAt(this.#dataDir) ?? Number.POSITIVE_INFINITY;
    } catch {
      // If checking the directory fails, the error itself is reported.
      return;
    }
    const full = fullDisk(this.#state);
    if (this.#isFull === (full !== null)) return;
    this.#isFull = full !== null;
    if (full) this.#log('disk_full', full);
    else this.#log('disk_has_space', { free_bytes: this.#state.diskFreeBytes });
  }

  #trouble(): string | undefined {
    if (!this.#store) {
      try {
        this.#store = openStore(this.#dataDir, 'read');
      } catch {
        // There is no database yet, and therefore no index. Queries are refused because of that.
        return undefined;
      }
    }
    try {
      this.#store.requireInPlace();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** How long a write has been waiting, milliseconds; 0 if no write waits. */
function waitedMsOf({ writeWaitsSinceMs }: SharedState): number {
  return writeWaitsSinceMs === 0 ? 0 : Math.max(0, Date.now() - writeWaitsSinceMs);
}

/** The other processes that have the database open. If a write of this process waits, one of them is writing. */
function othersWith(store: StoreReader): readonly number[] {
  return [...store.livePids()].filter(pid => pid !== process.pid);
}

/** Reports that the disk has no space for writes; null if it has. */
export function fullDisk(state: SharedState) {
  const [free_bytes, needed_bytes] = [state.diskFreeBytes, neededBytes(state)];
  return free_bytes < needed_bytes ? { free_bytes, needed_bytes } : null;
}

/** The free space that the next write needs. */
export const neededBytes = ({ diskWantedBytes }: SharedState) => Math.max(RESERVE_BYTES, diskWantedBytes);

/** Reports that a write has been waiting for long; undefined if none has. */
export function longWait(state: SharedState, store: StoreReader) {
  const waitedMs = waitedMsOf(state);
  if (waitedMs < LONG_WAIT_MS) return undefined;
  return { seconds: Math.round(waitedMs / 1000), for_processes: othersWith(store) };
}
