import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RegistryError } from '../../src/tns/errors.ts';
import { readPublicPath } from '../../src/tns/public_file.ts';
import { withDirectory } from '../e2e/support.ts';
import { failure } from '../store/support.ts';
import { csvOf, someRecords, zipOf } from './support.ts';

const test = suite('tns/public_file');
const csv = csvOf('2026-02-10 00:00:00', someRecords(20_000));
const name = 'tns_public_objects.csv';

async function readBack(directory: string, bytes: string | Buffer): Promise<string> {
  const file = join(directory, 'file');
  writeFileSync(file, bytes);
  const pieces: Buffer[] = [];
  for await (const piece of readPublicPath(file)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

test('plain, gzipped and zipped are one', () =>
  withDirectory(async directory => {
    const zips = [
      zipOf([{ name, content: csv }]),
      zipOf([
        { name: 'readme.txt', content: 'x' },
        { name, content: csv },
      ]),
    ];
    for (const bytes of [csv, gzipSync(csv), ...zips]) assert.ok((await readBack(directory, bytes)) === csv);
    assert.is(await readBack(directory, ''), '');
    assert.is(await readBack(directory, 'a'), 'a');
  }));

test('damaged files, each with its own reason', () =>
  withDirectory(async directory => {
    const zip = zipOf([{ name, content: csv }]);
    const gzip = gzipSync(csv);
    const flipped = Buffer.from(gzip);
    flipped[flipped.length - 6]! ^= 1;
    const cases: [Buffer, RegExp][] = [
      [zipOf([{ name, content: csv }], checksum => checksum ^ 1), /checksum does not fit/],
      [zip.subarray(0, zip.length - 30), /end of central directory/i],
      [zip.subarray(0, 1000), /end of central directory/i],
      [zipOf([{ name: 'readme.txt', content: csv }]), /a zip without a CSV file/],
      [
        zipOf([
          { name, content: csv },
          { name: 'b.CSV', content: csv },
        ]),
        /holds several CSV files/,
      ],
      [gzip.subarray(0, gzip.length / 2), /unexpected end/i],
      [flipped, /incorrect data check|invalid/i],
    ];
    for (const [bytes, reason] of cases) {
      const error = await failure(() => readBack(directory, bytes));
      assert.instance(error, RegistryError);
      assert.match(error.message, reason);
      assert.match(error.message, /^Cannot read .+file as .+: download it again$/);
    }
    const missing = await failure(async () => {
      for await (const _ of readPublicPath(join(directory, 'missing')));
    });
    assert.match(missing.message, /ENOENT.*: give the path of a public TNS file/);
  }));

test.run();
