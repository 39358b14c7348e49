/**
 * Runs a query on the thread that received the request: it searches the generation, reads the database, and writes the
 * body of the answer.
 */

import { ByteSink, latin1 } from '@nearsky/astrotables/bytes';
import { openGeneration, type SkyIndex } from '@nearsky/sky-index';
import type { Budget } from '../base/budget.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import type { DetailLevel } from '../contract/enums.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { ObjectView } from '../store/object_record.ts';
import type { StoredObjects } from '../store/objects_at.ts';
import { damageOf, StoreError } from '../store/store_error.ts';
import type { StoreReader } from '../store/store_reader.ts';
import { Admission, type Asker } from './admission.ts';
import { type AnswerMemory, type AnswerRoom, keep } from './answer_memory.ts';
import type { Body, QueryAnswer } from './body.ts';
import { Clock, type Past, type QueryContext, StaleIndex, type Steps, TOO_LONG } from './context.ts';
import { beginState, continueState, stateSteps } from './history.ts';
import { LongQueries } from './long_queries.ts';
import type { AnswerWriter, Query } from './queries.ts';
import type { SharedFragments } from './shared_fragments.ts';

/** A query that may have to read more objects than this is run as a long query from the start. */
const QUICK_OBJECTS = 100;
/**
 * Longer bodies are bytes, shorter ones are strings. The garbage collector treats bytes outside its heap as growing
 * garbage. If each short answer had a buffer, it would mark the whole heap several times a second.
 */
const MAX_TEXT_BYTES = 65_536;
/** The maximum number of idle desks. Each has buffers of up to 4 MiB. */
const MAX_IDLE = 6;
/** The approximate length of an object in an answer, by level of detail. Used to reserve memory before writing. */
const OBJECT_BYTES: Readonly<Record<DetailLevel, number>> = { ids: 150, position: 300, matches: 1000, full: 2500 };
/** The approximate length of a row in other answers. */
const ROW_BYTES = 1000;
/** Memory is reserved in advance for this many objects at most, because most queries find fewer than they may list. */
const MAX_EXPECTED = 10_000;
/** The memory of a table and its rows, as a multiple of the memory of the JSON. */
const TABLE_FACTOR = 3;
const MSGPACK_FACTOR = 2;

interface QueryRunnerOptions {
  readonly generation: () => PublishedGeneration | undefined;
  /** @throws StoreError */
  readonly store: () => StoreReader;
  /** Why the database must not be read now, as a clause after "because"; undefined if it may be read. */
  readonly whyNoAnswer: () => string | undefined;
  /** The current fragments of answers. A query uses the same fragments from start to end. */
  readonly fragments: () => SharedFragments;
  readonly metrics: ThreadMetrics;
  /** Called with the number of a generation that turned out to belong to another database. */
  readonly onStaleIndex: (generation: number) => void;
  readonly memory: AnswerMemory;
  readonly log: Log;
  /** Loads the writer of a format, and the library that it needs. */
  readonly writerOf: (format: Format) => Promise<AnswerWriter>;
}

type Format = NonNullable<Query['format']>;

/** The data and buffers with which one query at a time is answered. */
class Desk implements QueryContext {
  readonly clock = new Clock();
  readonly object = new ObjectView();
  readonly out = new ByteSink();
  readonly body = new ByteSink();
  declare fragments: SharedFragments;
  declare store: StoreReader;
  declare index: SkyIndex;
  declare sequence: number;
  declare purgedTo: readonly number[];
  /** The number of the generation that the desk searches. */
  declare generation: number;
  declare stored: StoredObjects;
  declare past: Past | undefined;
  declare query: Query;
  /** Undefined before the first step. */
  steps: Steps | undefined;
  /** The memory for the answer to a long query. */
  room: AnswerRoom | undefined;
}

