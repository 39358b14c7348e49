/**
 * A data directory on a file system that is mounted read-only: reading works there without a lock, and detects writers.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { checkout, eventually, nearsky, sample, start, withDirectory } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { isDeno } from '../../runtime.ts';
import { FACTS } from '../facts.ts';
import { startScript } from './script.ts';
import { delivery } from './support.ts';

const test = suite('store/read_only');

const HOLDING = new URL('holding_process.ts', import.meta.url);
const NOW_US = 1_800_000_000_000_000;
const BIND = 'mount --bind "$0" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"';

/** A program that runs the command after it where `place` is `directory`, read-only. */
const readOnly = (directory: string, place: string) => ['unshare', '--mount', 'sh', '-c', BIND, directory, place];

const obstacle = await withDirectory(async directory => {
  mkdirSync(join(directory, 'place'));
  const [program, ...args] = [...readOnly(directory, join(directory, 'place')), 'true'];
  return spawnSync(program!, args).status === 0 ? undefined : 'this process may not mount a directory read-only';
});
const mounts = needs(test, obstacle);

/** A directory with data, and a place to mount it at. */
const withPlace = (body: (directory: string, data: string, place: string) => Promise<void>) =>
  withDirectory(async temporary => {
    const directory = realpathSync(temporary);
    mkdirSync(join(directory, 'place'));
    await body(directory, join(directory, 'data'), join(directory, 'place'));
  });

const readers = FACTS.flatMap(({ reader = [] }) => reader);

mounts('what only reads reads it, what writes is refused', () =>
  withPlace(async (directory, data, place) => {
    const { ra, dec } = delivery(1n).position!;
    const alerts = join(sample, 'alerts/lasair.ndjson');
    const cone = ['cone', '--', `${ra}`, `${dec}`, '1'];
    await nearsky('ingest', '--broker', 'lasair', alerts, '--data', data);
    const before = readdirSync(data);
    const [file, ...args] = [...readOnly(data, place), checkout.file, ...checkout.args];
    const run = (command: readonly string[]) =>
      start([command[0]!, '--data', place, ...command.slice(1)], {}, { ...checkout, file: file!, args }).finished;
    const commands = [
      ['stats', '--json'],
      ['check', '--json'],
      ...readers.map(({ args }) => args(directory)),
      ['lookup', '1'],
      cone,
    ];
    for (const command of commands) {
      const { code, stderr } = await run(command);
      assert.is(code, 0, `${command}: ${stderr}`);
      assert.not.match(stderr, /index_failed/, `${command}`);
    }
    assert.equal(readdirSync(data), before, 'nothing was made there');
    for (const { check } of readers) await check(directory, data);
    for (const command of [['ingest', '--broker', 'lasair', alerts], ['crossmatch'], ['serve', '--port', '0']]) {
      const { code, stderr } = await run(command);
      assert.is(code, 1, stderr);
      assert.match(
        stderr,
        /Cannot write to the data directory .* because its file system is mounted read-only/,
        stderr,
      );
    }
  }),
);

needs(test, obstacle ?? (isDeno ? 'Deno gives no access to /proc of others' : undefined))(
  'it is not read while a process that can write it has it open',
  () =>
    withPlace(async (_directory, data, place) => {
      const store = openStore(data, 'write');
      await new Writer(store).ingest([delivery(1n)], NOW_US);
      const script = new URL('opening_process.ts', import.meta.url);
      const { output } = await startScript(script, [place, 'read'], { under: readOnly(data, place) }).ended;
      await store.close();
      assert.match(
        output,
        new RegExp(`read-only here and process ${process.pid}, which has it open elsewhere, may overwrite`),
      );
      const later = await startScript(script, [place, 'read'], { under: readOnly(data, place) }).ended;
      assert.is(later.output, 'opened\n');
    }),
);

mounts('somebody writes to it elsewhere while it is read: that is said', () =>
  withPlace(async (_directory, data, place) => {
    const write = async () => {
      const store = openStore(data, 'write');
      await new Writer(store).ingest([delivery(1n)], NOW_US);
      await store.close();
    };
    await write();
    for (const isDisturbed of [false, true]) {
      const { child, ended, output } = startScript(HOLDING, [place, 'read'], {
        stdin: 'pipe',
        under: readOnly(data, place),
      });
      await eventually('the directory to be open', async () => output() || undefined);
      if (isDisturbed) await write();
      child.stdin!.end();
      const expected = isDisturbed
        ? /Cannot trust the data read from .* read-only here and another host wrote/
        : /undisturbed/;
      assert.match((await ended).output, expected);
    }
  }),
);

test.run();
