/** Query tasks: search the generation, read the database, write the answers' bytes. */

import { Piscina } from 'piscina';
import { traceOf } from '../src/error_text.ts';
import { ObjectView } from '../src/store/object_record.ts';
import { StoreError } from '../src/store/store.ts';
import { ByteSink, latin1 } from './bytes.ts';
import { AnswerFacts } from './facts.ts';
import { unpackQueries } from './messages.ts';
import { type Transcode, writeMsgpack } from './msgpack.ts';
import { openedIndex } from './opened_index.ts';
import { coneAnswer } from './queries/cone.ts';
import { Clock, type QueryContext, StaleIndex, type Steps, TooExpensive } from './queries/context.ts';
import { countAnswer } from './queries/count.ts';
import { lookupAnswer } from './queries/lookup.ts';
import { mocAnswer } from './queries/moc.ts';
import { recentAnswer } from './queries/recent.ts';
import { voConeAnswer } from './queries/vo_cone.ts';
import { MAX_CROSSING_TEXT, nextTurn } from './runtime.ts';
import type { MetricsAnswer, ProbeAnswer, Query, QueryAnswers, QueryOutcome, QueryTask } from './tasks.ts';
import { currentStore, threadFacts } from './thread.ts';

/** A larger buffer than this is not used again: it is given away as it is, with what is unused of it, not copied. */
const MAX_KEPT_BYTES = 1 << 22;

let facts: AnswerFacts | undefined;

/** What a task writes to; another may run while it lets others go ahead. */
interface Sinks {
  readonly out: ByteSink;
  readonly body: ByteSink;
}

const idle: Sinks[] = [];
const object = new ObjectView();

/** The answers of a batch, in its order. One query's failure leaves the others as they are. */
export async function runQueries(task: QueryTask): Promise<QueryAnswers> {
  const startedMs = performance.now();
  const clock = new Clock();
  clock.resume();
  const sinks = idle.pop() ?? { out: new ByteSink(), body: new ByteSink() };
  const { out, body } = sinks;
  out.length = 0;
  const ends: number[] = [];
  const outcomes: QueryOutcome[] = [];
  const faults: Record<number, string> = {};
  let context: QueryContext | undefined;
  for (const { query, budgetMs } of unpackQueries(task.queries)) {
    clock.begin(startedMs + budgetMs);
    body.length = 0;
    try {
      void clock.due;
      context ??= contextOf(task, clock, sinks);
      const transcode = query.format && (await transcoderOf(query.format));
      if (transcode) clock.resume();
      const steps = transcode ? answerInFormat(query, transcode, context) : answer(query, context);
      while (!steps.next().done) {
        await nextTurn();
        clock.resume();
      }
      void clock.due;
      outcomes.push('ok');
    } catch (error) {
      out.length = ends.at(-1) ?? 0;
      const outcome = classify(error, clock);
      if (outcome !== 'too_expensive') faults[outcomes.length] = traceOf(error);
      outcomes.push(outcome);
    }
    ends.push(out.length);
  }
  const bodies = taken(sinks);
  const answers = { bodies, ends, outcomes, faults };
  return typeof bodies === 'string' ? answers : transferring(answers, bodies);
}

function contextOf({ generation }: QueryTask, clock: Clock, sinks: Sinks): QueryContext {
  facts ??= new AnswerFacts(threadFacts());
  return { store: currentStore(), facts, clock, index: openedIndex(generation), object, ...sinks };
}

/** What was written: a text, or a buffer to give away. */
function taken(sinks: Sinks): string | ArrayBuffer {
  const { out, body } = sinks;
  const isLarge = out.bytes.length > MAX_KEPT_BYTES;
  if (!isLarge && body.bytes.length <= MAX_KEPT_BYTES) idle.push(sinks);
  if (out.length <= MAX_CROSSING_TEXT) return latin1(out.bytes.subarray(0, out.length));
  return isLarge ? out.bytes.buffer : out.bytes.buffer.slice(0, out.length);
}

export function runProbe(): ProbeAnswer {
  const store = currentStore();
  store.requireInPlace();
  return { tnsSnapshotEpochUs: store.tnsSnapshotEpochUs(), latestIngestTimeUs: store.latestIngestTimeUs() };
}

export function runMetrics(): MetricsAnswer {
  const store = currentStore();
  return {
    ...runProbe(),
    lastSequence: store.lastSequence(),
    objects: store.entryCount('objects'),
    pending: store.entryCount('pending'),
    counters: store.counters(),
  };
}

/** Marks the value as one whose buffer Piscina hands over instead of copying it. */
function transferring<T>(value: T, buffer: ArrayBuffer): T {
  return Piscina.move({ [Piscina.transferableSymbol]: buffer, [Piscina.valueSymbol]: value } as never) as T;
}

function classify(error: unknown, clock: Clock): QueryOutcome {
  if (error instanceof TooExpensive) return 'too_expensive';
  if (error instanceof StoreError) return clock.passed ? 'too_expensive' : 'unreadable';
  return error instanceof StaleIndex ? 'stale_index' : 'fault';
}

/** Of a format: with the library that it needs, which is loaded when it is first asked for. */
async function transcoderOf(format: NonNullable<Query['format']>): Promise<Transcode> {
  if (format === 'msgpack') return (_query, json, from, out, clock) => writeMsgpack(json, from, out, clock);
  return (await import('./table.ts')).tableWriter(format);
}

/** Puts what `transcode` makes of the JSON in its place. */
function* answerInFormat(query: Query, transcode: Transcode, context: QueryContext): Steps {
  const { clock, out, body } = context;
  const start = out.length;
  yield* answer(query, context);
  body.length = 0;
  yield* transcode(query, out, start, body, clock);
  out.length = start;
  out.append(body);
}

function answer(query: Query, context: QueryContext): Steps {
  switch (query.kind) {
    case 'lookup':
      return lookupAnswer(query, context);
    case 'count':
      return countAnswer(query, context);
    case 'cone':
      return coneAnswer(query, context);
    case 'recent':
      return recentAnswer(query, context);
    case 'voCone':
      return voConeAnswer(query, context);
    case 'moc':
      return mocAnswer(query, context);
  }
}