export class QueryRunner {
  readonly #options: QueryRunnerOptions;
  readonly #admission: Admission;
  readonly #long: LongQueries<QueryAnswer>;
  readonly #idle: Desk[] = [];
  /** Loaded on first use. */
  readonly #writers = new Map<Format, AnswerWriter>();

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
    this.#admission = new Admission(options.metrics);
    this.#long = new LongQueries(this.#admission, () => options.metrics.get('connectionsTotal'));
  }

  /** @throws Unavailable if the answer to a long query would be too late, or the client has reached its share */
  requireRoom(asker: Asker): void {
    this.#admission.requireRoom(asker);
  }

  /**
   * Answers a query. Returns the answer at once if the query takes only one step, and otherwise a promise.
   * @throws TooExpensive; Unavailable if there is no index or no readable database, too many long queries wait, or this
   * one has waited for most of its budget. Any other error is a bug. The promise is rejected with the same errors
   */
  run(query: Query, asker: Asker): QueryAnswer | Promise<QueryAnswer> {
    const { budget } = asker;
    if (budget.spent) throw new Unavailable(TOO_LONG);
    if (query.format && !this.#writers.has(query.format)) return this.#runWhenLoaded(query.format, query, asker);
    if (!isLong(query)) {
      const desk = this.#begin(query, budget);
      return this.#step(desk) ?? this.#long.goOn({ budget, client: asker.client, step: () => this.#step(desk) });
    }
    this.#requireGeneration();
    const { client } = asker;
    let room: AnswerRoom | undefined;
    let desk: Desk | undefined;
    return this.#long.answer({
      budget,
      client,
      reserve: () => (room = this.#options.memory.reserve(bytesOf(query), client)) !== undefined,
      step: () => this.#step((desk ??= this.#begin(query, budget, room))),
    });
  }

  async #runWhenLoaded(format: Format, query: Query, asker: Asker): Promise<QueryAnswer> {
    this.#writers.set(format, await this.#options.writerOf(format));
    return await this.run(query, asker);
  }

  #requireDatabase(): void {
    const why = this.#options.whyNoAnswer();
    if (why !== undefined) throw new Unavailable(why);
  }

  #requireGeneration(): PublishedGeneration {
    const { generation } = this.#options;
    this.#requireDatabase();
    const current = generation();
    if (!current) throw new Unavailable('the index is not ready');
    return current;
  }

  #begin(query: Query, budget: Budget, room?: AnswerRoom): Desk {
    const desk = this.#idle.pop() ?? new Desk();
    desk.room = room;
    desk.clock.begin(budget);
    try {
      const generation = this.#requireGeneration();
      desk.fragments = this.#options.fragments();
      desk.generation = generation.number;
      desk.store = this.#options.store();
      desk.index = openedIndex(generation);
      desk.sequence = generation.sequence;
      desk.purgedTo = generation.purgedTo;
    } catch (error) {
      this.#putBack(desk);
      throw this.#failure(error, desk);
    }
    desk.query = query;
    return desk;
  }

  /** Does one step. Returns the answer after the last step. */
  #step(desk: Desk): QueryAnswer | undefined {
    const { store, clock, query, out, body } = desk;
    try {
      this.#requireDatabase();
      // Makes all committed changes visible.
      store.resetRead();
      clock.resume();
      void clock.due;
      if (desk.steps) continueState(desk);
      else desk.steps = this.#stepsFrom(beginState(query, desk), desk);
      const isDone = desk.steps.next().done;
      desk.room?.cover(out.length + body.length);
      if (!isDone) {
        clock.pause();
        return undefined;
      }
      void clock.due;
    } catch (error) {
      this.#putBack(desk);
      throw this.#failure(error, desk);
    }
    const answered = { body: bodyOf(desk), entry: desk.stored.entry };
    this.#putBack(desk);
    return answered;
  }

  #stepsFrom(query: Query, desk: Desk): Steps {
    const { format } = query;
    const steps = format ? this.#writers.get(format)!(query, desk) : query.kind.answer(query, desk);
    const before = stateSteps(query, desk);
    return before ? joined(before, steps) : steps;
  }

  #putBack(desk: Desk): void {
    // An idle desk may wait for long, and would keep arenas that were replaced meanwhile.
    desk.index = desk.query = desk.past = desk.steps = undefined!;
    desk.out.clear();
    desk.body.clear();
    desk.room?.shrink(0);
    desk.room = undefined;
    if (this.#idle.length < MAX_IDLE) this.#idle.push(desk);
  }

  /** Converts an error into one that clients may see. The details of the original are logged. */
  #failure(error: unknown, { clock, generation }: Desk): unknown {
    const { log, metrics, onStaleIndex } = this.#options;
    if (error instanceof StaleIndex) {
      log('index_stale', { error: messageOf(error) });
      onStaleIndex(generation);
      return new Unavailable('the index is being rebuilt');
    }
    const damage = damageOf(error);
    if (damage) {
      metrics.add('damagedValues', 1);
      log('database_damaged', { error: messageOf(damage) });
      return new Unavailable('a part of the database is damaged');
    }
    if (!(error instanceof StoreError)) return error;
    const { lateness } = clock;
    if (lateness) return lateness;
    log('database_unreadable', { error: messageOf(error) });
    return new Unavailable('the database cannot be read');
  }
}

/** The written bytes. A long body keeps its reservation until it is freed. */
function bodyOf(desk: Desk): Body {
  const { out } = desk;
  if (out.length <= MAX_TEXT_BYTES) return latin1(out.bytes.subarray(0, out.length));
  const body = out.take();
  keep(body, desk.room);
  desk.room = undefined;
  return body;
}

function* joined(first: Steps, then: Steps): Steps {
  yield* first;
  yield* then;
}

/** Whether a query may have to read more objects than one step can handle. */
function isLong(query: Query): boolean {
  return query.kind.objects(query) > QUICK_OBJECTS;
}

/** The approximate number of bytes in use while the answer is being written. */
function bytesOf(query: Query): number {
  const { kind, detail, format } = query;
  if (query.response === 'count') return ROW_BYTES;
  const objects = Math.min(kind.listed?.(query) ?? kind.objects(query), MAX_EXPECTED);
  return objects * (detail ? OBJECT_BYTES[detail] : ROW_BYTES) * factorOf(format);
}

function factorOf(format: Query['format']): number {
  if (!format) return 1;
  return format === 'msgpack' ? MSGPACK_FACTOR : TABLE_FACTOR;
}

/** The generation that this thread searches. It is opened once, and released when the generation is replaced. */
const opened = new WeakMap<PublishedGeneration, SkyIndex>();

function openedIndex(generation: PublishedGeneration): SkyIndex {
  let index = opened.get(generation);
  if (!index) opened.set(generation, (index = openGeneration(generation)));
  return index;
}
