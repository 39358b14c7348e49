/** An export of a database in which a page holds the bytes of another page, which LMDB does not notice, fails. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { start as inProcess } from '../../commands/in_process.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { copyLeaf, countLeaves } from '../../core/store/lmdb_pages.ts';
import { delivery, withStore } from '../../core/store/support.ts';
import { nearsky, start, withDirectory } from '../../e2e/support.ts';

const test = suite('transfer/damaged_pages');

const OBJECTS = 600;

const withFilled = (body: (directory: string) => Promise<void>) =>
  withDirectory(async directory => {
    await withStore(async (_store, writer, data) => {
      await fillSky(writer, OBJECTS);
      // Entries of the journal enough for several pages.
      for (let i = 1; i <= 150; i++) await writer.ingest([delivery(BigInt(i))], 1e15 + i);
      const load = await writer.commit({ kind: 'begin_registry' });
      const rest = { ra: 1, dec: 2, namePrefix: 'AT', classification: null, redshift: null };
      const records = Array.from({ length: 300 }, (_, objid) => ({ objid, name: `2026a${objid}`, ...rest }));
      await writer.commit({ kind: 'stage_registry', load, records });
      await publishLoad(writer, load, 1.7e15);
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

type Export = readonly [target: string, ...options: readonly string[]];

const AS_LINES: Export = ['out.ndjson'];
const AS_HATS: Export = ['hats', '--format', 'hats'];

/** Exports a data directory into itself. */
const exported = (data: string, [target, ...options]: Export) =>
  inProcess(['export', ...options, join(data, target), '--data', data, '--json']).finished;

test('of lines and of HATS: no page can hold another one of its database', () =>
  withFilled(async directory => {
    const sound = copyOf(directory);
    const lines = JSON.parse((await exported(sound, AS_LINES)).stdout);
    assert.equal([lines.object, lines.tns_object], [OBJECTS + 150, 300]);
    assert.is(JSON.parse((await exported(sound, AS_HATS)).stdout).objects, OBJECTS + 150);
    let damages = 0;
    for (const [database, exports] of [
      ['objects', [AS_LINES, AS_HATS]],
      ['sources', [AS_LINES, AS_HATS]],
      ['tns_objects', [AS_LINES]],
      ['journal', [[...AS_HATS, '--since', '1']]],
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
        for (const each of exports) {
          const copy = copyOf(directory);
          copyLeaf(copy, database, from, to);
          const { code, stderr } = await exported(copy, each as Export);
          assert.is(code, 1, `${database}: ${from} as ${to}`);
          assert.match(stderr, /^nearsky export: Cannot read .*: run `nearsky check`, then restore a backup$/m);
          assert.not(existsSync(join(copy, each[0])));
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
