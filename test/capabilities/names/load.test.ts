/** `nearsky tns load`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readRegistry, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { nearsky, start } from '../../commands/in_process.ts';
import { withDirectory } from '../../directory.ts';
import { COLUMNS_21, csvOf, someRecords, zipOf } from './support.ts';

const test = suite('tns/load');
const EPOCH_US = Date.UTC(2026, 1, 10) * 1000;

interface Registry {
  readonly epochUs: number | null;
  readonly records: TnsRecord[];
  /** Keys of all loads. */
  readonly keys: number;
}

async function registryIn(dataDir: string): Promise<Registry> {
  const store = openStore(dataDir, 'read');
  try {
    const keys = store.databases.tns_objects.getKeysCount() + store.databases.tns_names.getKeysCount();
    return { epochUs: readRegistryEpochUs(store.databases), records: [...readRegistry(store.databases)], keys };
  } finally {
    await store.close();
  }
}

test('a file in each of its forms replaces what was there, and nothing of that is left', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const forms: [string, (csv: string) => string | Buffer][] = [
      ['a.csv', csv => csv],
      ['a.csv.gz', gzipSync],
      ['a.csv.zip', csv => zipOf([{ name: 'tns_public_objects.csv', content: csv }])],
    ];
    for (const [i, [name, pack]] of forms.entries()) {
      const records = someRecords(1_500 + i).slice(i);
      const file = join(directory, name);
      writeFileSync(file, pack(csvOf('2026-02-10 00:00:00', records, i === 1 ? COLUMNS_21 : undefined)));
      const counts = await nearsky('tns', 'load', file, '--data', data);
      assert.equal(counts, {
        objects: 1_500,
        epoch: '2026-02-10T00:00:00+00:00',
        current: false,
        read: 1_500,
        accepted: 1_500,
        rejected: 0,
        reasons: {},
        notes: {},
        rejects_file: null,
      });
      assert.equal(await registryIn(data), { epochUs: EPOCH_US, records, keys: 3_000 });
    }
  }));

test('rejected rows are counted by reason and kept; of two rows of one objid the first counts', () =>
  withDirectory(async directory => {
    const file = join(directory, 'a.csv');
    const records = someRecords(5);
    const again = { ...records[1]!, name: '2026zzz' };
    const lines = csvOf('2026-02-10 00:00:00', [...records, again, records[0]!]).trimEnd();
    writeFileSync(file, `${lines}\n"not","a","row"\n`);
    const data = join(directory, 'data');
    const { rejects_file, ...counts } = await nearsky('tns', 'load', file, '--data', data, '--epoch', '2026-02-01');
    const reasons = { 'the row does not have 23 cells like the header': 1, 'an earlier row has the same objid': 1 };
    assert.equal([counts.read, counts.accepted, counts.rejected, counts.reasons], [8, 6, 2, reasons]);
    const kept = readFileSync(rejects_file as string, 'utf8')
      .trim()
      .split('\n');
    assert.equal(
      kept.map(line => JSON.parse(line).message.slice(0, 9)),
      ['not,a,row', '{"objid":'],
    );
    const registry = await registryIn(data);
    assert.equal(registry, { epochUs: Date.UTC(2026, 1, 1) * 1000, records, keys: 10 });
  }));

test('what cannot be used changes nothing, and says how to mend it', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const good = join(directory, 'good.csv');
    writeFileSync(good, csvOf('2026-02-10 00:00:00', someRecords(10)));
    await nearsky('tns', 'load', good, '--data', data);
    const before = await registryIn(data);
    const many = csvOf('2026-02-11 00:00:00', someRecords(3000));
    const zip = zipOf([{ name: 'a.csv', content: many }], checksum => checksum ^ 1);
    const cases: [string | Buffer, RegExp][] = [
      [csvOf(undefined, someRecords(3)), /does not state its time: give --epoch TIME/],
      [csvOf('2999-02-10 00:00:00', someRecords(3)), /its time is in the future/],
      [csvOf('2026-02-11 00:00:00', []), /it has no row with a registry object/],
      [zip, /checksum does not match: download it again/],
      [gzipSync(many).subarray(0, 20_000), /unexpected end of file: download it again/],
    ];
    for (const [bytes, reason] of cases) {
      const file = join(directory, 'bad');
      writeFileSync(file, bytes);
      const { code, stdout, stderr } = await start(['tns', 'load', file, '--data', data]).finished;
      assert.equal([code, stdout], [1, '']);
      assert.match(stderr, reason);
      assert.equal(await registryIn(data), before);
    }
    for (const args of [['load'], ['load', 'a', 'b'], ['load', good, '--epoch', 'soon'], ['frob']]) {
      assert.is((await start(['tns', ...args, '--data', data]).finished).code, 2, args.join(' '));
    }
  }));

test.run();
