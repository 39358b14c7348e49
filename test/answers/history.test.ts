/** Answers in several steps, between which objects change, are from one state. */
import { ByteSink, latin1 } from '@nearsky/astrotables/bytes';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Clock, type QueryContext, type Steps } from '../../src/answers/context.ts';
import { countAnswer } from '../../src/answers/count.ts';
import { beginState, continueState } from '../../src/answers/history.ts';
import { lookupAnswer } from '../../src/answers/lookup.ts';
import { objectsAnswer } from '../../src/answers/objects.ts';
import type { CountQuery, FilterValues, LookupInput, LookupQuery, ObjectsQuery } from '../../src/answers/queries.ts';
import { SharedFragments } from '../../src/answers/shared_fragments.ts';
import { Unavailable } from '../../src/base/refusal.ts';
import { loadConfig } from '../../src/config/config.ts';
import { answerSettings } from '../../src/crossmatch/provenance.ts';
import { ALL_TIME } from '../../src/http/selection_params.ts';
import { apply } from '../../src/store/apply.ts';
import { ObjectView } from '../../src/store/object_record.ts';
import type { Store } from '../../src/store/store.ts';
import { RefusedChange } from '../../src/store/store_error.ts';
import { seededRandom } from '../oracle/skies.ts';
import { RandomChanges } from '../store/random_changes.ts';
import { delivery, failure, withStore } from '../store/support.ts';

const test = suite('answers/history');

const SEEDS = Number(process.env.NEARSKY_SEEDS ?? 1);
const ANSWERS = 40;
const STEPS = 12;
/** The ids of random changes, some of them twice. */
const INPUTS: LookupInput[] = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 20n, 0n].flatMap(first =>
  Array.from({ length: 16 }, (_, i) => {
    const diaObjectId = first + BigInt(i);
    return { kind: 'id', sent: `"${diaObjectId}"`, diaObjectId } as const;
  }),
);
const FILTERS: readonly (FilterValues | null)[] = [null, [['separation_arcsec_max', 0.5]], [['reliability_min', 0.2]]];

/** A clock by which a step ends after every few checks. */
class ShortSteps extends Clock {
  #checks = 0;

  override get due(): boolean {
    return ++this.#checks % Math.ceil(INPUTS.length / STEPS) === 0;
  }
}

type Query = LookupQuery | CountQuery | ObjectsQuery;

function queryOf(i: number, at?: number): Query {
  const filters = FILTERS[i % FILTERS.length]!;
  const state = { at, isRequired: at !== undefined };
  if (i % 5 === 4) {
    const timeField = i % 2 === 0 ? 'ingest_time' : 'event_time';
    const window = { start: null, end: null };
    const page = { detail: 'full', pageSize: 1000, asOfUs: Number.MAX_SAFE_INTEGER, after: null, window } as const;
    return { kind: 'objects', response: 'objects', filters, state, timeField, status: 'any', ...ALL_TIME, ...page };
  }
  const shared = { inputs: INPUTS, filters, state };
  if (i % 4 === 0) return { ...shared, kind: 'count' };
  const detail = i % 4 === 1 ? 'matches' : 'full';
  return { ...shared, kind: 'lookup', detail, maxObjectsPerInput: 1, maxObjects: INPUTS.length };
}

function stepsOf(query: Query, context: QueryContext): Steps {
  if (query.kind === 'objects') return objectsAnswer(query, context);
  return query.kind === 'count' ? countAnswer(query, context) : lookupAnswer(query, context);
}

/** @param between called after each step */
function answer(store: Store, query: Query, between: () => unknown): string {
  const [out, body] = [new ByteSink(), new ByteSink()];
  const fragments = new SharedFragments(answerSettings(loadConfig()));
  const context = { store, fragments, out, body, clock: new ShortSteps(), object: new ObjectView() };
  const desk = context as unknown as QueryContext;
  store.resetRead();
  const steps = stepsOf(beginState(query, desk) as Query, desk);
  while (!steps.next().done) {
    between();
    store.resetRead();
    continueState(query, desk);
  }
  return latin1(out.bytes.subarray(0, out.length));
}

test('an answer during whose steps objects change has the bytes of its entry, whenever it is asked again', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await withStore(async (store, writer) => {
      const changes = new RandomChanges(seededRandom(seed), true);
      const { databases } = store;
      const change = () =>
        databases.objects.transactionSync(() => {
          try {
            apply(databases, changes.change());
          } catch (error) {
            if (!(error instanceof RefusedChange)) throw error;
          }
        });
      await writer.keepHistory(true);
      const kept = Array.from({ length: ANSWERS }, (_, i) => {
        change();
        const query = queryOf(i);
        const text = answer(store, query, change);
        return { text, at: query.state!.at!, present: answer(store, queryOf(i), () => {}) };
      });
      assert.ok(kept.some(({ text, present }) => text !== present));
      for (const [i, { text, at }] of kept.entries())
        assert.ok(answer(store, queryOf(i, at), change) === text, `seed ${seed}, answer ${i}, entry ${at}`);
    });
  }
});

test('an answer whose history is removed between its steps is refused', () =>
  withStore(async (store, writer) => {
    await writer.keepHistory(true);
    await writer.ingest([delivery(1n)], 1.7e15);
    for (const i of [0, 1]) {
      const removals: Promise<void>[] = [];
      const error = await failure(() => answer(store, queryOf(i), () => removals.push(writer.keepHistory(false))));
      await Promise.all(removals);
      assert.instance(error, Unavailable);
      assert.is(error.message, 'the history of the objects was removed meanwhile');
      await writer.keepHistory(true);
    }
  }));

test.run();
