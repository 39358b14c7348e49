/** Random deliveries, crossmatches and removals, compared with a model of a few lines: a map from ids to expected states. */

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../../../src/core/base/compare.ts';
import type { BrokerName } from '../../../src/core/contract/brokers.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { CrossmatchResult, Delivery, MatchSource, SkyPosition } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { delivery, provenance, result } from './support.ts';

const test = suite('store/model');

interface Expected {
  readonly position: SkyPosition | null;
  readonly reliability: number | null;
  readonly eventTimeUs: number;
  readonly brokers: Set<string>;
  crossmatch: { readonly sources: readonly MatchSource[]; readonly brokers: string[] } | null;
}

type Operation =
  | { readonly kind: 'ingest'; readonly deliveries: readonly Delivery[] }
  | { readonly kind: 'crossmatch'; readonly results: readonly CrossmatchResult[] }
  | { readonly kind: 'remove'; readonly ids: readonly bigint[]; readonly broker: string | undefined }
  | { readonly kind: 'reopen' };

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(fields, { noNullPrototype: true });
const ids = fc.constantFrom(0n, 1n, 255n, 256n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n);
const finite = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const brokers = fc.constantFrom<BrokerName>('antares', 'lasair', 'pittgoogle');
const deliveries: fc.Arbitrary<Delivery> = record({
  id: ids,
  position: fc.option(record({ ra: finite(0, 360), dec: finite(-90, 90) })),
  reliability: fc.option(finite(0, 1)),
  eventTimeUs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  broker: brokers,
}).map(({ id, ...fields }) => delivery(id, fields));
const payloads = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/),
  fc.oneof(
    fc.double({ noNaN: true }),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.string(),
    fc.constant(null),
    fc.boolean(),
  ),
  { maxKeys: 4, noNullPrototype: true },
);
const sources = record({
  ra: fc.option(finite(0, 360)),
  dec: fc.option(finite(-90, 90)),
  payload: fc.option(payloads),
});
const results = fc.tuple(ids, fc.array(sources, { maxLength: 3 })).map(([id, found]) => result(id, found));
const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: record({ kind: fc.constant('ingest' as const), deliveries: fc.array(deliveries, { maxLength: 8 }) }),
  },
  {
    weight: 3,
    arbitrary: record({ kind: fc.constant('crossmatch' as const), results: fc.array(results, { maxLength: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: record({
      kind: fc.constant('remove' as const),
      ids: fc.array(ids, { maxLength: 3 }),
      broker: fc.option(brokers, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: record({ kind: fc.constant('reopen' as const) }) },
);

/** Applies an operation to the model; the changes that the journal should name, and the counts that the writer should give. */
function applyToModel(model: Map<bigint, Expected>, operation: Exclude<Operation, { kind: 'reopen' }>) {
  const none = (): bigint[] => [];
  const changes = { stored: none(), delivered: none(), crossmatched: none(), removed: none() };
  if (operation.kind === 'ingest') {
    const sorted = operation.deliveries.toSorted((a, b) => compare(a.diaObjectId, b.diaObjectId));
    for (const { diaObjectId, position, reliability, eventTimeUs, broker } of sorted) {
      const known = model.get(diaObjectId);
      if (!known) {
        model.set(diaObjectId, { position, reliability, eventTimeUs, brokers: new Set([broker]), crossmatch: null });
        changes.stored.push(diaObjectId);
      } else if (!known.brokers.has(broker)) {
        known.brokers.add(broker);
        changes.delivered.push(diaObjectId);
      }
    }
    const [stored, delivered] = [changes.stored.length, changes.delivered.length];
    return { changes, counts: { stored, delivered, duplicate: operation.deliveries.length - stored - delivered } };
  }
  if (operation.kind === 'remove') {
    const { broker } = operation;
    for (const id of operation.ids) {
      const known = model.get(id);
      if (!known || (broker && !known.brokers.delete(broker))) continue;
      if (broker && known.brokers.size > 0) changes.delivered.push(id);
      else changes.removed.push(id);
      if (changes.removed.includes(id)) model.delete(id);
    }
    return { changes, counts: { removed: changes.removed.length, kept: changes.delivered.length } };
  }
  for (const { diaObjectId, matches } of operation.results) {
    const known = model.get(diaObjectId);
    if (!known || known.crossmatch) continue;
    known.crossmatch = {
      sources: matches.map(match => match.source as MatchSource),
      brokers: [...known.brokers].sort(),
    };
    changes.crossmatched.push(diaObjectId);
  }
  const recorded = changes.crossmatched.length;
  return { changes, counts: { recorded, skipped: operation.results.length - recorded } };
}

function assertEqual(store: ReturnType<typeof openStore>, model: ReadonlyMap<bigint, Expected>): void {
  const inOrder = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
  const objects = [...store.objects()];
  assert.equal(
    objects.map(object => object.diaObjectId),
    inOrder.map(([id]) => id),
  );
  assert.equal(
    store.pendingIds(100),
    inOrder.filter(([, { crossmatch }]) => !crossmatch).map(([id]) => id),
  );
  for (const [i, [id, expected]] of inOrder.entries()) {
    const object = objects[i]!;
    assert.equal(store.getObject(id), object);
    const { position, reliability, eventTimeUs, brokers, state } = object;
    assert.equal(
      { position, reliability, eventTimeUs, brokers },
      {
        position: expected.position,
        reliability: expected.reliability,
        eventTimeUs: expected.eventTimeUs,
        brokers: [...expected.brokers].sort(),
      },
    );
    assert.is(state, expected.crossmatch ? 'crossmatched' : 'pending');
    assert.equal(
      object.records.map(record => record.brokersAtCrossmatch),
      expected.crossmatch ? [expected.crossmatch.brokers] : [],
    );
    assert.equal(store.getSources(id), expected.crossmatch?.sources ?? []);
    assert.is(object.matches.length, expected.crossmatch?.sources.length ?? 0);
  }
}

function applied(writer: Writer, operation: Exclude<Operation, { kind: 'reopen' }>): Promise<unknown> {
  switch (operation.kind) {
    case 'ingest':
      return writer.ingest(operation.deliveries, 5_000);
    case 'crossmatch':
      return writer.recordCrossmatches(operation.results, provenance, 6_000);
    case 'remove':
      return writer.remove(operation.ids, 'wrong', operation.broker);
  }
}

async function check(sequence: readonly Operation[], directory: string): Promise<void> {
  const model = new Map<bigint, Expected>();
  const journal: object[] = [];
  let store = openStore(directory, 'write');
  try {
    for (const operation of sequence) {
      if (operation.kind === 'reopen') {
        await store.close();
        store = openStore(directory, 'write');
        continue;
      }
      const { changes, counts } = applyToModel(model, operation);
      if (Object.values(changes).some(list => list.length > 0))
        journal.push({ sequence: journal.length + 1, ...changes });
      const writer = new Writer(store);
      assert.equal(await applied(writer, operation), counts);
    }
    assertEqual(store, model);
    assert.equal(store.journalAfter(0), journal);
  } finally {
    await store.close();
  }
}

test('any sequence of commits gives what the model says', async () => {
  const sequences = fc.array(operations, { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(sequences, sequence => withDirectory(directory => check(sequence, directory))),
    { numRuns: 40 },
  );
});

test.run();
