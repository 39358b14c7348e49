import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyRecord } from '../../../src/core/store/object_tables.ts';
import { decodeObject, encodeKey, encodeObject } from '../../../src/core/store/records.ts';
import type { StoredObject, TnsAssociation } from '../../../src/core/store/types.ts';
import { delivery, provenance, putObject, result, withStore } from './support.ts';

const tns: TnsAssociation = {
  checked: true,
  snapshotEpochUs: 1_790_000_000_000_000,
  objid: 7,
  name: '2026é',
  namePrefix: 'SN',
  classification: null,
  redshift: 0.1,
  separationArcsec: 0.25,
};
const sources = [1, 2, 3].map(ra => ({ ra, dec: -0.1, payload: { ruwe: ra, id: 2n ** 62n } }));

test('the bytes of a first crossmatch are those of the object encoded anew', () =>
  withStore(async (store, writer) => {
    const deliveries = [
      delivery(1n),
      delivery(2n, { position: null, reliability: null }),
      delivery(3n, { position: { ra: 0, dec: 1e-7 } }),
      delivery(3n, { broker: 'antares' }),
      delivery(4n, { position: { ra: 360, dec: -90 }, reliability: 1 }),
    ];
    await writer.ingest(deliveries, 5_000);
    putObject(store, { ...store.getObject(4n)!, tns });
    const results = [
      result(1n, sources),
      { ...result(2n), tns },
      result(3n, sources.slice(1)),
      { ...result(4n), tns: { ...tns, objid: 8 } },
    ];
    const before = results.map(({ diaObjectId }) => store.getObject(diaObjectId)!);
    await writer.recordCrossmatches(results, provenance, 6_000);
    for (const [i, { diaObjectId, catalogOutcomes, matches, tns: found }] of results.entries()) {
      const known = before[i]!;
      const expected: StoredObject = {
        ...known,
        state: 'crossmatched',
        records: [
          {
            matchVersion: 1,
            crossmatchedAtUs: 6_000,
            provenanceSet: 1,
            brokersAtCrossmatch: known.brokers,
            catalogOutcomes,
          },
        ],
        matches: matches.map(({ source: _, ...match }) => ({ matchVersion: 1, ...match })),
        tns: known.tns ?? found ?? null,
      };
      const bytes = copyRecord(store.databases, encodeKey(diaObjectId))!;
      assert.equal(decodeObject(diaObjectId, bytes), expected);
      assert.equal(Buffer.from(bytes), Buffer.from(encodeObject(expected)), `${diaObjectId}`);
      assert.equal(
        store.getSources(diaObjectId),
        matches.map(({ source }) => source),
      );
    }
  }));

test('sources are kept in their order, however many crossmatches they come from', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(1n)], 5_000);
    const many = Array.from({ length: 20 }, (_, i) => ({ ra: i / 3, dec: -i, payload: i % 2 ? { ruwe: i } : null }));
    for (let from = 0; from < many.length; from += 5) {
      putObject(store, { ...store.getObject(1n)!, state: 'pending' });
      await writer.recordCrossmatches([result(1n, many.slice(from, from + 5))], provenance, 6_000);
      assert.equal(store.getSources(1n), many.slice(0, from + 5));
    }
  }));

test.run();
