/** Files that are removed, replaced or truncated while a process has them open. */
import { closeSync, openSync, renameSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { needs } from '../../needs.ts';
import { isDeno } from '../../runtime.ts';
import { startScript } from './script.ts';
import { delivery, failure, withStore } from './support.ts';

const test = suite('store/identity');

const NOW_US = 1_800_000_000_000_000;
const lockIn = (directory: string) => join(directory, 'nearsky.mdb-lock');
const fileIn = (directory: string) => join(directory, 'nearsky.mdb');

test('a lock file that is removed: nothing is written until all have stopped, and nothing is lost', () =>
  withStore(async (store, writer, directory) => {
    await writer.ingest([delivery(1n)], NOW_US);
    unlinkSync(lockIn(directory));
    const removed = await failure(() => writer.ingest([delivery(2n)], NOW_US));
    assert.is(removed.name, 'StoreError');
    assert.match(removed.message, /its lock file was removed.* stop every nearsky process/);
    assert.match((await failure(() => store.requireInPlace())).message, /its lock file was removed/);
    writeFileSync(lockIn(directory), '');
    assert.match((await failure(() => writer.ingest([delivery(2n)], NOW_US))).message, /removed and recreated/);
    assert.equal(store.files.change()?.file, 'lock');
    assert.is(store.getObject(2n), undefined);
    assert.ok(store.getObject(1n), 'it can still be read');
    unlinkSync(lockIn(directory));
    await store.close();
    const again = openStore(directory, 'write');
    assert.ok(again.getObject(1n));
    await again.close();
  }));

test('a lock file that is put back is the same one', () =>
  withStore(async (store, writer, directory) => {
    renameSync(lockIn(directory), `${lockIn(directory)}.away`);
    assert.is(store.files.change()?.what, 'removed');
    renameSync(`${lockIn(directory)}.away`, lockIn(directory));
    assert.is(store.files.change(), undefined);
    await writer.ingest([delivery(1n)], NOW_US);
  }));

const obstacle = isDeno
  ? 'Deno gives no access to /proc of others'
  : process.platform === 'linux'
    ? undefined
    : 'only Linux has /proc';

needs(test, obstacle)('no other process makes a second lock file beside one that has the database open', () =>
  withStore(async (_store, writer, directory) => {
    await writer.ingest([delivery(1n)], NOW_US);
    unlinkSync(lockIn(directory));
    const script = new URL('opening_process.ts', import.meta.url);
    const { code, output } = await startScript(script, [directory]).ended;
    assert.is(code, 0);
    assert.match(output, new RegExp(`process ${process.pid} has its database open and the lock file .* was removed`));
    assert.is(statSync(lockIn(directory), { throwIfNoEntry: false }), undefined);
  }),
);

test('a database file that is removed, replaced, cut short', () =>
  withStore(async (store, writer, directory) => {
    const file = fileIn(directory);
    await writer.ingest([delivery(1n)], NOW_US);
    assert.is(store.files.change(), undefined);
    renameSync(file, `${file}.away`);
    assert.equal([store.files.change()?.file, store.files.change()?.what], ['database', 'removed']);
    closeSync(openSync(file, 'w'));
    assert.is(store.files.change()?.what, 'replaced');
    renameSync(`${file}.away`, file);
    assert.is(store.files.change(), undefined);
    const { size } = statSync(file);
    truncateSync(file, size - 4096);
    assert.is(store.files.change()?.what, 'truncated');
    assert.match((await failure(() => store.requireInPlace())).message, /truncated.*restore a backup/);
    truncateSync(file, size);
  }));

test.run();
