/** Copies of a data directory. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { nearsky, start } from '../../commands/in_process.ts';
import { dumpOf } from '../../core/store/random_changes.ts';
import { delivery, provenance, result } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('store/backup');

test('a copy is all that there was, private, and can be worked with', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    const writer = new Writer(store);
    await writer.ingest([delivery(1n), delivery(2n), delivery(3n)], 1_000_000);
    const source = { ra: 1, dec: 2, payload: { parallax: 0.5 } };
    await writer.recordCrossmatches([result(1n, [source])], provenance, 2_000_000);
    const load = await writer.commit({ kind: 'begin_registry' });
    const record = { objid: 1, name: '2026a', namePrefix: 'SN', ra: 1, dec: 2, classification: null, redshift: null };
    await writer.commit({ kind: 'stage_registry', load, records: [record] });
    await publishLoad(writer, load, 1_000_000);
    await store.close();
    mkdirSync(join(data, 'rejected'));
    writeFileSync(join(data, 'rejected/lasair-2026-10-01.ndjson'), '{}\n');
    const target = join(directory, 'deep/er/copy');
    await nearsky('backup', target, '--data', data);
    assert.equal(readdirSync(target).sort(), ['nearsky.mdb', 'rejected']);
    assert.equal(
      [target, join(target, 'nearsky.mdb')].map(path => statSync(path).mode & 0o777),
      [0o700, 0o600],
    );
    assert.is(readFileSync(join(target, 'rejected/lasair-2026-10-01.ndjson'), 'utf8'), '{}\n');
    assert.equal(await dumpOf(target), await dumpOf(data));
    const copy = openStore(target, 'write');
    assert.is((await new Writer(copy).ingest([delivery(4n)], 3_000_000)).stored, 1);
    await copy.close();
  }));

test('it overwrites nothing, and leaves nothing where it fails', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await openStore(data, 'write').close();
    const empty = join(directory, 'empty');
    mkdirSync(empty);
    await nearsky('backup', empty, '--data', data);
    const file = join(directory, 'file');
    writeFileSync(file, 'x');
    const cases: [string, RegExp][] = [
      [empty, /it exists and a backup never overwrites: choose another directory/],
      [data, /it exists and a backup never overwrites/],
      [file, /it exists and a backup never overwrites/],
      [join(file, 'below'), /choose a writable directory/],
    ];
    for (const [target, reason] of cases) {
      const { code, stdout, stderr } = await start(['backup', target, '--data', data]).finished;
      assert.equal([code, stdout], [1, '']);
      assert.match(stderr, reason);
    }
    assert.equal(readdirSync(directory).sort(), ['data', 'empty', 'file']);
    assert.is((await start(['backup', '--data', data]).finished).code, 2);
    const missing = await start(['backup', join(directory, 'x'), '--data', join(directory, 'none')]).finished;
    assert.is(missing.code, 1);
    assert.equal(readdirSync(directory).sort(), ['data', 'empty', 'file']);
  }));

test.run();
