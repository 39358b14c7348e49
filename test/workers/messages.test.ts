/** Queries arrive in a thread as they were sent. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packQueries, unpackQueries } from '../../workers/messages.ts';
import type { LookupInput, Query } from '../../workers/tasks.ts';

const test = suite('workers/messages');

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(fields, { noNullPrototype: true });
const number = fc.double({ noNaN: true });
const timeUs = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const id = fc.bigInt(0n, 2n ** 63n - 1n);
const sent = fc.string();
const circle = { ra: number, dec: number, radiusArcsec: number };
const detail = fc.constantFrom('ids', 'position', 'matches', 'full');
const filters = fc.option(fc.array(fc.tuple(fc.string(), fc.oneof(number, fc.string())), { minLength: 1 }));
const after = fc.option(record({ timeUs, diaObjectId: id }));
const target = fc.constantFrom('objects', 'gaia_dr3', 'skymapper_dr4');
const pageSize = fc.integer({ min: 1, max: 10_000 });

const input: fc.Arbitrary<LookupInput> = fc.oneof(
  record({ kind: fc.constant('id'), sent, diaObjectId: id }),
  id.map(
    diaObjectId => ({ kind: 'id', sent: `{"kind": "id", "diaObjectId": "${diaObjectId}"}`, diaObjectId }) as const,
  ),
  id.map(diaObjectId => ({ kind: 'id', sent: `{"kind": "id", "diaObjectId": ${diaObjectId}}`, diaObjectId }) as const),
  record({ kind: fc.constant('position'), sent, ...circle }),
  record({ kind: fc.constant('tns'), sent, name: fc.string(), radiusArcsec: number }),
  record({
    kind: fc.constant('invalid'),
    sent,
    sentKind: fc.string(),
    error: record({ message: fc.string(), param: fc.string() }),
  }),
);
const inputs = fc.array(input, { maxLength: 10 });

const query: fc.Arbitrary<Query> = fc.oneof(
  record({
    kind: fc.constant('lookup'),
    inputs,
    detail,
    filters,
    maxObjectsPerInput: pageSize,
    maxObjects: pageSize,
  }),
  record({ kind: fc.constant('count'), inputs, filters }),
  record({ kind: fc.constant('cone'), sent, ...circle, detail, filters, pageSize, asOfUs: timeUs, after }),
  record({
    kind: fc.constant('recent'),
    timeField: fc.constantFrom('ingest_time', 'event_time'),
    startUs: timeUs,
    endUs: timeUs,
    window: record({ start: fc.string(), end: fc.string() }),
    detail,
    pageSize,
    asOfUs: timeUs,
    after,
  }),
  record({
    kind: fc.constant('voCone'),
    target,
    ...circle,
    verbosity: fc.constantFrom(1, 2, 3),
    maxRecords: fc.nat(),
    serialization: fc.constantFrom('tabledata', 'binary2'),
    infos: fc.array(record({ name: fc.string(), value: fc.string() })),
  }),
  record({ kind: fc.constant('moc'), target, encoding: fc.constantFrom('fits', 'json', 'txt') }),
);

const formatted = fc.oneof(
  query,
  query.map(value => ({ ...value, format: 'msgpack' as const })),
);

test('any batch of queries', () => {
  fc.assert(
    fc.property(
      fc.array(record({ query: formatted, budgetMs: fc.double({ min: 0, max: 5000, noNaN: true }) })),
      queries => {
        assert.equal(unpackQueries(packQueries(queries)), queries);
      },
    ),
  );
});

test.run();
