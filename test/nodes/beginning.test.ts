/** An archive begins and leaves a log only while no other process uses it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginLog, leaveLog } from '../../src/capabilities/nodes/beginning.ts';
import { openStore } from '../../src/core/store/store.ts';
import { StoreError } from '../../src/core/store/store_error.ts';
import { rejection } from '../core/catalogs/support.ts';
import { Link, MemoryLog } from '../core/cluster/memory_log.ts';
import { startScript } from '../core/store/script.ts';
import { eventually, withDirectory } from '../directory.ts';

const test = suite('nodes/beginning');

const HOLDING = new URL('../core/store/holding_process.ts', import.meta.url);

test('while another process uses the archive, it neither begins nor leaves a log', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const log = new MemoryLog();
    const link = new Link(log);
    link.append = async (id, record) => log.append(id, record);
    const refuses = async (change: Promise<void>, says: RegExp) => {
      const failure = await rejection(change);
      assert.instance(failure, StoreError);
      assert.match(failure.message, says);
    };
    const whileUsed = async (change: () => Promise<void>, cannot: string) => {
      const other = startScript(HOLDING, [directory, 'read'], { stdin: 'pipe' });
      await eventually('the other process has it open', async () => other.output() !== '' || undefined);
      await refuses(change(), new RegExp(`^Cannot ${cannot} while process ${other.child.pid} uses it`));
      other.child.stdin!.end();
      assert.is((await other.ended).code, 0);
    };
    await whileUsed(() => beginLog(store, link), 'begin the log with this archive');
    assert.is(store.logPosition(), undefined);
    await refuses(leaveLog(store), /^Cannot leave the log because this archive follows none/);

    await beginLog(store, link);
    await whileUsed(() => leaveLog(store), 'leave the log');
    assert.ok(store.logPosition());
    await leaveLog(store);
    assert.is(store.logPosition(), undefined);
    await store.close();
  }));

test.run();
