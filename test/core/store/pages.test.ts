/**
 * The pages of a database file, checked without LMDB: intact files have no faults, and pages wrongly listed as free are
 * found.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkPages } from '../../../src/core/store/pages.ts';
import { withDirectory } from '../../directory.ts';
import { random } from '../../e2e/kill_support.ts';

const test = suite('store/pages');

const BYTES = { keyEncoding: 'binary', encoding: 'binary' } as const;
const HEADER_BYTES = 24;
const NODE_BYTES = 8;

const openIn = (directory: string) =>
  open<Uint8Array, Uint8Array>({ path: join(directory, 'nearsky.mdb'), overlappingSync: false, maxDbs: 4, ...BYTES });

test('values of all lengths come and go, several times in a commit, beside a reader: no fault', () =>
  withDirectory(async directory => {
    const root = openIn(directory);
    const databases = ['one', 'other'].map(name => root.openDB<Uint8Array, Uint8Array>(name, BYTES));
    let held: { done(): void } | undefined;
    for (let commit = 0; commit < 100; commit++) {
      root.transactionSync(() => {
        for (let i = 300 * random(); i > 0; i--) {
          const database = databases[Math.floor(2 * random())]!;
          const key = Buffer.from([200 * random(), 0, 0, 1]);
          if (random() < 0.4) database.remove(key);
          else database.put(key, Buffer.alloc(random() < 0.2 ? 60_000 * random() : 600 * random()));
        }
      });
      root.resetReadTxn();
      const now = root.useReadTransaction();
      assert.equal(checkPages(join(directory, 'nearsky.mdb')).faults, [], `after commit ${commit}`);
      if (random() < 0.9) now.done();
      else {
        held?.done();
        held = now;
      }
    }
    held?.done();
    await root.close();
  }));

/** A file with free pages, the places of two of their numbers in it, and a page that is in use. */
async function withFreePages(directory: string) {
  const root = openIn(directory);
  const database = root.openDB<Uint8Array, Uint8Array>('one', BYTES);
  for (const length of [50_000, 10, 10])
    root.transactionSync(() => void database.putSync(Buffer.from('key1'), Buffer.alloc(length)));
  await root.close();
  const bytes = readFileSync(join(directory, 'nearsky.mdb'));
  const pageBytes = bytes.readUInt32LE(48);
  const metas = [0, pageBytes].sort((a, b) => Number(bytes.readBigUInt64LE(b + 152) - bytes.readBigUInt64LE(a + 152)));
  const [free, main] = [48, 96].map(tree => Number(bytes.readBigUInt64LE(metas[0]! + tree + 40)));
  const places: number[] = [];
  const leaf = free! * pageBytes;
  for (let i = 0; i < bytes.readUInt16LE(leaf + 20) / 2; i++) {
    const node = leaf + HEADER_BYTES + bytes.readUInt16LE(leaf + HEADER_BYTES + 2 * i);
    const list = node + NODE_BYTES + bytes.readUInt16LE(node + 6);
    for (let word = 1; word <= Number(bytes.readBigInt64LE(list)); word++) {
      const isPage = bytes.readBigInt64LE(list + 8 * word) > 0n && bytes.readBigInt64LE(list + 8 * (word - 1)) >= 0n;
      if (isPage) places.push(list + 8 * word);
    }
  }
  return { bytes, places, used: BigInt(main!) };
}

test('a free page that is in use, listed twice, or not there', () =>
  withDirectory(async directory => {
    const { bytes, places, used } = await withFreePages(directory);
    const file = join(directory, 'nearsky.mdb');
    assert.equal(checkPages(file).faults, []);
    const [one, other] = places as [number, number];
    for (const [page, said] of [
      [used, `page ${used} is in use`],
      [bytes.readBigInt64LE(other), `page ${bytes.readBigInt64LE(other)} is listed twice`],
      [10n ** 6n, 'it lists page 1000000, which does not exist'],
    ] as const) {
      const damaged = Buffer.from(bytes);
      damaged.writeBigInt64LE(page, one);
      writeFileSync(file, damaged);
      assert.equal(checkPages(file).faults, [`the tree of free pages: ${said}`]);
    }
  }));

test.run();
