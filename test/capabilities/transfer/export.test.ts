import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { exportStore } from '../../../src/capabilities/transfer/exporter.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { nearsky } from '../../commands/in_process.ts';
import { delivery, failure, provenance, result, withStore } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
import { associationLine, matchLine, objectLine, recordLine, registryLine, snapshotLine } from './lines.ts';
import { exportLines, importLines } from './support.ts';

const test = suite('export');

/** The table of command-line.md. */
const KEYS: Readonly<Record<string, string>> = {
  object: 'type diaObjectId ra dec reliability ingest_time event_time state brokers',
  crossmatch_record: 'type diaObjectId match_version crossmatched_at brokers_at_crossmatch catalog_outcomes provenance',
  match: 'type diaObjectId match_version catalog_name catalog_source_id separation_arcsec ra dec catalog_payload',
  tns_association:
    'type diaObjectId checked snapshot_epoch objid name name_prefix classification redshift separation_arcsec',
  tns_snapshot: 'type epoch',
  tns_object: 'type objid name name_prefix ra dec classification redshift',
};

test('a line has the documented keys in their order, ids as text, and times with six digits', () =>
  withDirectory(async directory => {
    const lines = [
      snapshotLine(),
      registryLine(7, '2026abc'),
      objectLine('9223372036854775807'),
      recordLine('9223372036854775807'),
      matchLine('9223372036854775807'),
      associationLine('9223372036854775807'),
    ];
    await importLines(directory, 'a', lines.toReversed());
    const exported = await exportLines(join(directory, 'a'));
    const parsed = exported.map(line => JSON.parse(line));
    assert.equal(parsed.map(({ type }) => type).sort(), Object.keys(KEYS).sort());
    for (const line of parsed) assert.is(Object.keys(line).join(' '), KEYS[line.type]);
    assert.equal(Object.keys(parsed[3].provenance), ['crossmatch_radius_arcsec', 'catalogs', 'reliability_cuts']);
    assert.equal(
      [parsed[2].diaObjectId, parsed[2].event_time],
      ['9223372036854775807', '2026-10-07T09:00:00.000000+00:00'],
    );
    assert.equal([parsed[1].objid, parsed[4].catalog_source_id], [7, '4611686018427387905']);
  }));

test('it is the state of one moment, whatever is written while it is read', () =>
  withStore(async (store, writer) => {
    const ids = Array.from({ length: 50 }, (_, i) => BigInt(2 * i));
    await writer.ingest(
      ids.map(id => delivery(id)),
      1000,
    );
    const load = await writer.commit({ kind: 'begin_registry' });
    const record = { objid: 1, name: '2026a', namePrefix: null, ra: 1, dec: 2, classification: null, redshift: null };
    await writer.commit({ kind: 'stage_registry', load, records: [record] });
    await publishLoad(writer, load, 1000);

    const snapshot = store.snapshot();
    const seen: bigint[] = [];
    for (const object of snapshot.objects()) {
      const { diaObjectId } = object;
      await writer.ingest([delivery(diaObjectId + 1n)], 2000);
      const source = { ra: 1, dec: 2, payload: null };
      await writer.recordCrossmatches(
        [result(diaObjectId, [source]), result(diaObjectId + 2n, [source])],
        provenance,
        3000,
      );
      await setImmediate();
      store.resetRead();
      assert.equal([object.state, object.matches(), snapshot.sourcesOf(object)], ['pending', [], []]);
      seen.push(diaObjectId);
    }
    const next = await writer.commit({ kind: 'begin_registry' });
    await publishLoad(writer, next, 2000);
    await setImmediate();
    assert.equal(seen, ids);
    assert.equal([snapshot.tnsSnapshotEpochUs(), [...snapshot.tnsRecords()]], [1000, [record]]);
    snapshot.close();
    assert.equal([readRegistryEpochUs(store.databases), readCounts(store.databases).objects], [2000, 100]);
  }));

test('a file is gzipped by its name, has its name only when it is whole, and replaces an older one', () =>
  withStore(async (store, writer, directory) => {
    await writer.ingest([delivery(1n), delivery(2n)], 1000);
    const [plain, gzipped] = [join(directory, 'out.ndjson'), join(directory, 'out.ndjson.gz')];
    writeFileSync(plain, 'an older export');
    for (const file of [plain, gzipped]) {
      const counts = await exportStore(store, file, () => {});
      assert.is(counts.object, 2);
      assert.is(existsSync(`${file}.part`), false);
    }
    assert.equal(gunzipSync(readFileSync(gzipped)), readFileSync(plain));
    assert.is(readFileSync(plain, 'utf8').split('\n').length, 3);
    const nowhere = join(directory, 'missing', 'out');
    assert.match(
      (await failure(() => exportStore(store, nowhere, () => {}))).message,
      /^Cannot export to .*missing\/out because there is no such file or directory \(ENOENT\)/,
    );
  }));

test('an export removes what exports to the same file left that were killed, and nothing else', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await openStore(data, 'write').close();
    const exported = join(directory, 'lines.ndjson');
    const dead = `${exported}.999999999.part`;
    const others = [`${exported}.x.part`, `${exported}.part`, `${exported}2.9.part`];
    for (const path of [dead, ...others]) mkdirSync(path);
    await nearsky('export', exported, '--data', data);
    assert.equal([dead, ...others].filter(existsSync), others);
  }));

test.run();
