/** Answers in several steps, between which objects change, are from one state. */
import { ByteSink, latin1 } from '@nearsky/astrotables/bytes';
import { Arena, buildArena, SkyIndex } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OBJECTS_QUERY, type ObjectsQuery } from '../../../src/capabilities/listing/listing_answer.ts';
import { ALL_TIME } from '../../../src/capabilities/listing/selection_params.ts';
import { CONE } from '../../../src/capabilities/objects/cone_answer.ts';
import { COUNT } from '../../../src/capabilities/objects/count.ts';
import { LOOKUP } from '../../../src/capabilities/objects/lookup_answer.ts';
import type { ConeQuery, CountQuery, LookupInput, LookupQuery } from '../../../src/capabilities/objects/queries.ts';
import { Clock, NotInHistory, type QueryContext } from '../../../src/core/answers/context.ts';
import { beginState, continueState, stateSteps } from '../../../src/core/answers/history.ts';
import type { FilterValues } from '../../../src/core/answers/queries.ts';
import { RemovedSince } from '../../../src/core/answers/removed_since.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { apply } from '../../../src/core/store/apply.ts';
import { ObjectView } from '../../../src/core/store/object_record.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { RefusedChange } from '../../../src/core/store/store_error.ts';
import { RandomChanges } from '../../core/store/random_changes.ts';
import { delivery, failure, withStore } from '../../core/store/support.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite('answers/history');

const SEEDS = Number(process.env.TEST_SEEDS ?? 1);
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

/** A clock by which a step ends after a few checks. */
class ShortSteps extends Clock {
  #checks = 0;

  override resume(): void {
    this.#checks = 0;
  }

  override get due(): boolean {
    return ++this.#checks >= INPUTS.length / STEPS;
  }
}

type Asked = LookupQuery | CountQuery | ObjectsQuery | ConeQuery;
type Generation = Pick<QueryContext, 'index' | 'sequence' | 'purgedTo'>;

function queryOf(i: number, at?: number): Asked {
  const filters = FILTERS[i % FILTERS.length]!;
  const state = { at, isRequired: at !== undefined };
  if (i % 5 === 4) {
    const timeField = i % 2 === 0 ? 'ingest_time' : 'event_time';
    const window = { start: null, end: null };
    const page = { detail: 'full', pageSize: 1000, asOfUs: Number.MAX_SAFE_INTEGER, after: null, window } as const;
    const query: ObjectsQuery = {
      kind: OBJECTS_QUERY,
      response: 'objects',
      filters,
      state,
      timeField,
      status: 'any',
      ...ALL_TIME,
      ...page,
    };
    return query;
  }
  const shared = { inputs: INPUTS, filters, state };
  if (i % 4 === 0) return { ...shared, kind: COUNT };
  const detail = i % 4 === 1 ? 'matches' : 'full';
  return { ...shared, kind: LOOKUP, detail, maxObjectsPerInput: 1, maxObjects: INPUTS.length };
}

/**
 * @param between called after each step
 * @param generation only needed for cones
 */
function answer(store: Store, query: Asked, between: () => unknown, generation?: Generation) {
  const [out, body] = [new ByteSink(), new ByteSink()];
  const fragments = new SharedFragments(answerSettings(loadConfig()));
  const context = { store, fragments, out, body, clock: new ShortSteps(), object: new ObjectView() };
  const desk = { ...context, ...generation } as unknown as QueryContext & { readonly store: Store };
  store.resetRead();
  const begun = beginState(query, desk);
  for (const steps of [stateSteps(query, desk) ?? [], begun.kind.answer(begun, desk)])
    for (const _ of steps) {
      between();
      store.resetRead();
      desk.clock.resume();
      continueState(desk);
    }
  return { text: latin1(out.bytes.subarray(0, out.length)), entry: desk.stored.entry };
}

test('an answer during whose steps objects change has the bytes of its entry, whenever it is asked again [The state after an entry]', async () => {
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
        return { ...answer(store, query, change), present: answer(store, queryOf(i), () => {}).text };
      });
      assert.ok(kept.some(({ text, present }) => text !== present));
      for (const [i, { text, entry }] of kept.entries())
        assert.ok(answer(store, queryOf(i, entry), change).text === text, `seed ${seed}, answer ${i}, entry ${entry}`);
    });
  }
});

