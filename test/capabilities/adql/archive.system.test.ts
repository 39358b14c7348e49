/**
 * The directories of engines: each engine has its own, and the directory of an ended process is taken over only once. And
 * the process that exports the first tables.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownDirectory } from '../../../src/capabilities/adql/archive.ts';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { heapLimit } from '../../../src/core/base/runtime.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { eventually, withDirectory } from '../../core/http/support.ts';
import { failure } from '../../core/store/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { answerOf, closed } from './support.ts';

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

/** Opens an engine with so much memory on an archive without objects. */
const withEngine = (memoryMib: number, use: (engine: Engine, directory: string) => Promise<void>) =>
  withDirectory(async directory => {
    await openStore(directory, 'write').close();
    const options = { memoryMib, threads: 1, refreshSeconds: 3600, mergeAfter: 0, earlierStates: 0 };
    const engine = await Engine.open({ ...options, dataDir: directory });
    try {
      await use(engine, directory);
    } finally {
      await closed(engine);
    }
  });

needs(test, duckdbObstacle())('the export of the first tables does not have the small heap of the engine', async () => {
  const before = { ...process.env };
  // An engine limits its heap, too. With this limit no program could run.
  Object.assign(process.env, heapLimit(4));
  try {
    await withEngine(256, async engine => {
      assert.match(await answerOf(engine, 'SELECT COUNT(*) AS n FROM objects'), /^n\r?\n0/);
    });
  } finally {
    for (const name of Object.keys(heapLimit(4))) delete process.env[name];
    Object.assign(process.env, before);
  }
});

needs(test, duckdbObstacle())('if the tables cannot be made, queries say so, and the next attempt waits', () =>
  // The engine's library needs more than 1 MiB for any table.
  withEngine(1, async engine => {
    const refusal = async () => (await failure(() => answerOf(engine, 'SELECT COUNT(*) FROM objects'))).message;
    assert.match(
      await refusal(),
      /"unavailable","message":"the tables cannot be made: the log of the service says why"/,
    );
    assert.match(await refusal(), /"early","message":"the tables could not be made.* next attempt begins in \d+ s"/);
  }),
);

const isLinux = process.platform === 'linux';

needs(test, isLinux ? duckdbObstacle() : 'the process is found on Linux')(
  'if the process that makes the tables is killed, it leaves no files',
  () =>
    withEngine(256, async (engine, directory) => {
      const refused = failure(() => answerOf(engine, 'SELECT COUNT(*) FROM objects'));
      await eventually('the export', async () => globSync('tap/*/new-*/*', { cwd: directory })[0]);
      const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', `${process.pid}`], { encoding: 'utf8' });
      process.kill(
        Number.parseInt(stdout.split('\n').find(line => line.includes('src/capabilities/adql/maker'))!, 10),
        'SIGKILL',
      );
      assert.match((await refused).message, /the tables cannot be made/);
      assert.equal(
        globSync('tap/*/*', { cwd: directory }).filter(name => !name.includes('beside.duckdb')),
        [],
      );
    }),
);

test.run();
