/** The processes that have the database open, also after its file is replaced. */
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { DatabaseWatch } from '../../../src/core/generations/database_watch.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { withDirectory } from '../../directory.ts';

const test = suite('generations/database_watch');

test('the processes that use the database are unknown once its file was replaced: they have the new file open', () =>
  withDirectory(async directory => {
    const file = join(directory, 'nearsky.mdb');
    await openStore(directory, 'write').close();
    const watch = new DatabaseWatch(directory, new SharedState(), () => {});
    try {
      assert.ok(watch.livePids?.has(process.pid));
      cpSync(file, `${file}-copy`);
      renameSync(`${file}-copy`, file);
      assert.is(watch.livePids, undefined);
    } finally {
      watch.close();
    }
  }));

test.run();
