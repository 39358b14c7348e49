/** A data directory of an older format becomes one of the present format; one from before the first release is refused. */
import { join } from 'node:path';
import { open } from 'lmdb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Databases } from '../../../src/core/store/databases.ts';
import { FORMAT_VERSION, openEnvironment } from '../../../src/core/store/environment.ts';
import { LEVEL } from '../../../src/core/store/level.ts';
import { MetaValue } from '../../../src/core/store/meta.ts';
import { encodePlain } from '../../../src/core/store/records.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { UPGRADES } from '../../../src/core/store/upgrade.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { delivery, failure } from './support.ts';

const test = suite('store/upgrade');

const added = new MetaValue<number>('added by the next format');
const NEXT = [...UPGRADES, (databases: Databases) => added.write(databases, 7)];

/** Opens a directory as the next release would, whose format is one higher. */
const openNext = (directory: string, mode: 'read' | 'write', upgrades = NEXT) =>
  openEnvironment(directory, mode, LEVEL, upgrades);

async function fill(directory: string): Promise<void> {
  const store = openStore(directory, 'write');
  await new Writer(store).ingest([delivery(1n)], 1e6);
  await store.close();
}

test('a command that writes brings a directory to the next format, once; one that reads says so', () =>
  withDirectory(async directory => {
    await fill(directory);
    const { message } = await failure(() => openNext(directory, 'read'));
    assert.ok(
      message.includes(`its format is ${FORMAT_VERSION}, older than ${FORMAT_VERSION + 1}: run a command that writes`),
    );
    for (const mode of ['write', 'read', 'write'] as const) {
      const { root, databases } = openNext(directory, mode);
      assert.is(added.read(databases), 7);
      if (mode === 'write') databases.meta.transactionSync(() => added.write(databases, 7));
      await root.close();
    }
    const refused = await failure(() => openStore(directory, 'write'));
    assert.ok(refused.message.includes(`its format is ${FORMAT_VERSION + 1} and this nearsky supports formats up to`));
  }));

test('a step that fails leaves the directory as it was', () =>
  withDirectory(async directory => {
    await fill(directory);
    const failing = (databases: Databases) => {
      added.write(databases, 8);
      throw new Error('the step failed');
    };
    assert.instance(await failure(() => openNext(directory, 'write', [...UPGRADES, failing])), StoreError);
    const store = openStore(directory, 'read');
    assert.ok(store.getObject(1n));
    assert.is(added.read(store.databases), undefined);
    await store.close();
  }));

test('a new directory of the next format needs no step', () =>
  withDirectory(async directory => {
    const { root, databases } = openNext(join(directory, 'new'), 'write');
    assert.is(added.read(databases), undefined);
    await root.close();
  }));

test('a directory from before the first release is refused, with what to do', () =>
  withDirectory(async directory => {
    await fill(directory);
    const root = open<Uint8Array, Uint8Array>({ path: join(directory, 'nearsky.mdb'), overlappingSync: false });
    const meta = root.openDB<Uint8Array, Uint8Array>('meta', { keyEncoding: 'binary', encoding: 'binary' });
    await meta.remove(new TextEncoder().encode('data_format'));
    await meta.put(new TextEncoder().encode('format'), encodePlain(9));
    await root.close();
    for (const mode of ['read', 'write'] as const) {
      const error = await failure(() => openStore(directory, mode));
      assert.instance(error, StoreError);
      assert.match(error.message, /before the first release.*`nearsky export`.*`nearsky import`/);
    }
  }));

test.run();
