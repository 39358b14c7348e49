/** Query tasks: search the generation, read the database, write the answers' bytes. */

import { Piscina } from 'piscina';
import { traceOf } from '../src/error_text.ts';
import { StoreError } from '../src/store/store.ts';
import { AnswerFacts } from './encode.ts';
import { unpackQueries } from './messages.ts';
import { openedIndex } from './opened_index.ts';
import { coneAnswer } from './queries/cone.ts';
import { Deadline, StaleIndex, TooExpensive } from './queries/context.ts';
import { countAnswer } from './queries/count.ts';
import { lookupAnswer } from './queries/lookup.ts';
import { recentAnswer } from './queries/recent.ts';
import type {
  MetricsAnswer,
  ProbeAnswer,
  PublishedGeneration,
  Query,
  QueryAnswers,
  QueryOutcome,
  QueryTask,
} from './tasks.ts';
import { currentStore, threadFacts } from './thread.ts';

let facts: AnswerFacts | undefined;
const encoder = new TextEncoder();

/** The answers of a batch, in its order. One query's failure leaves the others as they are. */
export function runQueries(task: QueryTask): QueryAnswers {
  const startedMs = performance.now();
  const texts: string[] = [];
  const ends: number[] = [];
  const outcomes: QueryOutcome[] = [];
  const faults: Record<number, string> = {};
  let length = 0;
  for (const { query, budgetMs } of unpackQueries(task.queries)) {
    const deadline = new Deadline(startedMs + budgetMs);
    try {
      deadline.check();
      const text = answer(query, task.generation, deadline);
      deadline.check();
      texts.push(text);
      length += text.length;
      outcomes.push('ok');
    } catch (error) {
      const outcome = classify(error, deadline);
      if (outcome !== 'too_expensive') faults[outcomes.length] = traceOf(error);
      outcomes.push(outcome);
    }
    ends.push(length);
  }
  const bytes = new ArrayBuffer(length);
  encoder.encodeInto(texts.join(''), new Uint8Array(bytes));
  return transferring({ bytes, ends, outcomes, faults }, bytes);
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

function classify(error: unknown, deadline: Deadline): QueryOutcome {
  if (error instanceof TooExpensive) return 'too_expensive';
  if (error instanceof StoreError) return deadline.passed ? 'too_expensive' : 'unreadable';
  return error instanceof StaleIndex ? 'stale_index' : 'fault';
}

function answer(query: Query, generation: PublishedGeneration, deadline: Deadline): string {
  const store = currentStore();
  facts ??= new AnswerFacts(threadFacts());
  const context = { store, facts, deadline, index: openedIndex(generation) };
  switch (query.kind) {
    case 'lookup':
      return lookupAnswer(query, context);
    case 'count':
      return countAnswer(query, context);
    case 'cone':
      return coneAnswer(query, context);
    case 'recent':
      return recentAnswer(query, context);
  }
}
