/** Runs the thread that publishes, from the main thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { BesideWriter, InWriter, WriterLink } from '../../core/background/beside_writer.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { pause, withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import { Pool } from '../../core/pool/pool.ts';
import type { KeepTask } from './ledger.ts';
import { type PublishSettings, publicationNames } from './publish_settings.ts';
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
}

export class BackgroundPublisher implements BesideWriter {
  readonly #options: BackgroundPublisherOptions;
  readonly #pool = new Pool({ threads: 1 });
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: BackgroundPublisherOptions) {
    this.#options = options;
  }

  /** Publishes until `stop` is called. */
  start(writer: WriterLink): void {
    this.#stop = new AbortController();
    this.#ended = this.#run(writer, this.#stop.signal);
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

  async #run(writer: WriterLink, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#runThread(writer, signal);
      } catch (error) {
        writer.log('publisher_failed', { error: messageOf(error), retry_seconds: RESTART_MS / 1000 });
        await pause(RESTART_MS, signal);
      }
    }
  }

  async #runThread(writer: WriterLink, signal: AbortSignal): Promise<void> {
    const { config, settings } = this.#options;
    const channel = new MessageChannel();
    const link = channel.port1;
    link.on('message', ({ event, fields }: FromPublisher) => writer.log(event, fields));
    const ledgers: Record<string, MessagePort> = {};
    for (const { name } of publicationNames(settings)) {
      const { port1, port2 } = new MessageChannel();
      const keep: Omit<KeepTask, keyof InWriter> = {
        module: 'src/capabilities/publish/ledger',
        kind: 'keep',
        topic: name,
        port: port1,
      };
      writer.run(`publish to ${name}`, keep, [port1]);
      ledgers[name] = port2;
    }
    const onStop = () => link.postMessage('stop');
    signal.addEventListener('abort', onStop);
    const task: PublishTask = {
      module: 'src/capabilities/publish/publisher_thread',
      kind: 'publish',
      config,
      settings,
      ledgers,
      link: channel.port2,
    };
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
