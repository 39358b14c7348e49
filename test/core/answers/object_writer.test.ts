/** Objects as they are stored, and as answers show them, against plain values and `JSON.stringify`. */

import type { Cell } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { parseJson, toJson } from '@nearsky/astrotables/json';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader } from '../../../src/capabilities/tables/object_reader.ts';
import { ObjectTable } from '../../../src/capabilities/tables/object_table.ts';
import type { AnsweredObject } from '../../../src/core/answers/answered.ts';
import { ObjectWriter } from '../../../src/core/answers/object_writer.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { formatTime, writeTime } from '../../../src/core/base/times.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { DETAIL_LEVELS, namesOf } from '../../../src/core/contract/enums.ts';
import { Interner } from '../../../src/core/store/interner.ts';
import type { Likelihood, MatchStatistics } from '../../../src/core/store/match_statistics.ts';
import { compareMatches, decodeObject, encodeObject, ObjectView } from '../../../src/core/store/object_record.ts';
import { currentProvenance } from '../../../src/core/store/provenance.ts';
import { encodeKey, encodePlain, encodeSources, RECORDED_OUTCOMES } from '../../../src/core/store/records.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { MatchSource, MatchSummary, StoredObject } from '../../../src/core/store/types.ts';
import { anyText } from '../../any_text.ts';
import { isoTime, lookupEntry, recentEntry, type Stored } from '../../oracle/answers.ts';
import { configOf } from '../http/support.ts';
import { delivery, provenance, result, withStore } from '../store/support.ts';

const test = suite('answers/object_writer');

const SERVICE = {
  catalogs: PROJECT_CATALOGS,
  provenance: currentProvenance(configOf('unused')),
  recordingRelease: '0.15.0',
  tnsUrlTemplate: 'https://example.org/{name}',
  tnsSnapshotMaxAgeSeconds: 7200,
};

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(fields, { noNullPrototype: true });
const number = fc.oneof(fc.double(), fc.constantFrom(0, 1, -1, 1e21, 5e-324, 2 ** 53 + 2, 1e-7));
const finite = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, 1e21, 2 ** 60));
const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const timeUs = fc.oneof(
  fc.integer({ min: -62_167_219_200_000_000 / 8, max: Number.MAX_SAFE_INTEGER }),
  fc.integer({ min: 0, max: 4_000_000_000 }).map(seconds => seconds * 1e6),
);
const name = fc.oneof(fc.string({ maxLength: 12 }), anyText({ maxLength: 6 }), fc.constant('gaia_dr3'));
const brokers = fc.array(fc.oneof(fc.constantFrom('antares', 'lasair'), name), { maxLength: 3 });
const version = fc.integer({ min: 1, max: 3 });
const catalogName = fc.constantFrom('gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'an_old_one', '"q\\é');
const outcomes = fc
  .dictionary(catalogName, fc.constantFrom(...RECORDED_OUTCOMES), { noNullPrototype: true })
  .map(map => Object.entries(map));

const records = fc
  .uniqueArray(
    record({
      matchVersion: version,
      crossmatchedAtUs: timeUs,
      provenanceSet: fc.constantFrom(1, 2),
      brokersAtCrossmatch: brokers,
      catalogOutcomes: outcomes,
    }),
    { maxLength: 3, selector: ({ matchVersion }) => matchVersion },
  )
  .map(list => list.sort((a, b) => a.matchVersion - b.matchVersion));

const likelihood: fc.Arbitrary<Likelihood> = record({
  combinedErrorMas: fc.double({ min: 1, max: 9999, noNaN: true }),
  lnWeightRatio: fc.option(fc.double({ min: 0, max: 99, noNaN: true })),
  priorCompleteness: fc.constantFrom(1, 0.7),
});
const statistics: fc.Arbitrary<MatchStatistics> = fc.record(
  {
    version: fc.constant(2),
    sourceDensity: fc.option(
      fc.oneof(fc.constantFrom(0, 1.23e-7, 12.3), fc.double({ min: 1e-9, max: 1e6, noNaN: true })),
    ),
    sourcesWithinRadius: fc.integer({ min: 1, max: 300 }),
    secondSeparationArcsec: fc.option(fc.integer({ min: 0, max: 60_000 }).map(mas => mas / 1000)),
    likelihood,
  },
  {
    noNullPrototype: true,
    requiredKeys: ['version', 'sourceDensity', 'sourcesWithinRadius', 'secondSeparationArcsec'],
  },
);
const match: fc.Arbitrary<MatchSummary> = fc.record(
  {
    matchVersion: fc.oneof(fc.constant(1), version),
    catalogName,
    catalogSourceId: fc.constantFrom('9', '10', '-5', '9223372036854775807'),
    separationArcsec: finite,
    statistics,
  },
  {
    noNullPrototype: true,
    requiredKeys: ['matchVersion', 'catalogName', 'catalogSourceId', 'separationArcsec'],
  },
);
const matches = fc
  .uniqueArray(match, {
    maxLength: 5,
    selector: ({ matchVersion, catalogName, catalogSourceId }) => `${matchVersion} ${catalogName} ${catalogSourceId}`,
  })
  .map(list => list.sort(compareMatches));

const payload = fc.dictionary(
  fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('ruwe', 'é"')).filter(key => key !== '__proto__'),
  fc.oneof(
    number,
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, null, true, false),
    fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n),
    name,
  ),
  { maxKeys: 5, noNullPrototype: true },
);
const source: fc.Arbitrary<MatchSource> = record({
  ra: fc.option(fc.oneof(finite, fc.constant(Number.NaN)), { freq: 8 }),
  dec: fc.option(finite, { freq: 8 }),
  payload: fc.option(payload),
});

