/**
 * Holds the lease of a duty while its election lasts. The log decides: once another node has taken the lease, this node
 * has lost it, even if it still believes that it is elected.
 */
import { randomUUID } from 'node:crypto';
import { readLease } from './leases.ts';
import type { Store } from './store.ts';
import type { Election, Writer } from './writer.ts';

export class HeldLease {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #name: string;
  #election: Election | undefined;
  /** The name of this holder in the log. */
  readonly owner = randomUUID();

  constructor(store: Store, writer: Writer, name: string) {
    [this.#store, this.#writer, this.#name] = [store, writer, name];
  }

  /** Whether this candidate is elected. The first call makes it a candidate. */
  async isElected(): Promise<boolean> {
    this.#election ??= await this.#writer.log!.elect(this.#name);
    return this.#election.isElected;
  }

  /**
   * Takes the lease if this candidate is elected.
   * @returns whether it has the lease now
   */
  async take(): Promise<boolean> {
    if (!(await this.isElected())) return false;
    if (!this.isHeld) await this.#writer.commit({ kind: 'take_lease', name: this.#name, owner: this.owner });
    return true;
  }

  /** Whether no other node has the lease yet. */
  get isHeld(): boolean {
    if (!this.#election?.isElected) return false;
    this.#store.resetRead();
    return readLease(this.#store.databases, this.#name) === this.owner;
  }

  /** Leaves the duty to other candidates for some time. */
  resign(): void {
    this.#election?.resign();
  }

  /** Stops being a candidate until the next call of `isElected` or `take`. */
  async leave(): Promise<void> {
    const election = this.#election;
    this.#election = undefined;
    await election?.close();
  }
}
