/** An export of a database in which a page holds the bytes of another page, which LMDB does not notice, fails. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exportHats } from '../../../src/capabilities/hats/hats_exporter.ts';
import { exportStore } from '../../../src/capabilities/transfer/exporter.ts';
import { openStore, StoreError } from '../../../src/core/store/store.ts';
import { copyLeaf, countLeaves } from '../../core/store/lmdb_pages.ts';
import { delivery, withStore } from '../../core/store/support.ts';
import { nearsky, start, withDirectory } from '../../e2e/support.ts';
import { fillSky } from '../hats/support.ts';

const test = suite('transfer/damaged_pages');

const OBJECTS = 600;

const withFilled = (body: (directory: string) => Promise<void>) =>
  withDirectory(async directory => {
    await withStore(async (_store, writer, data) => {
      await fillSky(writer, OBJECTS);
      // Entries of the journal enough for several pages.
      for (let i = 1; i <= 150; i++) await writer.ingest([delivery(BigInt(i))], 1e15 + i);
      const load = await writer.beginRegistry();
      const rest = { ra: 1, dec: 2, namePrefix: 'AT', classification: null, redshift: null };
      const records = Array.from({ length: 300 }, (_, objid) => ({ objid, name: `2026a${objid}`, ...rest }));
      await writer.stageRegistry(load, records);
      await writer.publishRegistry(load, 1.7e15);
      copyFileSync(join(data, 'nearsky.mdb'), join(directory, 'nearsky.mdb'));
    });
    await body(directory);
  });

let copies = 0;
function copyOf(directory: string): string {
  const copy = join(directory, `copy${copies++}`);
  mkdirSync(copy);
  copyFileSync(join(directory, 'nearsky.mdb'), join(copy, 'nearsky.mdb'));
  return copy;
}

type Export = (directory: string) => Promise<unknown>;

async function withOpen<T>(directory: string, body: (store: ReturnType<typeof openStore>) => Promise<T>): Promise<T> {
  const store = openStore(directory, 'read');
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

const asLines: Export = directory =>
  withOpen(directory, async store => {
    const { object, tns_object } = await exportStore(store, join(directory, 'out.ndjson'), () => {});
    return [object, tns_object];
  });

const asHats =
  (since?: number): Export =>
  dataDir =>
    withOpen(dataDir, async store => {
      const target = join(dataDir, 'hats');
      const rest = { builder: 'test', threads: 1, onProgress() {}, ...(since !== undefined && { since }) };
      return (await exportHats({ dataDir, store, target, ...rest })).objects;
    });

test('of lines and of HATS: no page can hold another one of its database', () =>
  withFilled(async directory => {
    const sound = copyOf(directory);
    assert.equal(await asLines(sound), [OBJECTS + 150, 300]);
    assert.is(await asHats()(sound), OBJECTS + 150);
    let damages = 0;
    for (const [database, exports] of [
      ['objects', [asLines, asHats()]],
      ['sources', [asLines, asHats()]],
      ['tns_objects', [asLines]],
      ['journal', [asHats(1)]],
    ] as const) {
      const leaves = countLeaves(directory, database);
      assert.ok(leaves >= 3, `${database} has ${leaves} leaves`);
      const last = leaves - 1;
      for (const [from, to] of [
        [0, 1],
        [1, 0],
        [0, last],
        [last, 0],
        [last - 1, last],
      ] as const) {
        for (const run of exports) {
          const copy = copyOf(directory);
          copyLeaf(copy, database, from, to);
          const error = await run(copy).then(
            found => assert.unreachable(`${database}: ${from} as ${to} gave ${found}`),
            failed => failed,
          );
          assert.instance(error, StoreError, `${database}: ${from} as ${to}: ${error.stack}`);
          assert.match(error.message, /^Cannot read .*: run `nearsky check`, then restore a backup$/);
          for (const name of ['out.ndjson', 'hats']) assert.not(existsSync(join(copy, name)), name);
          damages++;
        }
      }
    }
    assert.is(damages, 30);
  }));

test('the commands exit with 1, with a message, also where the lines go to standard output', () =>
  withFilled(async directory => {
    copyLeaf(directory, 'objects', 2, 1);
    const [out, hats] = [join(directory, 'out.ndjson.gz'), join(directory, 'hats')];
    for (const args of [[], [out], ['--format', 'hats', hats]]) {
      const { code, stderr } = await start(['export', '--data', directory, ...args]).finished;
      assert.is(code, 1, args.join(' '));
      assert.match(stderr, /Cannot read objects because \d+ follows \d+, so entries are missing: run `nearsky check`/);
    }
    assert.equal([existsSync(out), existsSync(hats)], [false, false]);
    const { code, stdout } = await start(['check', '--data', directory]).finished;
    assert.is(code, 1);
    assert.match(stdout, /contains the number of another page/);
  }));

test('a database without damage: exit 0, and every line', () =>
  withFilled(async directory => {
    const counts = await nearsky('export', '--data', directory, join(directory, 'out.ndjson'));
    assert.equal([counts.object, counts.tns_object], [OBJECTS + 150, 300]);
  }));

test.run();