const PAGE = 10;
const coneAt = (at: number): ConeQuery => ({
  kind: CONE,
  ...delivery(0n).position!,
  radiusArcsec: 1,
  sent: '{}',
  detail: 'ids',
  filters: null,
  pageSize: PAGE,
  asOfUs: 0,
  after: null,
  state: { at, isRequired: true },
});

const listingAt = (at: number) => ({ ...(queryOf(4, at) as ObjectsQuery), filters: null, pageSize: PAGE });

/** An index of one arena. */
function generationOf(ids: readonly bigint[], timeUs: number, sequence: number, purgedTo: number): Generation {
  const { ra, dec } = delivery(0n).position!;
  const column = (value: number) => Float64Array.from(ids, () => value);
  const points = { id: BigInt64Array.from(ids), ra: column(ra), dec: column(dec), time: column(timeUs) };
  return { index: new SkyIndex([new Arena(buildArena(points))]), sequence, purgedTo: [purgedTo] };
}

const idsIn = (text: string) => Array.from(text.matchAll(/"diaObjectId_str": "(\d+)"/g), ([, id]) => id);

test('a cone is of its entry, whether the index is early or late to follow a removal', () =>
  withStore(async (store, writer) => {
    const TIME_US = 1.7e15;
    await writer.keepHistory(true);
    await writer.ingest([delivery(1n), delivery(2n)], TIME_US);
    await writer.remove([2n], 'wrong');
    await writer.ingest([delivery(3n, { position: null })], TIME_US);
    const found = (at: number, generation: Generation) =>
      idsIn(answer(store, coneAt(at), () => {}, generation).text).join();
    for (const sequence of [1, 2, 3]) {
      const late = generationOf([1n, 2n], TIME_US, sequence, 1);
      const early = generationOf([1n], TIME_US, sequence, 2);
      for (let at = 1; at <= sequence; at++)
        for (const generation of [late, early]) assert.is(found(at, generation), at === 1 ? '1,2' : '1');
    }
  }));

test('an answer has the objects that are removed during its steps, also if another query reads their removal', () =>
  withStore(async (store, writer) => {
    const TIME_US = 1.7e15;
    const ids = Array.from({ length: 100 }, (_, i) => BigInt(i));
    const generation = generationOf(ids, TIME_US, 1, 1);
    await writer.keepHistory(true);
    await writer.ingest(
      ids.map(id => delivery(id)),
      TIME_US,
    );
    await writer.remove([0n], 'wrong');
    const query = { ...coneAt(1), pageSize: ids.length };
    let steps = 0;
    const removeOthers = () => {
      if (steps++ > 0) return;
      apply(store.databases, { kind: 'remove', ids: ids.slice(1), reason: 'wrong', timeUs: TIME_US });
      answer(store, coneAt(1), () => {}, generation);
    };
    const { text } = store.databases.objects.transactionSync(() => answer(store, query, removeOthers, generation));
    assert.ok(steps > 1);
    assert.equal(idsIn(text), ids.map(String));
  }));

test('what was removed since an entry is read in steps, and once for all queries [The state after an entry]', () =>
  withStore(async (store, writer) => {
    const TIME_US = 1.7e15;
    const ids = Array.from({ length: 2000 }, (_, i) => BigInt(i));
    const generation = generationOf([], TIME_US, 2, 2);
    await writer.keepHistory(true);
    for (const ask of [coneAt, listingAt]) {
      const entry = store.lastSequence() + 1;
      await writer.ingest(
        ids.map(id => delivery(id)),
        TIME_US,
      );
      await writer.remove(ids.slice(1), 'wrong');
      let steps = 0;
      const counted = () => {
        steps = 0;
        const { text } = answer(store, ask(entry), () => steps++, { ...generation, sequence: entry });
        assert.is(new Set(idsIn(text)).size, PAGE);
        return steps;
      };
      const first = counted();
      const second = counted();
      const tooMany = new RemovedSince(store, entry, 1000);
      const refusal = await failure(() => [...tooMany.read(new ShortSteps())]);
      assert.instance(refusal, NotInHistory);
      assert.match(refusal.message, new RegExp(`^at must be later.*got ${entry}.*more than 1000 objects`));
      assert.ok(first > second + STEPS, `${first} steps, then ${second}`);
      await writer.remove(ids, 'wrong');
    }
  }));

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
