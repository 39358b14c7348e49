/** The start of queries: some are refused before any work is done. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildArena } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COUNT } from '../../../src/capabilities/objects/count.ts';
import { LOOKUP } from '../../../src/capabilities/objects/lookup_answer.ts';
import type { CountQuery, LookupQuery } from '../../../src/capabilities/objects/queries.ts';
import { AnswerMemory } from '../../../src/core/answers/answer_memory.ts';
import { QueryRunner } from '../../../src/core/answers/query_runner.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { collectNow } from '../../../src/core/base/shared_memory.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import type { PublishedGeneration } from '../../../src/core/generations/tasks.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';

import { openStore } from '../../../src/core/store/store.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('answers/query_runner');

function runner(state: Partial<ConstructorParameters<typeof QueryRunner>[0]> = {}): QueryRunner {
  const metrics = new ThreadMetrics();
  const fragments = new SharedFragments(answerSettings(loadConfig()));
  return new QueryRunner({
    generation: () => undefined,
    store: () => {
      throw new Error('the database is read');
    },
    whyNoAnswer: () => undefined,
    fragments: () => fragments,
    metrics,
    memory: new AnswerMemory({ limitMib: 16, state: new SharedState(), metrics }),
    onStaleIndex: () => {},
    writerOf: () => Promise.reject(new Error('there are no other formats')),
    log: () => {},
    ...state,
  });
}

test('a quick query whose budget was spent before it began is refused, and may be asked again [P4]', async () => {
  const query = { kind: LOOKUP, inputs: [], detail: 'ids' } as unknown as LookupQuery;
  const refusal = (budget: Budget) => {
    try {
      return runner().run(query, { client: 'one', budget });
    } catch (error) {
      return error as object;
    }
  };
  const late = new Budget(0.001);
  await sleep(5);
  const refused = refusal(late);
  assert.instance(refused, Unavailable);
  assert.match((refused as Error).message, /had to wait for too long/);
  assert.match(`${(refusal(new Budget(60)) as Error).message}`, /the index is not ready/);
});

test('an answered query keeps no arena: those that are replaced meanwhile would stay in memory', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const one = Float64Array.of(1);
    let buffer: SharedArrayBuffer | undefined = buildArena({ id: BigInt64Array.of(1n), ra: one, dec: one, time: one });
    const arena = new WeakRef(buffer);
    let generation: PublishedGeneration | undefined = {
      number: 1,
      sequence: 0,
      arenas: [buffer],
      purgedTo: [0],
      replacedBytes: 0,
    };
    const queries = runner({ generation: () => generation, store: () => store });
    const query = { kind: COUNT, inputs: [] } as unknown as CountQuery;
    assert.match(
      `${(await queries.run(query, { client: 'one', budget: new Budget(60) })).body}`,
      /"response":\s*"count"/,
    );
    buffer = generation = undefined;
    // A reference lives until the end of the turn that made it.
    await sleep(10);
    collectNow();
    assert.is(arena.deref(), undefined);
    assert.instance(queries, QueryRunner);
    await store.close();
  }));

test.run();
