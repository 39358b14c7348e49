/**
 * The position of this node in the nodes' log. Answers contain it. If a client sends it back with its next request, no
 * node answers that request from an older state.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Budget } from '../base/budget.ts';
import { Unavailable } from '../base/refusal.ts';
import type { Config } from '../config/config.ts';
import { type LogPosition, readLogPosition } from '../store/log_position.ts';
import type { StoreReader } from '../store/store_reader.ts';
import type { Coordination } from './coordination.ts';

/** The archive, the number of applied records, and the last journal entry in the index. */
const PLACE = /^([0-9a-f]{8})-(\d{1,15})-(\d{1,15})$/;
/** The interval between checks whether the node has reached a position. */
const LOOK_MS = 10;

export class LogPlace {
  readonly #coordination: Coordination;
  readonly #store: () => StoreReader;
  readonly #maxLagMs: number;
  /** The last header value, and its position. It is cached, because consecutive answers usually have the same value. */
  #said: { readonly position: LogPosition; readonly sequence: number; readonly text: string } | undefined;

  constructor(
    coordination: Coordination,
    store: () => StoreReader,
    { NEARSKY_LOG_MAX_LAG_SECONDS: maxLagSeconds }: Config,
  ) {
    [this.#coordination, this.#store, this.#maxLagMs] = [coordination, store, 1000 * maxLagSeconds];
  }

  /**
   * The minimum number of seconds for which this node has lagged behind the log; undefined without a log, or if the lag
   * is within the limit. For a node that has never caught up, this is the time since its start, even within the limit.
   */
  get lag(): string | undefined {
    const { state } = this.#coordination;
    if (!state.hasLog) return undefined;
    const { hasCaughtUp, logLagMs } = state;
    return hasCaughtUp && logLagMs <= this.#maxLagMs ? undefined : `${Math.floor(logLagMs / 1000)}`;
  }

  /** A position that is at least as late as those in all answers of this thread; undefined without a log. */
  get text(): string | undefined {
    const { state } = this.#coordination;
    if (!state.hasLog || state.whyNoAnswer !== undefined) return undefined;
    try {
      const store = this.#store();
      const position = readLogPosition(store.databases);
      if (!position) return undefined;
      const sequence = this.#sequence;
      if (this.#said?.position !== position || this.#said.sequence !== sequence)
        this.#said = { position, sequence, text: `${store.archive}-${position.next}-${sequence}` };
      return this.#said.text;
    } catch {
      // If the database cannot be read, the answer itself reports it.
      return undefined;
    }
  }

  /**
   * Whether an answer made now would be at least as recent as an answer with this position. The position is ignored if
   * it belongs to another log.
   */
  has(text: string): boolean {
    const [, archive, position, sequence] = PLACE.exec(text) ?? [];
    if (archive === undefined || !this.#coordination.state.hasLog) return true;
    if (this.#coordination.state.logPosition >= Number(position) && this.#sequence >= Number(sequence)) return true;
    if (this.#coordination.state.whyNoAnswer !== undefined) return true;
    const store = this.#store();
    store.resetRead();
    if (store.archive !== archive) return true;
    // Another process on this data directory may have applied the record.
    return (readLogPosition(store.databases)?.next ?? 0) >= Number(position) && this.#sequence >= Number(sequence);
  }

  /** @throws Unavailable if this takes longer than the budget */
  async reach(text: string, budget: Budget): Promise<void> {
    for (; !this.has(text); await sleep(LOOK_MS))
      if (budget.spent) throw new Unavailable('this node is behind the one that answered before');
  }

  get #sequence(): number {
    return this.#coordination.generation?.sequence ?? 0;
  }
}
