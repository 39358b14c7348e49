/**
 * A thread stops a query when its time is spent, wherever it is, because it checks the time after each small piece of
 * work.
 */

import { ByteSink } from '@nearsky/astrotables/bytes';
import { Arena, buildArena, SkyIndex } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AREA_QUERY, areaAnswer } from '../../../src/capabilities/areas/area_answer.ts';
import { OBJECTS_QUERY, objectsAnswer } from '../../../src/capabilities/listing/listing_answer.ts';
import { CONE, coneAnswer } from '../../../src/core/answers/cone.ts';
import { Clock, type QueryContext, type Steps } from '../../../src/core/answers/context.ts';
import { COUNT, countAnswer } from '../../../src/core/answers/count.ts';
import { AREA_CURSOR, OBJECTS_CURSOR } from '../../../src/core/answers/cursor.ts';
import { LOOKUP, lookupAnswer } from '../../../src/core/answers/lookup.ts';
import type { FilterValues, LookupInput } from '../../../src/core/answers/queries.ts';
import { RECENT, recentAnswer } from '../../../src/core/answers/recent.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { TooExpensive, Unavailable } from '../../../src/core/base/refusal.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { currentProvenance, PROVENANCE_RECORDING_RELEASE } from '../../../src/core/crossmatch/provenance.ts';
import { readCursor } from '../../../src/core/http/cursor.ts';
import { ALL_TIME } from '../../../src/core/http/selection_params.ts';
import { ObjectView } from '../../../src/core/store/object_record.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { withStore } from '../store/support.ts';
import { configOf, delivery, match, NOW_US, PROVENANCE, searched } from './support.ts';

const test = suite('http/deadline');

const OBJECTS = 300;
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

/** A clock that advances by a millisecond at each check; the budget is 400. */
class Costly extends Clock {
  #ms = 0;

  constructor() {
    super();
    this.begin({ startMs: 0, deadlineMs: 400 });
  }

  protected override now(): number {
    return this.#ms++;
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

function finish(steps: Steps): void {
  while (!steps.next().done);
}

interface Stored {
  readonly store: Store;
  readonly ids: readonly bigint[];
  contextOf(store: Store, clock: Clock): QueryContext;
}

/** Objects at one place, each with a source. */
const withObjects = (body: (stored: Stored) => void) =>
  withStore(async (store, writer) => {
    const ids = Array.from({ length: OBJECTS }, (_, i) => BigInt(i));
    await writer.ingest(
      ids.map(id => delivery(id)),
      NOW_US,
    );
    const results = ids.map(diaObjectId => ({
      diaObjectId,
      catalogOutcomes: searched('gaia_dr3'),
      matches: [match('gaia_dr3', '1')],
    }));
    await writer.recordCrossmatches(results, PROVENANCE, NOW_US);
    const points = { ra: 150, dec: 2, time: NOW_US };
    const column = (name: keyof typeof points) => new Float64Array(OBJECTS).fill(points[name]);
    const arena = buildArena({
      ra: column('ra'),
      dec: column('dec'),
      time: column('time'),
      id: BigInt64Array.from(ids),
    });
    const config = configOf('unused');
    const fragments = new SharedFragments({
      catalogs: PROJECT_CATALOGS,
      provenance: currentProvenance(config),
      recordingRelease: PROVENANCE_RECORDING_RELEASE,
      tnsUrlTemplate: config.TNS_OBJECT_URL_TEMPLATE,
      tnsSnapshotMaxAgeSeconds: config.TNS_SNAPSHOT_MAX_AGE_SECONDS,
    });
    const index = new SkyIndex([new Arena(arena)]);
    const contextOf = (store: Store, clock: Clock): QueryContext => {
      const sinks = { out: new ByteSink(), body: new ByteSink(), past: undefined };
      const [sequence, object] = [store.lastSequence(), new ObjectView()];
      return { store, stored: store, fragments, index, sequence, purgedTo: [sequence], object, clock, ...sinks };
    };
    body({ store, ids, contextOf });
  });

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

test('a page of a listing ends when half of its time is spent, and the next ones have the rest [Areas; The state after an entry]', () =>
  withObjects(({ store, ids, contextOf }) => {
    const selection = {
      response: 'objects',
      ...ALL_TIME,
      timeField: 'ingest_time',
      status: 'any',
      window: { start: null, end: null },
      detail: 'ids',
      pageSize: OBJECTS,
      asOfUs: NOW_US,
    } as const;
    const area = { area: Buffer.from('CIRCLE 150 2 0.001'), level: 0.9, digest: 'a' };
    for (const filters of [null, [['reliability_min', 0]]] as const) {
      const pages = {
        objects: (cursor: string | undefined, context: QueryContext) => {
          const after = cursor === undefined ? null : readCursor(OBJECTS_CURSOR, cursor);
          return objectsAnswer({ kind: OBJECTS_QUERY, ...selection, filters, after }, context);
        },
        area: (cursor: string | undefined, context: QueryContext) => {
          const after = cursor === undefined ? null : readCursor(AREA_CURSOR, cursor);
          return areaAnswer({ kind: AREA_QUERY, ...selection, ...area, filters, after }, context);
        },
      };
      for (const [name, page] of Object.entries(pages)) {
        const found: string[] = [];
        let cursor: string | undefined;
        let count = 0;
        do {
          const context = contextOf(store, new Costly());
          finish(page(cursor, context));
          const { objects, next_cursor } = JSON.parse(Buffer.from(context.out.take()).toString());

          for (const { diaObjectId_str } of objects) found.push(diaObjectId_str);
          cursor = next_cursor ?? undefined;
          count++;
        } while (cursor !== undefined);
        assert.equal(
          found,
          ids.map(id => `${id}`),
          name,
        );
        assert.ok(count > 2 && count < 20, `${name}: ${count} pages`);
      }
    }
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