const tns = fc.oneof(
  record({ checked: fc.boolean(), snapshotEpochUs: fc.option(timeUs) }).map(known => {
    const nothing = { objid: null, name: null, namePrefix: null, classification: null };
    return { ...known, ...nothing, redshift: null, separationArcsec: null };
  }),
  record({
    checked: fc.constant(true),
    snapshotEpochUs: fc.option(timeUs),
    objid: fc.option(integer),
    name: name.filter(text => text.isWellFormed()),
    namePrefix: fc.option(name),
    classification: fc.option(name),
    redshift: fc.option(finite),
    separationArcsec: fc.option(finite),
  }),
);

const object: fc.Arbitrary<StoredObject> = record({
  diaObjectId: fc.bigInt(0n, 2n ** 63n - 1n),
  position: fc.option(record({ ra: finite, dec: finite })),
  reliability: fc.option(finite),
  ingestTimeUs: timeUs,
  eventTimeUs: timeUs,
  state: fc.constantFrom('pending', 'crossmatched', 'crossmatched'),
  brokers,
  records,
  matches,
  tns: fc.option(tns),
});
/** With fewer sources than matches now and then, as a damaged database might have. */
const stored = object.chain(value =>
  fc
    .array(source, { minLength: Math.max(0, value.matches.length - 1), maxLength: value.matches.length })
    .map(sources => {
      return { object: value, sources };
    }),
);

