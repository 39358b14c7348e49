/** How a capability works with the writer thread of `serve`: from the main thread, and inside the writer thread. */
import type { MessagePort } from 'node:worker_threads';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { Task } from '../pool/pool.ts';
import type { Store } from '../store/store.ts';
import type { Writer } from '../store/writer.ts';
import type { Work } from './duty.ts';

/** Work in the main thread that needs the writer thread. */
export interface BesideWriter {
  /** Begins the work. It is stopped and begun again when the writer thread was restarted. */
  start(writer: WriterLink): void;
  stop(): Promise<unknown>;
  /** Ends the work, before the writer thread ends. */
  close(): Promise<void>;
}

/** What the main thread can ask of the writer thread. */
export interface WriterLink {
  /** Logs events, which are also in the report of the night. */
  readonly log: Log;
  /**
   * Runs a task in the writer thread, with what `InWriter` has. Its result is closed when the thread ends, or before
   * another task with the same name begins.
   */
  run(name: string, task: Task<Work>, transfer: readonly MessagePort[]): void;
}

/** Begins a duty. */
export interface DutyTask extends Task<Work> {
  readonly kind: 'duty';
  readonly config: Config;
}

/** What the writer thread adds to a duty. */
export interface OnDuty extends DutyTask, Omit<InWriter, 'after'> {
  readonly log: Log;
}

/** What the writer thread adds to a task of `WriterLink`. */
export interface InWriter {
  readonly store: Store;
  readonly writer: Writer;
  /** Settles when the former work of that name is closed. */
  readonly after: Promise<void>;
}
