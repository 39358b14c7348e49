/** Holds a lease: see `src/store/leases.ts`. */
import { randomUUID } from 'node:crypto';
import { nowUs } from '../base/times.ts';
import type { Store } from './store.ts';
import type { Writer } from './writer.ts';

/** The duration of a lease: when its node dies, another one takes over after at most this time. */
const LEASE_MS = 5000;
export const RENEW_MS = 1500;

export class HeldLease {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #name: string;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** The name of this holder in the log. */
  readonly owner = randomUUID();

  constructor(store: Store, writer: Writer, name: string) {
    [this.#store, this.#writer, this.#name] = [store, writer, name];
  }

  /**
   * Takes or renews the lease, unless another node has it.
   * @returns whether this holder has it now
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

  /** Whether no other node can have the lease yet, provided that clocks agree. */
  get isHeld(): boolean {
    return performance.now() < this.#untilMs;
  }
}
