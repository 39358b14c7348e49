/**
 * Counts what each client holds: slots, bytes, or slots of a queue. One client gets at most half. A number of bytes fits
 * if it is at most `left`. A slot fits if `left` is above 0, so half of an odd number of slots is rounded up.
 */
export class Share {
  readonly #max: (held: number) => number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  /**
   * @param max the maximum of all clients together, or a function that returns it if it varies
   * @param holders an entry for each slot that is held already
   */
  constructor(max: number | ((held: number) => number), holders: Iterable<{ readonly client: string }> = []) {
    this.#max = typeof max === 'number' ? () => max : max;
    for (const { client } of holders) this.add(client);
  }

  get held(): number {
    return this.#held;
  }

  /** The number of clients that hold anything. */
  get clients(): number {
    return this.#heldBy.size;
  }

  heldBy(client: string): number {
    return this.#heldBy.get(client) ?? 0;
  }

  /** The rest of a client's half; what others hold does not count. May be negative. */
  leftOfHalf(client: string, max = this.#max(this.#held)): number {
    return max / 2 - this.heldBy(client);
  }

  /** The rest of the whole or, if a client is given and it is less, of the client's half. May be negative. */
  left(client?: string): number {
    const max = this.#max(this.#held);
    return Math.min(max - this.#held, client === undefined ? max : this.leftOfHalf(client, max));
  }

  /** Counts what a client takes, even if it does not fit. */
  add(client: string, amount = 1): void {
    const own = this.heldBy(client) + amount;
    this.#held += amount;
    if (own === 0) this.#heldBy.delete(client);
    else this.#heldBy.set(client, own);
  }

  free(client: string, amount = 1): void {
    this.add(client, -amount);
  }
}
