/**
 * The tables of earlier states: the editions that are kept, and the queue of journal entries whose tables are to be
 * made, one at a time, in the order of the first requests. A query that came too early is expected to come again. Until
 * it comes, or is late, no other entry replaces its tables.
 */
import { Share } from '../../core/base/share.ts';
import type { Contents, Edition } from './edition.ts';
import { reportFailure } from './engine_errors.ts';

/** The maximum length of the queue, half of it for one client. */
const MAX_QUEUED = 16;
/** How long a query is expected to come again. Clients are asked to retry after 30 s; jobs retry within seconds. */
const EXPECTED_MS = 120_000;
/** For this long after a failure to make tables, requests fail at once. */
const FAILED_MS = 30_000;

/** The query that requests tables. It comes again if it came too early. */
export interface Requester {
  readonly client: string;
  /** The same each time that the query comes. */
  readonly key: string;
}

interface Queued {
  /** The client that requested the entry first. */
  readonly client: string;
  readonly made: PromiseWithResolvers<void>;
}

/** The part of an edition that is used here. */
type Tables = Pick<Edition, 'isUsed'> & { readonly contents: Pick<Contents, 'key' | 'sequence'> };

interface EarlierOptions<T> {
  /** The maximum number of editions. */
  readonly maxKept: number;
  /**
   * Makes an edition.
   * @param replace to be called first; undefined if no other edition must be replaced
   * @returns undefined if it cannot be made now
   */
  readonly make: (at: number, replace: (() => void) | undefined) => Promise<T> | undefined;
  /** Removes an edition when no query reads it any more. */
  readonly drop: (edition: T) => void;
  /** A monotonic clock, milliseconds. The default is `performance.now`. */
  readonly now?: () => number;
}

export class EarlierStates<T extends Tables = Edition> {
  readonly #options: EarlierOptions<T>;
  readonly #now: () => number;
  /** The editions by their journal entries, in the order of their last use. */
  readonly #kept = new Map<number, T>();
  /** The entries whose tables are to be made, or are being made, in the order of the first requests. */
  readonly #queue = new Map<number, Queued>();
  #making: number | undefined;
  /** The expected queries by `expectedKey`, and the time until which each is expected, by `#now`. */
  readonly #expected = new Map<string, { readonly at: number; readonly untilMs: number }>();
  readonly #failed = new Map<number, { readonly error: unknown; readonly untilMs: number }>();

  constructor(options: EarlierOptions<T>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The entry whose tables are being made. */
  get making(): number | undefined {
    return this.#making;
  }

  /** Whether an entry, by default any, is in the queue. */
  isQueued(at?: number): boolean {
    return at === undefined ? this.#queue.size > 0 : this.#queue.has(at);
  }

  /**
   * The edition of an entry. The query is expected until `came` is called.
   * @param key the edition's key must be the same, because other catalogs have other columns
   */
  get(at: number, key: string, requester: Requester): T | undefined {
    const kept = this.#kept.get(at);
    if (kept?.contents.key !== key) return undefined;
    this.#expect(at, requester);
    this.#kept.delete(at);
    this.#kept.set(at, kept);
    return kept;
  }

  /** Call this when the query uses the edition of its entry. */
  came(at: number, requester: Requester): void {
    this.#expected.delete(expectedKey(at, requester));
  }

  /**
   * Requests the tables of an entry.
   * @returns resolves when they are made, and rejects if that fails; undefined if the queue is full, or the client's
   * half of it
   * @throws the error with which making them has just failed
   */
  request(at: number, requester: Requester): Promise<void> | undefined {
    const failed = this.#failed.get(at);
    if (failed && this.#now() < failed.untilMs) throw failed.error;
    this.#failed.delete(at);
    let queued = this.#queue.get(at);
    if (!queued) {
      if (new Share(MAX_QUEUED, this.#queue.values()).left(requester.client) <= 0) return undefined;
      queued = { client: requester.client, made: Promise.withResolvers() };
      queued.made.promise.catch(() => {});
      this.#queue.set(at, queued);
    }
    this.#expect(at, requester);
    this.next();
    return queued.made.promise;
  }

  /** Starts to make the tables of the next entry, if that is possible now. */
  next(): void {
    if (this.#making !== undefined) return;
    // Nobody waits for these any more.
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

  /**
   * The entry whose tables the new tables of `at` replace: `at` itself, if its tables have outdated columns, else the
   * least recently used entry.
   */
  #replacedBy(at: number): number | undefined {
    if (this.#kept.has(at)) return at;
    if (this.#hasRoom) return undefined;
    return [...this.#kept.keys()].find(each => !this.#kept.get(each)!.isUsed && !this.#isExpected(each));
  }

  get #hasRoom(): boolean {
    return this.#kept.size < this.#options.maxKept;
  }

  keep(edition: T): void {
    this.#kept.set(edition.contents.sequence, edition);
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
      for (const [key, expected] of this.#expected) if (expected.at === at) this.#expected.delete(key);
    }
  }

  #expect(at: number, requester: Requester): void {
    this.#expected.set(expectedKey(at, requester), { at, untilMs: this.#now() + EXPECTED_MS });
  }

  #isExpected(at: number): boolean {
    for (const [key, { untilMs }] of this.#expected) if (untilMs < this.#now()) this.#expected.delete(key);
    return [...this.#expected.values()].some(expected => expected.at === at);
  }
}

/** A query may be expected at several entries. */
const expectedKey = (at: number, { key }: Requester) => `${at} ${key}`;
