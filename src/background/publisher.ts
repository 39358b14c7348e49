/** Runs the thread that publishes, from the main thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { programModule } from '../base/program_files.ts';
import { pause, withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import { Pool } from '../pool/pool.ts';
import { type PublishSettings, publicationNames } from '../stream/publish_settings.ts';
import type { FromPublisher, PublishTask } from './publisher_thread.ts';

/** The pause before a thread that ended is restarted. */
const RESTART_MS = 5000;
/**
 * The time limit for stopping the thread. It waits until the brokers acknowledge the sent messages, so that they need
 * not be sent again.
 */
const STOP_MS = 3000;

interface BackgroundPublisherOptions {
  readonly config: Config;
  readonly settings: PublishSettings;
  readonly log: Log;
}

/** Passes the port of a publication's ledger to the writer thread, which keeps the ledger: see `keepLedger`. */
type KeepLedger = (topic: string, ledger: MessagePort) => void;

export class BackgroundPublisher {
  readonly #options: BackgroundPublisherOptions;
  readonly #pool = new Pool({ threads: 1, entry: programModule('workers/publisher') });
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: BackgroundPublisherOptions) {
    this.#options = options;
  }

  /** Publishes until `stop` is called. */
  start(keep: KeepLedger): void {
    this.#stop = new AbortController();
    this.#ended = this.#run(keep, this.#stop.signal);
  }

  /** Whether the thread ended in time. */
  async stop(): Promise<boolean> {
    this.#stop.abort();
    const ended = this.#ended.then(() => true);
    return (await withTimeout(ended, STOP_MS)) ?? false;
  }

  /** A thread that does not end in time is abandoned. */
  async close(): Promise<void> {
    if (await this.stop()) await this.#pool.close();
  }

  async #run(keep: KeepLedger, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#runThread(keep, signal);
      } catch (error) {
        log('publisher_failed', { error: messageOf(error), retry_seconds: RESTART_MS / 1000 });
        await pause(RESTART_MS, signal);
      }
    }
  }

  async #runThread(keep: KeepLedger, signal: AbortSignal): Promise<void> {
    const { config, settings, log } = this.#options;
    const channel = new MessageChannel();
    const link = channel.port1;
    link.on('message', ({ event, fields }: FromPublisher) => log(event, fields));
    const ledgers: Record<string, MessagePort> = {};
    for (const { name } of publicationNames(settings)) {
      const { port1, port2 } = new MessageChannel();
      keep(name, port1);
      ledgers[name] = port2;
    }
    const onStop = () => link.postMessage('stop');
    signal.addEventListener('abort', onStop);
    const task: PublishTask = { kind: 'publish', config, settings, ledgers, link: channel.port2 };
    try {
      await this.#pool.run(task, {
        transferList: [...Object.values(ledgers), task.link],
        timeoutMs: Number.POSITIVE_INFINITY,
      });
    } finally {
      signal.removeEventListener('abort', onStop);
      link.close();
    }
  }
}
