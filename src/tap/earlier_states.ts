/**
 * The tables of earlier states: the generations that are kept, and the journal entries whose tables are to be made. They
 * are made one at a time, in the order in which they were first requested. A query that came too early is expected to
 * come again. Until it comes, or is late, no other entry replaces its tables.
 */
import { reportFailure } from './engine_errors.ts';
import type { Contents, Generation } from './generation.ts';

/** The maximum number of entries whose tables are to be made. One client may have half of them. */
const MAX_QUEUED = 16;
/** How long a query is expected to come again. Clients are asked to repeat a query after 30 s; jobs do so within seconds. */
const EXPECTED_MS = 120_000;
/** How long a failure to make tables is the answer. Then they are made again. */
const FAILED_MS = 30_000;

/** A query that comes again if it came too early. */
export interface Asker {
  readonly client: string;
  /** The same each time that the query comes. */
  readonly key: string;
}

interface Queued {
  /** The client that requested the entry first. */
  readonly client: string;
  readonly made: PromiseWithResolvers<void>;
}

/** What is known here of a generation. */
type Tables = Pick<Generation, 'isUsed'> & { readonly contents: Pick<Contents, 'key' | 'sequence'> };

interface EarlierOptions<T> {
  /** The maximum number of generations. */
  readonly maxKept: number;
  /**
   * Makes a generation.
   * @param replace to be called before it is made, if there is no room for it
   * @returns undefined if it cannot be made now
   */
  readonly make: (at: number, replace: (() => void) | undefined) => Promise<T> | undefined;
  /** Removes a generation when no query reads it any more. */
  readonly drop: (generation: T) => void;
  /** A monotonic clock, milliseconds; by default that of the process. */
  readonly now?: () => number;
}

export class EarlierStates<T extends Tables = Generation> {
  readonly #options: EarlierOptions<T>;
  readonly #now: () => number;
  /** The generations by their journal entries. The one that was used last is the last. */
  readonly #kept = new Map<number, T>();
  /** By entry, in the order of the first requests. */
  readonly #queue = new Map<number, Queued>();
  #making: number | undefined;
  /** By entry: the keys of the queries that are expected, and until when, as `performance.now()`. */
  readonly #expected = new Map<number, Map<string, number>>();
  readonly #failed = new Map<number, { readonly error: unknown; readonly untilMs: number }>();

  constructor(options: EarlierOptions<T>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The entry whose tables are being made. */
  get making(): number | undefined {
    return this.#making;
  }

  /** Whether the tables of an entry, or of any entry, are to be made. */
  isQueued(at?: number): boolean {
    return at === undefined ? this.#queue.size > 0 : this.#queue.has(at);
  }

  /**
   * The generation of an entry. The query is expected until `came` is called.
   * @param key the generation's key must be the same, because other catalogs have other columns
   */
  get(at: number, key: string, asker: Asker): T | undefined {
    const kept = this.#kept.get(at);
    if (kept?.contents.key !== key) return undefined;
    this.#expect(at, asker);
    this.#kept.delete(at);
    this.#kept.set(at, kept);
    return kept;
  }

  /** To be called when the query uses the generation of its entry. */
  came(at: number, { key }: Asker): void {
    const expected = this.#expected.get(at);
    if (expected?.delete(key) && expected.size === 0) this.#expected.delete(at);
  }

  /**
   * Requests the tables of an entry.
   * @returns resolves when they are made, and rejects if that fails; undefined if too many entries wait, or too many of
   * this client
   * @throws the error with which making them has just failed
   */
  request(at: number, asker: Asker): Promise<void> | undefined {
    const failed = this.#failed.get(at);
    if (failed && this.#now() < failed.untilMs) throw failed.error;
    this.#failed.delete(at);
    let queued = this.#queue.get(at);
    if (!queued) {
      const own = [...this.#queue.values()].filter(({ client }) => client === asker.client);
      if (this.#queue.size >= MAX_QUEUED || own.length >= MAX_QUEUED / 2) return undefined;
      queued = { client: asker.client, made: Promise.withResolvers() };
      queued.made.promise.catch(() => {});
      this.#queue.set(at, queued);
    }
    this.#expect(at, asker);
    this.next();
    return queued.made.promise;
  }

  /** Starts to make the tables of the next entry, if that is possible now. */
  next(): void {
    if (this.#making !== undefined) return;
    // Their queries have gone.
    for (const at of this.#queue.keys()) if (!this.#isExpected(at)) this.#queue.delete(at);
    const [first] = this.#queue;
    if (!first) return;
    const [at, { made }] = first;
    const replaced = this.#replacedBy(at);
    if (replaced === undefined && !this.#hasRoom) return;
    const making = this.#options.make(at, replaced === undefined ? undefined : () => this.remove(replaced));
    if (making) void this.#finish(at, making, made);
  }

  async #finish(at: number, making: Promise<T>, made: Queued['made']): Promise<void> {
    this.#making = at;
    try {
      this.keep(await making);
      made.resolve();
    } catch (error) {
      reportFailure(error);
      for (const [each, { untilMs }] of this.#failed) if (untilMs < this.#now()) this.#failed.delete(each);
      this.#failed.set(at, { error, untilMs: this.#now() + FAILED_MS });
      made.reject(error);
    } finally {
      this.#making = undefined;
      this.#queue.delete(at);
    }
  }

  /** The entry whose tables are replaced: those of other catalogs, or, if there is no room, of the least recently used. */
  #replacedBy(at: number): number | undefined {
    if (this.#kept.has(at)) return at;
    if (this.#hasRoom) return undefined;
    return [...this.#kept.keys()].find(each => !this.#kept.get(each)!.isUsed && !this.#isExpected(each));
  }

  get #hasRoom(): boolean {
    return this.#kept.size < this.#options.maxKept;
  }

  keep(generation: T): void {
    this.#kept.set(generation.contents.sequence, generation);
  }

  remove(at: number): void {
    const kept = this.#kept.get(at);
    this.#kept.delete(at);
    if (kept) this.#options.drop(kept);
  }

  /** @param why the reason why the state after an entry can no longer be read; undefined if it can */
  removeWhere(why: (at: number) => string | undefined): void {
    for (const at of [...this.#kept.keys(), ...this.#queue.keys()]) {
      if (why(at) === undefined) continue;
      this.remove(at);
      this.#expected.delete(at);
    }
  }

  #expect(at: number, { key }: Asker): void {
    const expected = this.#expected.get(at) ?? new Map<string, number>();
    expected.set(key, this.#now() + EXPECTED_MS);
    this.#expected.set(at, expected);
  }

  #isExpected(at: number): boolean {
    const expected = this.#expected.get(at);
    for (const [key, untilMs] of expected ?? []) if (untilMs < this.#now()) expected!.delete(key);
    if (expected?.size === 0) this.#expected.delete(at);
    return this.#expected.has(at);
  }
}
