/**
 * Runs queries that take more than one step, with one step per iteration of the event loop, so a new request waits for
 * one step at most. The next step goes to the client that has used the least time recently. The queries of one client
 * take turns.
 */
import { ClientAdmission } from '../base/client_admission.ts';
import { Unavailable } from '../base/refusal.ts';
import { afterThisIteration } from '../base/runtime.ts';
import { Share } from '../base/share.ts';
import { type Admission, type Asker, MAX_UNANSWERED, MAX_WAIT } from './admission.ts';
import { TOO_LONG } from './context.ts';

/** A query that is answered in steps. */
interface Stepped<Answer> extends Asker {
  /** Does one step. Returns the answer after the last step. If it throws, the error is the query's result. */
  step(): Answer | undefined;
}

/** A query before its first step. */
export interface NotBegun<Answer> extends Stepped<Answer> {
  /**
   * Tries to reserve the memory of the query, and returns whether that succeeded. It is called again until it succeeds.
   * Then the first step follows.
   */
  reserve(): boolean;
}

/**
 * The maximum number of started queries, half of them for one client. Those that `goOn` continues do not count. Other
 * queries hold no memory yet, and may still be refused.
 */
const MAX_BEGUN = 4;
/**
 * After this time, the time of a step counts only 1/e. It is as short as the wait that admission allows. With a longer
 * one, a client that had run alone would stand still beside a new client.
 */
const FADES_MS = 1000;
/** The interval between checks of the waiting queries. */
const SWEEP_MS = 50;
/** The interval between attempts to reserve memory, if there is nothing else to do. */
const RESERVE_MS = 10;
/** For how long steps give way to new connections. */
const ACCEPT_MS = 10;

interface Entry<Answer, Query = Stepped<Answer>> {
  readonly query: Query;
  /** Whether the query counts towards `MAX_BEGUN`. */
  readonly isLong: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting<Answer> extends Entry<Answer, NotBegun<Answer>> {
  /** When the wait for memory ends, by `performance.now()`. */
  readonly patientUntilMs: number;
  /** Whether the query waits for memory. */
  lacksMemory: boolean;
}

export class LongQueries<Answer> {
  readonly #admission: Admission;
  /** The time that each client has used recently. */
  readonly #use: ClientAdmission;
  readonly #now: () => number;
  /** The started queries. The first query of each client has that client's next turn. */
  readonly #begun: Entry<Answer>[] = [];
  /** The queries that have not started, in the order of their arrival. */
  readonly #waiting: Waiting<Answer>[] = [];
  readonly #accepted: () => number;
  #isStepping = false;
  #sweptMs = 0;
  #acceptedBefore = 0;
  /** Since when steps have given way to new connections, by `#now`; 0 if they do not. */
  #makesWaySinceMs = 0;

  /**
   * @param accepted returns the number of connections accepted so far
   * @param now a monotonic clock, milliseconds
   */
  constructor(admission: Admission, accepted: () => number = () => 0, now = () => performance.now()) {
    this.#admission = admission;
    this.#use = new ClientAdmission(now, FADES_MS);
    this.#now = now;
    this.#accepted = accepted;
  }

  /**
   * Answers a query in its turn.
   * @throws Unavailable if the query would have to wait too long, has waited until the end of its budget, or has waited
   * for memory for a fifth of its budget
   */
  async answer(query: NotBegun<Answer>): Promise<Answer> {
    this.#admission.requireRoom(query);
    return await new Promise((resolve, reject) => {
      const patientUntilMs = this.#now() + MAX_WAIT * query.budget.remainingMs;
      this.#waiting.push({ query, isLong: true, resolve, reject, patientUntilMs, lacksMemory: false });
      this.#added(query);
    });
  }

  /**
   * Continues a query that has done its first step. It does not wait for other queries to end.
   * @throws Unavailable if too many such queries, or too many queries of this client, are not answered yet
   */
  async goOn(query: Stepped<Answer>): Promise<Answer> {
    this.#admission.requireShare(query.client);
    if (this.#begun.length >= MAX_UNANSWERED) throw this.#admission.refusal('too many queries are running');
    return await new Promise((resolve, reject) => {
      this.#begun.push({ query, isLong: false, resolve, reject });
      this.#added(query);
    });
  }

  #added({ client }: Stepped<Answer>): void {
    this.#admission.begin(client);
    this.#stepSoon();
  }

