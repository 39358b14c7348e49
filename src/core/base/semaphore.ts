/** A limit on concurrent work, by weight. */

interface Waiting {
  readonly weight: number;
  readonly enter: () => void;
}

/** Serves requests in their order. Work that weighs more than the capacity runs alone. */
export class Semaphore {
  readonly #capacity: number;
  #inside = 0;
  readonly #waiting: Waiting[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Runs `work` as soon as there is capacity for it. */
  async run<T>(weight: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(weight, this.#capacity);
    if (this.#waiting.length > 0 || this.#inside + taken > this.#capacity)
      await new Promise<void>(enter => this.#waiting.push({ weight: taken, enter }));
    else this.#inside += taken;
    try {
      return await work();
    } finally {
      this.#inside -= taken;
      this.#admit();
    }
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#inside + this.#waiting[0]!.weight <= this.#capacity) {
      const { weight, enter } = this.#waiting.shift()!;
      this.#inside += weight;
      enter();
    }
  }
}
