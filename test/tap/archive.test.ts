/**
 * The directories of engines: each engine has its own, and the directory of an ended process is taken over only once.
 */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownDirectory } from '../../src/tap/archive.ts';
import { withDirectory } from '../http/support.ts';

const test = suite('tap/archive');

/** No system has processes with these numbers. */
const ENDED = [2 ** 22 + 1, 2 ** 22 + 2];

test('another engine that runs keeps its directory; one that has ended leaves its own', () =>
  withDirectory(async directory => {
    const all = join(directory, 'tap');
    for (const pid of [process.ppid, ...ENDED]) {
      mkdirSync(join(all, `${pid}`), { recursive: true });
      writeFileSync(join(all, `${pid}`, 'a'), 'x');
    }
    const own = ownDirectory(all);
    assert.is(own, join(all, `${process.pid}`));
    assert.equal(readdirSync(all).sort(), [`${process.pid}`, `${process.ppid}`].sort());
    assert.ok(existsSync(join(own, 'a')));
    assert.ok(existsSync(join(all, `${process.ppid}`, 'a')));
    assert.is(ownDirectory(all), own);
    assert.ok(existsSync(join(own, 'a')));
  }));

test('of several engines that have ended, the directory that changed last is taken over', async () => {
  for (const newest of ENDED)
    await withDirectory(async directory => {
      for (const pid of ENDED) {
        const path = join(directory, `${pid}`);
        mkdirSync(path);
        writeFileSync(join(path, `${pid}`), '');
        utimesSync(path, 1000, pid === newest ? 2000 : 1000);
      }
      assert.equal(readdirSync(ownDirectory(directory)), [`${newest}`]);
    });
});

test.run();
