import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readPublicFile, readPublicPath } from '../../../src/capabilities/names/public_file.ts';
import { RegistryError } from '../../../src/capabilities/names/registry_file.ts';
import { failure } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
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

test('the bytes of the file that are read are told, up to the whole of it', () =>
  withDirectory(async directory => {
    const file = join(directory, 'file');
    const zip = zipOf([{ name, content: csv }]);
    for (const [bytes, beside] of [
      [csv, 0],
      [gzipSync(csv), 0],
      // The names and the directory of a zip are read by other ways.
      [zip, 300],
    ] as const) {
      writeFileSync(file, bytes);
      let read = 0;
      for await (const _ of readPublicPath(file, further => (read += further)));
      assert.ok(read <= bytes.length && read >= bytes.length - beside, `${read} of ${bytes.length}`);
    }
  }));

test('damaged files, each with its own reason', () =>
  withDirectory(async directory => {
    const zip = zipOf([{ name, content: csv }]);
    const gzip = gzipSync(csv);
    const flipped = Buffer.from(gzip);
    flipped[flipped.length - 6]! ^= 1;
    const cases: [Buffer, RegExp][] = [
      [zipOf([{ name, content: csv }], checksum => checksum ^ 1), /checksum does not match/],
      [zip.subarray(0, zip.length - 30), /end of central directory/i],
      [zip.subarray(0, 1000), /end of central directory/i],
      [zipOf([{ name: 'readme.txt', content: csv }]), /a zip file without a CSV file/],
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
      assert.match(error.message, /^Cannot read .+file because .+: download it again$/);
    }
    const missing = await failure(async () => {
      for await (const _ of readPublicPath(join(directory, 'missing')));
    });
    assert.match(missing.message, /ENOENT.*: use the path of a public TNS file/);
  }));

test('whatever the file, its descriptor stays open, and is its: closing another one would lose what is written there', async () => {
  await withDirectory(async directory => {
    const file = join(directory, 'damaged');
    const gzipped = gzipSync(randomBytes(3_000_000));
    const damagedEarly = Buffer.from(gzipped).fill(0xff, 10, 20);
    for (const bytes of [
      damagedEarly,
      gzipped.subarray(0, 200),
      Buffer.concat([gzipped.subarray(0, 50), gzipped]),
      Buffer.from('PK\x03\x04none'),
    ]) {
      writeFileSync(file, bytes);
      const descriptor = openSync(file, 'r');
      await failure(async () => {
        for await (const _ of readPublicFile(descriptor, 'damaged'));
      });
      // Whatever was to be closed later is closed by then.
      await new Promise(resolve => setTimeout(resolve, 20));
      assert.is(fstatSync(descriptor).size, bytes.length);
      closeSync(descriptor);
    }
  });
});

test('a file of which the rest is not wanted is closed when nothing reads from it any more', () =>
  withDirectory(async directory => {
    const unforeseen: Error[] = [];
    const note = (error: Error) => unforeseen.push(error);
    process.on('uncaughtException', note);
    try {
      for (const bytes of [csv, gzipSync(csv, { level: 1 }), zipOf([{ name, content: csv }])]) {
        const file = join(directory, 'file');
        writeFileSync(file, bytes);
        for (let taken = 0; taken < 20; taken++) {
          let piece = 0;
          for await (const _ of readPublicPath(file)) if (piece++ === taken % 3) break;
          // An error of a stream about the closed file would come to light by then.
          await new Promise(resolve => setTimeout(resolve, 5));
        }
      }
    } finally {
      process.off('uncaughtException', note);
    }
    assert.equal(unforeseen, []);
  }));

test.run();
