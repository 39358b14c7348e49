/**
 * A thread stops a query when its time is spent, wherever it is, because it checks the time after each small piece of
 * work.
 */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CONE, coneAnswer } from '../../../src/capabilities/objects/cone_answer.ts';
import { COUNT, countAnswer } from '../../../src/capabilities/objects/count.ts';
import { LOOKUP, lookupAnswer } from '../../../src/capabilities/objects/lookup_answer.ts';
import type { LookupInput } from '../../../src/capabilities/objects/queries.ts';
import { RECENT, recentAnswer } from '../../../src/capabilities/recent/recent_answer.ts';
import { Clock, type QueryContext, type Steps } from '../../../src/core/answers/context.ts';
import type { FilterValues } from '../../../src/core/answers/queries.ts';
import { TooExpensive, Unavailable } from '../../../src/core/base/refusal.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { finish, OBJECTS, withObjects } from './spent_time.ts';
import { NOW_US } from './support.ts';

const test = suite('http/deadline');

/** How often the time may be checked before it is spent. */
const LOOKS = 20;
/** The same for a query that skips hundreds of objects between two checks. */
const FEW_LOOKS = 1;

/** Time that is spent after this number of checks. */
class Patience extends Clock {
  #left: number;

  constructor(looks: number) {
    super();
    this.#left = looks;
    this.begin({ startMs: 0, deadlineMs: 1 });
  }

  protected override now(): number {
    return this.#left-- > 0 ? 0 : 1;
  }
}

/** A clock that the test advances. */
class Hand extends Clock {
  ms = 0;

  protected override now(): number {
    return this.ms;
  }
}

/** A store that counts the objects that are read from it. */
function counting(store: Store): { readonly store: Store; readonly reads: () => number } {
  let reads = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name === 'readObject') reads++;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: counted, reads: () => reads };
}

test('every kind of query', () =>
  withObjects(({ store, ids, contextOf }) => {
    const circle = { ra: 150, dec: 2, radiusArcsec: 1 };
    const byId = ids.map((diaObjectId): LookupInput => ({ kind: 'id', sent: '1', diaObjectId }));
    const position: LookupInput[] = [{ kind: 'position', sent: '1', ...circle }];
    const limits = { maxObjectsPerInput: OBJECTS, maxObjects: OBJECTS };
    const filters: FilterValues = [['gaia_dr3.ruwe_max', 5]];
    const detail = 'full';
    const page = { asOfUs: NOW_US, pageSize: OBJECTS, after: null, detail } as const;
    const window = { startUs: NOW_US, endUs: NOW_US + 1, window: { start: '', end: '' } };
    const queries: Record<string, (context: QueryContext) => Steps> = {
      ids: context => lookupAnswer({ kind: LOOKUP, inputs: byId, detail, filters: null, ...limits }, context),
      position: context => lookupAnswer({ kind: LOOKUP, inputs: position, detail, filters: null, ...limits }, context),
      marks: context =>
        lookupAnswer({ kind: LOOKUP, inputs: position, detail, filters, ...limits, maxObjects: 0 }, context),
      count: context => countAnswer({ kind: COUNT, inputs: position, filters: null }, context),
      'count of ids': context => countAnswer({ kind: COUNT, inputs: byId, filters }, context),
      cone: context => coneAnswer({ kind: CONE, sent: '1', ...circle, ...page, filters: null }, context),
      'marks of a cone': context =>
        coneAnswer({ kind: CONE, sent: '1', ...circle, ...page, pageSize: 1, filters }, context),
      recent: context => recentAnswer({ kind: RECENT, timeField: 'ingest_time', ...window, ...page }, context),
    };
    for (const [name, run] of Object.entries(queries)) {
      const whole = counting(store);
      finish(run(contextOf(whole.store, new Patience(Number.POSITIVE_INFINITY))));
      assert.ok(whole.reads() >= OBJECTS, `${name} reads every object`);
      const cut = counting(store);
      assert.throws(
        () => finish(run(contextOf(cut.store, new Patience(LOOKS)))),
        (error: unknown) => error instanceof TooExpensive,
        name,
      );
      assert.ok(cut.reads() <= LOOKS, `${name} stops after ${cut.reads()} objects`);
    }

    const before = { startUs: 0, endUs: NOW_US, window: window.window, asOfUs: NOW_US - 1 };
    assert.throws(
      () =>
        finish(
          recentAnswer(
            { kind: RECENT, timeField: 'event_time', ...page, ...before },
            contextOf(store, new Patience(FEW_LOOKS)),
          ),
        ),
      (error: unknown) => error instanceof TooExpensive,
      'objects that are passed over take time too',
    );
  }));

test('a query that worked for half of its budget is too expensive; one that waited for more of it is not [Time budget]', () => {
  for (const [worked, isTooExpensive] of [
    [49, false],
    [50, true],
  ] as const) {
    const clock = new Hand();
    // The clock is shared with earlier queries.
    for (let query = 0; query < 2; query++) {
      const startMs = clock.ms;
      clock.begin({ startMs, deadlineMs: startMs + 100 });
      clock.resume();
      clock.ms += worked - 10;
      clock.pause();
      assert.is(clock.lateness, undefined);
      clock.ms = startMs + 90;
      clock.resume();
      clock.ms += 9;
      assert.is(clock.lateness, undefined);
      clock.ms += 1;
      assert.is(clock.lateness instanceof TooExpensive, isTooExpensive);
      assert.is(clock.lateness instanceof Unavailable, !isTooExpensive);
      assert.throws(
        () => clock.due,
        (error: unknown) => error instanceof TooExpensive === isTooExpensive,
      );
    }
  }
});

test.run();
