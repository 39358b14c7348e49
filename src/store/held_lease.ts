/** Holding a lease: see `src/store/leases.ts`. */
import { randomUUID } from 'node:crypto';
import { nowUs } from '../base/times.ts';
import type { Store } from './store.ts';
import type { Writer } from './writer.ts';

/** For how long a node has what it took: when it dies, another one takes over at most this much later. */
const LEASE_MS = 5000;
/** The interval at which it is to be taken again. */
export const RENEW_MS = 1500;

export class HeldLease {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #name: string;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Names this holder in the log. */
  readonly owner = randomUUID();

  constructor(store: Store, writer: Writer, name: string) {
    [this.#store, this.#writer, this.#name] = [store, writer, name];
  }

  /**
   * Takes the lease, or takes it again, unless another node has it.
   * @returns whether it is this holder's now
   */
  async take(): Promise<boolean> {
    this.#store.resetRead();
    const held = this.#store.lease(this.#name);
    const isOthers = held && held.owner !== this.owner && held.untilUs > nowUs();
    const beganMs = performance.now();
    const isMine = !isOthers && (await this.#writer.takeLease(this.#name, this.owner, LEASE_MS));
    this.#untilMs = isMine ? beganMs + LEASE_MS : Number.NEGATIVE_INFINITY;
    return isMine;
  }

  /** Whether nobody else can have it yet, as far as clocks agree. */
  get isHeld(): boolean {
    return performance.now() < this.#untilMs;
  }
}
