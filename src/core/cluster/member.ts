/** Makes this process a member of the log that several nodes share: it follows the log, and appends changes to it. */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { pause } from '../base/timeout.ts';
import type { Change } from '../store/changes.ts';
import { FullDisk } from '../store/disk_space.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import type { Election, SharedLog } from '../store/writer.ts';
import { type KafkaLog, openKafkaLog } from './kafka_log.ts';
import type { LogTopic } from './kafka_settings.ts';
import { Node } from './node.ts';
import { LostPlace } from './record_log.ts';

interface MemberOptions {
  /** Opened with mode `write`; must stay open until `close` has resolved. */
  readonly store: Store;
  readonly topic: LogTopic;
  readonly log: Log;
  /** Whether to keep trying if the log cannot be reached when the process starts. */
  readonly isPatient?: boolean;
  /**
   * Called after each read of the log, with the number of records that this node has not applied yet, and
   * `Node.clockSkewUs`.
   */
  readonly onRead?: (left: number, clockSkewUs: number) => void;
  /** Called when a read of the log, or the disk, has failed; `isAway` tells whether it was the log. */
  readonly onFailed?: (isAway: boolean) => void;
  /** Called when the node can no longer follow the log, with the number of records that it has not applied. */
  readonly onStopped?: (error: unknown, left: number) => void;
}

/** The event to log when it works again. */
const RECOVERED = { log_failed: 'log_back', disk_full: 'disk_has_space' } as const;
const AGAIN_MS = 500;
/** A node that could not follow its log for this long resigns from its duties. */
const RESIGN_MS = 3000;

export class Member implements SharedLog {
  readonly #options: MemberOptions;
  readonly #stop = new AbortController();
  readonly #caughtUp = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #log: KafkaLog | undefined;
  #node: Node | undefined;
  /** The last failure; undefined once a read of the log succeeded and was applied. */
  #failing: keyof typeof RECOVERED | undefined;
  #followedMs = performance.now();

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#caughtUp.promise.catch(() => {});
    this.#running = this.#run();
  }

  /**
   * Resolves when the node has applied the whole log for the first time.
   * @throws LostPlace; StoreError; errors of the connection
   */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** @throws LostPlace; StoreError; errors of the log, like `Node.submit` */
  async submit(change: Change): Promise<unknown[]> {
    await this.#caughtUp.promise;
    return this.#node!.submit(change);
  }

  async elect(duty: string): Promise<Election> {
    await this.#caughtUp.promise;
    return this.#node!.elect(duty);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#step();
      } catch (error) {
        if (!this.#goesOn(error)) return this.#end(error);
        if (performance.now() - this.#followedMs > RESIGN_MS) this.#log?.resign();
        await pause(AGAIN_MS, signal);
      }
    }
  }

  async #step(): Promise<void> {
    const { store, topic, log, onRead } = this.#options;
    this.#log ??= await openKafkaLog({ ...topic, log });
    // The archive may have been found damaged while the log could not be reached.
    this.#stop.signal.throwIfAborted();
    this.#node ??= new Node(store, this.#log);
    const left = await this.#node.step();
    this.#followedMs = performance.now();
    if (this.#failing) this.#tell(RECOVERED[this.#failing]);
    this.#failing = undefined;
    onRead?.(left, this.#node.clockSkewUs);
    if (left === 0) this.#caughtUp.resolve();
  }

  #goesOn(error: unknown): boolean {
    const { isPatient = false, onFailed } = this.#options;
    if (this.#stop.signal.aborted) return true;
    // A topic that is unfit for a log is not tried again.
    if (error instanceof LostPlace || (!this.#log && (error instanceof StoreError || !isPatient))) return false;
    onFailed?.(!(error instanceof StoreError));
    const failing = error instanceof FullDisk ? 'disk_full' : 'log_failed';
    if (failing !== this.#failing) this.#tell(failing, { error: messageOf(error) });
    this.#failing = failing;
    return true;
  }

  /** A service watches its disk, and reports that itself. */
  #tell(event: string, fields?: Readonly<Record<string, string>>): void {
    const { log, onFailed } = this.#options;
    if (!onFailed || event.startsWith('log_')) log(event, fields);
  }

  #end(error: unknown): void {
    const { topic, onStopped } = this.#options;
    const { servers, topic: name } = topic;
    const stopped =
      error instanceof StoreError
        ? error
        : new StoreError(
            `Cannot read the log ${name} of ${servers.join(', ')} because ${messageOf(error)}: check NEARSKY_LOG, NEARSKY_LOG_TLS and that Kafka runs`,
          );
    this.#caughtUp.reject(stopped);
    void this.#log?.closeElections();
    void this.#node?.close();
    onStopped?.(stopped, this.#node?.left ?? 0);
  }

  /** Stops following the log, because the archive cannot be trusted. */
  stop(error: StoreError): void {
    this.#stop.abort();
    this.#end(error);
  }

  /** Abandons waiting changes: it is unknown whether they are applied. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#caughtUp.reject(new StoreError('Cannot change the archive because this process is stopping'));
    await this.#node?.close();
    await this.#running;
    await this.#log?.close();
  }

  [Symbol.asyncDispose] = () => this.close();
}