/** JSON with ": " and ", ", ASCII only, 64-bit integers bare: indented, for the spaces, and then on one line. */
function jsonText(value: unknown): string {
  const exact = (_key: string, member: unknown) =>
    typeof member === 'bigint' ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${member}`) : member;
  return JSON.stringify(value, exact, 1)
    .replace(/,\n */g, ', ')
    .replace(/\n */g, '')
    .replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const written = ({ bytes, length }: ByteSink) => Buffer.from(bytes.buffer, 0, length).toString('latin1');

function put({ databases }: Store, { diaObjectId, ...fields }: StoredObject, sources: readonly MatchSource[]): void {
  databases.objects.transactionSync(() => {
    const keys = new Interner(databases.payload_keys);
    databases.objects.put(encodeKey(diaObjectId), encodeObject(fields));
    databases.sources.put(
      encodeKey(diaObjectId),
      encodeSources(sources, names => keys.ordinalOf(encodePlain(names))),
    );
    // Nothing is returned, because a promise would delay the commit.
  });
}

test('any object, at every level, byte for byte [JSON text; The state after an entry]', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n), delivery(2n)], 1);
    await writer.recordCrossmatches([result(1n)], provenance, 1);
    await writer.recordCrossmatches([result(2n)], { ...provenance, crossmatch_radius_arcsec: null }, 1);
    const sets: Stored['sets'] = new Map([1, 2].map(ordinal => [ordinal, store.provenanceSet(ordinal)]));
    const fragments = new SharedFragments(SERVICE);
    const view = new ObjectView();
    fc.assert(
      fc.property(stored, ({ object, sources }) => {
        put(store, object, sources);
        for (const detail of namesOf(DETAIL_LEVELS)) {
          const expected = lookupEntry({ object, sources, sets }, detail, SERVICE);
          const out = new ByteSink();
          const answer = new ObjectWriter(out, fragments, store, detail, store);
          assert.ok(store.readObject(object.diaObjectId, view));
          answer.entry(view);
          assert.is(`${written(out)}}`, jsonText(expected[0]), detail);
          const keys = [...answer.sets].map(({ entry }) => `${Buffer.from(entry)}`.slice(1).split('"', 1)[0]);
          assert.equal(keys, expected[1], detail);
          out.length = 0;
          answer.addRecent(view, 0);
          assert.is(
            written(out),
            jsonText(recentEntry({ object, sources, sets }, detail, SERVICE)),
            `recent ${detail}`,
          );
        }
      }),
      { numRuns: 300 },
    );
  }));

test('any object, at every level: the row of a table is that of the JSON, with the same provenance sets', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n), delivery(2n)], 1);
    await writer.recordCrossmatches([result(1n)], provenance, 1);
    await writer.recordCrossmatches([result(2n)], { ...provenance, crossmatch_radius_arcsec: null }, 1);
    const leftOut: string[] = [];
    const fragments = new SharedFragments(SERVICE, what => leftOut.push(what));
    const view = new ObjectView();
    fc.assert(
      fc.property(stored, fc.double({ min: 0, max: 1, noNaN: true }), ({ object, sources }, level) => {
        put(store, object, sources);
        for (const detail of namesOf(DETAIL_LEVELS)) {
          const rowIn = (of: 'area' | 'recent') => {
            const options = { of, detail, hasFilters: false, hasLevels: of === 'area', catalogs: PROJECT_CATALOGS };
            const table = new ObjectTable(options, () => leftOut.push('a value'));
            // The JSON of a large whole number is read as an integer, whatever it is; that of an infinity is null.
            const number = (cell: Cell, i: number) => {
              if (table.columns[i]!.type !== 'float64' || cell === null) return cell;
              return Number.isFinite(Number(cell)) ? Number(cell) : null;
            };
            return (object: AnsweredObject) => [table.row({ input: undefined, object }).map(number), leftOut.splice(0)];
          };
          const row = rowIn('area');
          const recentRow = rowIn('recent');
          assert.ok(store.readObject(object.diaObjectId, view));
          const out = new ByteSink();
          const answer = new ObjectWriter(out, fragments, store, detail, store);
          answer.entry(view);
          const json = `${written(out)}, "credible_level": ${toJson(level)}}`;
          const whole = parseJson(json) as AnsweredObject;
          const expected = row(whole);
          const reader = new ObjectReader(fragments, store, detail, store);
          assert.equal(row({ ...reader.read(view), credible_level: level }), expected, detail);
          assert.equal(reader.sets, answer.sets, detail);
          out.length = 0;
          answer.addRecent(view, 0);
          const recent = parseJson(written(out)) as ReturnType<typeof JSON.parse>;
          const [match] = recent.matches ?? [];
          const tns = match && { checked: match.tns_checked, ...match.tns };
          const expectedRecent = recentRow({ ...recent, crossmatch: whole.crossmatch, tns });
          assert.equal(recentRow(reader.readRecent(view)), expectedRecent, `recent ${detail}`);
        }
      }),
      { numRuns: 100 },
    );
  }));

test('what is stored of an object comes back', () => {
  fc.assert(
    fc.property(object, value => {
      const { diaObjectId, ...fields } = value;
      assert.equal(decodeObject(diaObjectId, encodeObject(fields)), value);
    }),
  );
});

test('bytes that are cut short are refused, but between two matches, which leaves fewer of them', () => {
  const isRich = ({ matches, records, tns }: StoredObject) => matches.length > 1 && records.length > 1 && tns !== null;
  const { diaObjectId, ...fields } = fc.sample(object, { seed: 1, numRuns: 500 }).find(isRich)!;
  const bytes = encodeObject(fields);
  const view = new ObjectView();
  view.load(diaObjectId, bytes);
  const boundaries = view.matches();
  for (let length = 0; length < bytes.length; length++) {
    if (boundaries.includes(length)) continue;
    const cut = () => decodeObject(diaObjectId, bytes.subarray(0, length));
    assert.throws(cut, /Cannot decode object \d+ because its bytes are damaged/, `${length} of ${bytes.length}`);
  }
});

test('times as they are written', () => {
  const out = new ByteSink();
  const text = (us: number) => {
    out.length = 0;
    writeTime(out, us);
    return written(out);
  };
  fc.assert(
    fc.property(timeUs, us => {
      assert.is(text(us), `"${isoTime(us)}"`);
      assert.is(text(us), `"${formatTime(us)}"`);
    }),
  );
  const known = [
    ['0000-01-01', '0000-01-01T00:00:00+00:00'],
    ['2000-02-29T23:59:59.999Z', '2000-02-29T23:59:59.999000+00:00'],
    ['2100-03-01', '2100-03-01T00:00:00+00:00'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59+00:00'],
    ['-000001-12-31', '-000001-12-31T00:00:00+00:00'],
    ['+010000-01-01', '+010000-01-01T00:00:00+00:00'],
  ] as const;
  for (const [date, shown] of known) assert.is(text(Date.parse(date) * 1000), `"${shown}"`);
  // Every day of four centuries.
  for (let day = Date.UTC(1900, 0, 1); day < Date.UTC(2300, 0, 1); day += 86_400_000) {
    assert.is(text(day * 1000).slice(1, 11), new Date(day).toISOString().slice(0, 10));
  }
});

test.run();
