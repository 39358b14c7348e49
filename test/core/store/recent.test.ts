/** The listings by time, against a scan of everything. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ImportItem } from '../../../src/core/store/import.ts';
import {
  findRecent,
  type RecentPosition,
  type RecentQuery,
  readLatestIngest,
  recentInPieces,
} from '../../../src/core/store/recent.ts';
import { encodeTimeValue } from '../../../src/core/store/records.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { delivery, provenance, result, withStore } from './support.ts';

const test = suite('recent');

interface Listed {
  readonly id: bigint;
  readonly ingestTimeUs: number;
  readonly eventTimeUs: number;
  readonly hasMatch: boolean;
}

function oracle(objects: readonly Listed[], query: RecentQuery): RecentPosition[] {
  const { of, timeField, startUs, endUs, asOfUs, limit, after } = query;
  const isAfter = (position: RecentPosition) =>
    !after ||
    position.timeUs < after.timeUs ||
    (position.timeUs === after.timeUs && position.diaObjectId > after.diaObjectId);
  return objects
    .filter(({ hasMatch, ingestTimeUs }) =>
      of === 'all' ? timeField === 'event_time' || ingestTimeUs <= asOfUs : hasMatch && ingestTimeUs <= asOfUs,
    )
    .map(object => ({
      timeUs: timeField === 'ingest_time' ? object.ingestTimeUs : object.eventTimeUs,
      diaObjectId: object.id,
    }))
    .filter(position => position.timeUs >= startUs && position.timeUs < endUs && isAfter(position))
    .sort((a, b) => b.timeUs - a.timeUs || (a.diaObjectId < b.diaObjectId ? -1 : 1))
    .slice(0, limit);
}

/** The lines of one object, pending or crossmatched, with or without a match. */
function itemsOf({ id, ingestTimeUs, eventTimeUs, hasMatch }: Listed): ImportItem[] {
  const state = id % 3n === 0n ? 'pending' : 'crossmatched';
  const object = { position: null, reliability: null, ingestTimeUs, eventTimeUs, state, brokers: [] } as const;
  const match = { matchVersion: 1, catalogName: 'gaia_dr3', catalogSourceId: '1', separationArcsec: 0 };
  const source = { ra: null, dec: null, payload: null };
  return [
    { kind: 'object', diaObjectId: id, object },
    ...(hasMatch ? [{ kind: 'match', diaObjectId: id, match, source } as const] : []),
  ];
}

const time = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.integer({ min: 1_790_000_000_000_000, max: 1_790_000_000_000_003 }),
);
const id = fc.oneof(fc.bigInt(0n, 12n), fc.bigInt(2n ** 63n - 4n, 2n ** 63n - 1n));
const listed = fc.record({ id, ingestTimeUs: time, eventTimeUs: time, hasMatch: fc.boolean() });

/** Every window and position on the few times that there are, and one beside each. */
function checkAll(store: Store, objects: readonly Listed[], listing: Pick<RecentQuery, 'of' | 'timeField'>): void {
  const { timeField } = listing;
  const times = objects.map(object => (timeField === 'ingest_time' ? object.ingestTimeUs : object.eventTimeUs));
  const instants = [...new Set(times.flatMap(timeUs => [timeUs, timeUs + 1]))].slice(0, 6);
  for (const startUs of instants) {
    for (const endUs of instants) {
      for (const asOfUs of [...new Set(objects.map(({ ingestTimeUs }) => ingestTimeUs))].slice(0, 3)) {
        const window = { ...listing, startUs, endUs, asOfUs };
        for (const limit of [1, 2, 1000]) {
          assert.equal(findRecent(store.databases, { ...window, limit }), oracle(objects, { ...window, limit }));
        }
      }
    }
  }
  const always = { ...listing, startUs: -10, endUs: 2 ** 53, asOfUs: 2 ** 53, limit: 3 };
  for (const timeUs of instants) {
    for (const { id } of objects) {
      const query = { ...always, after: { timeUs, diaObjectId: id } };
      assert.equal(findRecent(store.databases, query), oracle(objects, query));
    }
  }
}

test('any window, position and limit gives what a scan of every object gives, with ties in time', () =>
  fc.assert(
    fc.asyncProperty(fc.uniqueArray(listed, { selector: object => object.id, minLength: 1, maxLength: 12 }), objects =>
      withStore(async (store, writer) => {
        await writer.import(objects.flatMap(itemsOf));
        for (const timeField of ['ingest_time', 'event_time'] as const) {
          checkAll(store, objects, { of: 'all', timeField });
          checkAll(store, objects, { of: 'matched', timeField });
        }
        assert.is(readLatestIngest(store.databases), Math.max(...objects.map(({ ingestTimeUs }) => ingestTimeUs)));
      }),
    ),
    { numRuns: 30 },
  ));

