/** Compares this archive with the archives of the other nodes: see `src/store/epochs.ts`. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { pause } from '../base/timeout.ts';
import type { Claim } from '../store/claims.ts';
import type { Store } from '../store/store.ts';
import type { Writer } from '../store/writer.ts';
import type { Work } from './duty.ts';

const EPOCH_MS = 5000;
/** The interval between checks for a new epoch. */
const LOOK_MS = 500;

/** Repeats an action until it is closed. */
class Repeated implements Work {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(everyMs: number, act: () => Promise<void>, onError: (error: unknown) => void) {
    this.#running = this.#run(everyMs, act, onError);
  }

  async #run(everyMs: number, act: () => Promise<void>, onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(everyMs, signal);
      if (!signal.aborted) await act().catch(error => signal.aborted || onError(error));
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Begins an epoch every few seconds, which also advances the time of an idle log. */
export function beginEpochs(writer: Writer, log: Log): Work {
  return new Repeated(
    EPOCH_MS,
    () => writer.tick(),
    error => log('epoch_failed', { error: messageOf(error) }),
  );
}

/**
 * Votes for this archive in each epoch that begins from now on. Only one process of a data directory does so. If votes
 * differ, the nodes of the minority stop; without a majority, no node stops.
 */
export class Votes implements Work {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #log: Log;
  readonly #voter = randomUUID();
  readonly #node: string;
  readonly #work: Work;
  #claim: Claim | undefined;
  /**
   * The newest epoch that was handled. This process does not vote in the first epoch that it sees, because another
   * process may already have voted for this archive.
   */
  #seen: number | undefined;

  /** @param node the host and the data directory, by which people recognise the node */
  constructor(store: Store, writer: Writer, log: Log, node: string, everyMs = LOOK_MS) {
    [this.#store, this.#writer, this.#log, this.#node] = [store, writer, log, node];
    const onError = (error: unknown) => log('vote_failed', { error: messageOf(error) });
    this.#work = new Repeated(everyMs, () => this.#look(), onError);
  }

  async close(): Promise<void> {
    await this.#work.close();
    if (this.#claim) await this.#writer.dropClaim(this.#claim);
  }

  async #look(): Promise<void> {
    this.#store.resetRead();
    const { number, digest, digestsBefore } = this.#store.epoch() ?? { number: 0, digest: null, digestsBefore: 0 };
    if (number === this.#seen) return;
    const isFirst = this.#seen === undefined;
    this.#seen = number;
    if (digestsBefore > 1) this.#log('archives_differ', { epoch: number - 1, digests: digestsBefore });
    this.#claim ??= await this.#writer.claimExclusively('vote');
    if (!this.#claim || digest === null || isFirst) return;
    await this.#writer.vote(number, { voter: this.#voter, node: this.#node, digest });
  }
}
