/** The start of queries: some are refused before any work is done. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerMemory } from '../../src/answers/answer_memory.ts';
import type { LookupQuery } from '../../src/answers/queries.ts';
import { QueryRunner } from '../../src/answers/query_runner.ts';
import { SharedFragments } from '../../src/answers/shared_fragments.ts';
import { Budget } from '../../src/base/budget.ts';
import { Unavailable } from '../../src/base/refusal.ts';
import { SharedState } from '../../src/base/shared_state.ts';
import { loadConfig } from '../../src/config/config.ts';
import { answerSettings } from '../../src/crossmatch/provenance.ts';
import { ThreadMetrics } from '../../src/metrics/thread_metrics.ts';

const test = suite('answers/query_runner');

function runner(): QueryRunner {
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
    log: () => {},
  });
}

test('a quick query whose budget was spent before it began is refused, and may be asked again', async () => {
  const query = { kind: 'lookup', inputs: [], detail: 'ids' } as unknown as LookupQuery;
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

test.run();
