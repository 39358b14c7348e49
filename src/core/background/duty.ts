/** Work that only one of several nodes does at a time. If that node dies, another takes over. */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { repeat } from '../base/timeout.ts';
import { HeldLease } from '../store/held_lease.ts';
import type { Store } from '../store/store.ts';
import type { Writer } from '../store/writer.ts';

/** The interval between checks of who has the duty. */
const LOOK_MS = 500;

/** Work that goes on until it is closed. */
export interface Work {
  close(): Promise<void>;
}

/** @param run must return soon after its signal fires, and must never reject */
export function workUntilClosed(run: (signal: AbortSignal) => Promise<void>): Work {
  const stop = new AbortController();
  const ended = run(stop.signal);
  return {
    close() {
      stop.abort();
      return ended;
    },
  };
}

interface DutyOptions {
  /** The name of the work's lease in the log. */
  readonly name: string;
  readonly store: Store;
  readonly writer: Writer;
  readonly log: Log;
  /** Whether this node may do the work now; always true by default. */
  readonly isFit?: () => boolean;
  /** Begins the work. The work is closed when another node has taken the lease. */
  readonly begin: () => Work | Promise<Work>;
}

export class Duty implements Work {
  readonly #options: DutyOptions;
  readonly #lease: HeldLease;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #work: Work | undefined;

  constructor(options: DutyOptions) {
    this.#options = options;
    this.#lease = new HeldLease(options.store, options.writer, options.name);
    const unclear = (error: unknown) => {
      options.log('duty_unclear', { duty: options.name, error: messageOf(error) });
      this.#lease.resign();
    };
    this.#running = repeat(this.#stop.signal, LOOK_MS, () => this.#look(), unclear);
  }

  /** Closes the work, so that another node can begin it. */
  async close(): Promise<void> {
    this.#stop.abort();
    const work = this.#work;
    const closed = work?.close();
    await this.#running;
    await closed;
    if (this.#work !== work) await this.#work?.close();
    await this.#lease.leave();
  }

  async #look(): Promise<void> {
    const { name, log, begin, isFit = () => true } = this.#options;
    const mayWork = isFit();
    if (!mayWork) await this.#lease.leave();
    const isMine = mayWork && (await this.#lease.take());
    if (this.#stop.signal.aborted || isMine === (this.#work !== undefined)) return;
    log(isMine ? 'duty_taken' : 'duty_lost', { duty: name });
    const work = this.#work;
    this.#work = isMine ? await begin() : undefined;
    await work?.close();
  }
}