  #stepSoon(): void {
    if (this.#isStepping) return;
    this.#isStepping = true;
    const step = () => {
      if (this.#makesWay()) {
        afterThisIteration(step);
        return;
      }
      this.#isStepping = false;
      this.#refuseLate();
      this.#step();
      if (this.#begun.length + this.#waiting.length > 0) this.#stepSoon();
    };
    if (this.#begun.length === 0 && this.#waiting[0]?.lacksMemory) setTimeout(step, RESERVE_MS);
    else afterThisIteration(step);
  }

  /**
   * Whether to skip the step of this iteration, because a connection was accepted. libuv accepts one connection per
   * iteration, so with a step in each iteration, every new client would wait for one more step.
   */
  #makesWay(): boolean {
    const accepted = this.#accepted();
    const isNew = accepted !== this.#acceptedBefore;
    this.#acceptedBefore = accepted;
    const nowMs = this.#now();
    if (isNew) this.#makesWaySinceMs ||= nowMs;
    if (isNew && nowMs < this.#makesWaySinceMs + ACCEPT_MS) return true;
    this.#makesWaySinceMs = 0;
    return false;
  }

  /**
   * Starts the waiting queries for which there is memory. A query that needs little memory does not wait for one that
   * needs much.
   */
  #begin(): void {
    const long = this.#begun.flatMap(({ isLong, query }) => (isLong ? query : []));
    const begun = new Share(MAX_BEGUN, long);
    const mayBegin = ({ query }: Entry<Answer>) => begun.left(query.client) > 0;
    for (const entry of this.#inTurn(this.#waiting.filter(mayBegin))) {
      if (!mayBegin(entry)) continue;
      const { query } = entry;
      if (query.budget.spent) this.#refuse(entry, new Unavailable(TOO_LONG));
      else if (query.reserve()) {
        this.#remove(entry);
        this.#begun.push(entry);
        begun.add(query.client);
      } else entry.lacksMemory = true;
    }
  }

  /** Sorts entries by the time that their clients have used. */
  #inTurn<E extends Entry<Answer>>(entries: readonly E[]): E[] {
    const use = new Map(entries.map(({ query: { client } }) => [client, this.#use.cpuOf(client)]));
    return entries.toSorted((a, b) => use.get(a.query.client)! - use.get(b.query.client)!);
  }

  #step(): void {
    this.#begin();
    const [entry] = this.#inTurn(this.#begun);
    if (!entry) return;
    const { client } = entry.query;
    this.#begun.splice(this.#begun.indexOf(entry), 1);
    const beganMs = this.#now();
    try {
      const answer = entry.query.step();
      if (answer === undefined) {
        this.#begun.push(entry);
        return;
      }
      entry.resolve(answer);
    } catch (error) {
      entry.reject(error);
    } finally {
      this.#use.addCpu(client, (this.#now() - beganMs) / 1000);
    }
    this.#admission.end(client, true);
  }

  #refuseLate(): void {
    const nowMs = this.#now();
    if (nowMs < this.#sweptMs + SWEEP_MS) return;
    this.#sweptMs = nowMs;
    for (const entry of [...this.#waiting]) {
      const { query, lacksMemory, patientUntilMs } = entry;
      if (query.budget.spent) this.#refuse(entry, new Unavailable(TOO_LONG));
      else if (lacksMemory && nowMs >= patientUntilMs)
        this.#refuse(entry, this.#admission.refusal('other answers use the memory that this one needs'));
    }
  }

  /** A query that has not started was not too expensive: it may succeed at another time (decision P4). */
  #refuse(entry: Waiting<Answer>, error: Unavailable): void {
    this.#remove(entry);
    entry.reject(error);
    this.#admission.end(entry.query.client, false);
  }

  #remove(entry: Waiting<Answer>): void {
    this.#waiting.splice(this.#waiting.indexOf(entry), 1);
  }
}