test('what is longer than one read comes in pieces, whatever is passed over', () =>
  withStore(async (store, writer) => {
    const objects = Array.from({ length: 700 }, (_, i): Listed => {
      return { id: BigInt(i), ingestTimeUs: i % 10 === 0 ? 1 : 9, eventTimeUs: i, hasMatch: true };
    });
    await writer.import(objects.flatMap(itemsOf));
    const window = { of: 'matched', timeField: 'event_time', startUs: 0, endUs: 700 } as const;
    for (const [asOfUs, limit] of [
      [9, 1000],
      [9, 600],
      [9, 300],
      [1, 1000],
      [1, 70],
      [1, 30],
      [1, 1],
      [0, 1],
    ] as const) {
      const pieces = [...recentInPieces(store.databases, { ...window, asOfUs, limit })];
      assert.equal(pieces.flat(), oracle(objects, { ...window, asOfUs, limit }));
      if (limit > 256 || asOfUs === 0) assert.ok(pieces.length > 1, 'others go ahead between two pieces');
    }
  }));

test('an object is listed although the copy of its ingest time is damaged', () =>
  withStore(async (store, writer) => {
    const objects = [1n, 2n, 3n].map(id => ({ id, ingestTimeUs: 5, eventTimeUs: 4, hasMatch: true }));
    await writer.import(objects.flatMap(itemsOf));
    for (const table of [store.databases.recent_ingest, store.databases.recent_event])
      table.transactionSync(() => table.put([...table.getKeys()][1]!, encodeTimeValue(6)));
    for (const timeField of ['ingest_time', 'event_time'] as const) {
      const query = { of: 'matched', timeField, startUs: 0, endUs: 10, asOfUs: 5, limit: 10 } as const;
      assert.equal(findRecent(store.databases, query), oracle(objects, query));
    }
  }));

test('a walk by pages of any size meets every object once', () =>
  withStore(async (store, writer) => {
    const objects = Array.from({ length: 60 }, (_, i): Listed => {
      return { id: BigInt(i * 7919) % 61n, ingestTimeUs: i % 5, eventTimeUs: i % 3, hasMatch: i % 2 === 0 };
    });
    await writer.import(objects.flatMap(itemsOf));
    for (const timeField of ['ingest_time', 'event_time'] as const) {
      const window = { of: 'all', timeField, startUs: 0, endUs: 10, asOfUs: 10 } as const;
      const whole = oracle(objects, { ...window, limit: 1000 });
      for (const limit of [1, 2, 7, 60, 61]) {
        const walked: RecentPosition[] = [];
        for (;;) {
          const page = findRecent(store.databases, { ...window, limit, after: walked.at(-1) });
          if (page.length === 0) break;
          walked.push(...page);
          assert.ok(walked.length <= whole.length, 'no object is met twice');
        }
        assert.equal(walked, whole);
      }
    }
  }));

test('ingested objects are listed with their first match, and not before', () =>
  withStore(async (store, writer) => {
    const always = { timeField: 'ingest_time', startUs: 0, endUs: 2 ** 53, asOfUs: 2 ** 53, limit: 10 } as const;
    const window = { of: 'matched', ...always } as const;
    assert.is(readLatestIngest(store.databases), null);
    await writer.ingest([delivery(1n), delivery(2n)], 5000);
    await writer.ingest([delivery(3n), delivery(1n, { broker: 'antares' })], 6000);
    assert.is(readLatestIngest(store.databases), 6000);
    assert.equal(findRecent(store.databases, window), []);
    const all = [
      { timeUs: 6000, diaObjectId: 3n },
      { timeUs: 5000, diaObjectId: 1n },
      { timeUs: 5000, diaObjectId: 2n },
    ];
    assert.equal(findRecent(store.databases, { of: 'all', ...always }), all);
    await writer.recordCrossmatches([result(1n, [{ ra: 1, dec: 2, payload: null }]), result(2n)], provenance, 7000);
    assert.equal(findRecent(store.databases, window), [{ timeUs: 5000, diaObjectId: 1n }]);
    assert.equal(findRecent(store.databases, { of: 'all', ...always }), all);
    const { eventTimeUs } = delivery(1n);
    assert.equal(findRecent(store.databases, { ...window, timeField: 'event_time' }), [
      { timeUs: eventTimeUs, diaObjectId: 1n },
    ]);
    assert.equal(findRecent(store.databases, { ...window, timeField: 'event_time', asOfUs: 4999 }), []);
  }));

test('a match that is imported for a known object lists it at its own times, even while it is pending', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(4n)], 5000);
    const object = { id: 4n, ingestTimeUs: 5000, eventTimeUs: delivery(4n).eventTimeUs, hasMatch: true };
    await writer.import(itemsOf(object).slice(1));
    assert.is(store.getObject(4n)!.state, 'pending');
    const window = {
      of: 'matched',
      timeField: 'event_time',
      startUs: 0,
      endUs: 2 ** 53,
      asOfUs: 5000,
      limit: 10,
    } as const;
    assert.equal(findRecent(store.databases, window), [{ timeUs: object.eventTimeUs, diaObjectId: 4n }]);
  }));

test.run();
