/**
 * Runs the writer thread, from the main thread. The main thread itself never writes, so it never waits for another
 * process.
 */
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { steadyMs } from '../base/runtime.ts';
import type { SharedState } from '../base/shared_state.ts';
import { pause, withTimeout } from '../base/timeout.ts';
import { Pool } from '../pool/pool.ts';
import { FILE_NAME } from '../store/data_files.ts';
import { otherProcessesWith } from '../store/identity.ts';
import type { BesideWriter, WriterLink } from './beside_writer.ts';
import type { FromWriter, ToWriter, WriteTask } from './writer_thread.ts';

/** The interval at which the log reports that opening the database waits for another process. */
const LONG_WAIT_MS = 2000;
/** The pause before a thread that ended is restarted. */
const RESTART_MS = 5000;
/**
 * The time limit for stopping the thread, and the shorter limit while the thread waits for another process. In that
 * case, only the end of this process can end the thread.
 */
const STOP_MS = 8000;
const WAITING_STOP_MS = 2000;

interface BackgroundWriterOptions extends Pick<WriteTask, 'config' | 'topic' | 'duties' | 'counters'> {
  /** The work of capabilities that needs this thread. */
  readonly beside: readonly BesideWriter[];
  readonly state: SharedState;
  readonly log: Log;
}

export class BackgroundWriter {
  readonly #options: BackgroundWriterOptions;
  readonly #pool = new Pool({ threads: 1 });
  readonly #stop = new AbortController();
  #link: MessagePort | undefined;
  #ended: Promise<void> = Promise.resolve();
  #hasBegun = false;

  constructor(options: BackgroundWriterOptions) {
    this.#options = options;
    const { topic, state } = options;
    if (topic) [state.logFollowedMs, state.logTimeUs] = [steadyMs(), 0];
  }

  /**
   * Creates a missing database, and upgrades an older one to the present format. This write may have to wait for
   * another process; the log then names the processes that have the database open.
   * @throws StoreError
   */
  async open(): Promise<void> {
    const { state, log } = this.#options;
    const timer = setInterval(() => {
      const waitedMs = state.writeWaitsSinceMs && Date.now() - state.writeWaitsSinceMs;
      if (waitedMs >= LONG_WAIT_MS) log('writes_wait', { seconds: Math.round(waitedMs / 1000), ...this.waiting });
    }, LONG_WAIT_MS);
    try {
      await this.#start();
    } finally {
      clearInterval(timer);
    }
  }

  /** Starts the duties, and the work of capabilities beside this thread. */
  begin(): void {
    this.#hasBegun = true;
    this.#send({ kind: 'begin' });
    const { beside, log } = this.#options;
    const link: WriterLink = {
      log: (event, fields = {}) => {
        log(event, fields);
        this.#send({ kind: 'failed', event, fields });
      },
      run: (name, task, transfer) => this.#send({ kind: 'run', name, task }, transfer),
    };
    for (const each of beside) each.start(link);
  }

  /** Aborts the work in progress without recording it. A write that waits for another process is abandoned. */
  async close(): Promise<void> {
    this.#stop.abort();
    // A part of this work may run in the writer thread.
    await Promise.all(this.#options.beside.map(each => each.close()));
    this.#send({ kind: 'stop' });
    const ended = this.#ended.then(async () => {
      await this.#pool.close();
      return true;
    });
    if (await withTimeout(ended, WAITING_STOP_MS)) return;
    if (!this.isWaiting) await withTimeout(ended, STOP_MS - WAITING_STOP_MS);
  }

  /** Whether the writer thread waits for another process to finish a write. */
  get isWaiting(): boolean {
    return this.#options.state.writeWaitsSinceMs !== 0;
  }

  /** The processes that the writer may be waiting for, for the log; empty if it does not wait. */
  get waiting(): Record<string, unknown> {
    const file = join(this.#options.config.NEARSKY_DATA, FILE_NAME);
    return this.isWaiting ? { for_processes: otherProcessesWith(file) } : {};
  }

  #send(message: ToWriter, transfer: readonly MessagePort[] = []): void {
    this.#link?.postMessage(message, transfer);
  }

  #start(): Promise<void> {
    const { config, topic, duties, counters, state, log } = this.#options;
    const { port1: link, port2 } = new MessageChannel();
    const opened = Promise.withResolvers<void>();
    link.on('message', (message: FromWriter) => {
      if (message.kind === 'opened') opened.resolve();
      else log(message.event, message.fields);
    });
    this.#link = link;
    const task: WriteTask = {
      module: 'src/core/background/writer_thread',
      kind: 'write',
      config,
      topic,
      duties,
      counters,
      state: state.memory,
      link: port2,
    };
    this.#ended = this.#pool.run(task, { transferList: [port2], timeoutMs: Number.POSITIVE_INFINITY }).then(
      () => link.close(),
      error => {
        link.close();
        state.writeWaitsSinceMs = 0;
        opened.reject(error);
        if (this.#hasBegun) void this.#restart(error);
      },
    );
    return opened.promise;
  }

  async #restart(error: unknown): Promise<void> {
    const { beside, log } = this.#options;
    log('writer_failed', { error: messageOf(error), retry_seconds: RESTART_MS / 1000 });
    const { signal } = this.#stop;
    await Promise.all(beside.map(each => each.stop()));
    await pause(RESTART_MS, signal);
    if (signal.aborted) return;
    // This handler runs again if the new thread fails, too.
    await this.#start().then(
      () => this.begin(),
      () => {},
    );
  }
}
