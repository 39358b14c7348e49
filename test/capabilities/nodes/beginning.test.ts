/** An archive begins and leaves a log only while no other process uses it. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginLog, leaveLog } from '../../../src/capabilities/nodes/beginning.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import { LEVEL, readLevel } from '../../../src/core/store/level.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { Link, MemoryLog } from '../../core/cluster/memory_log.ts';
import { NEWER } from '../../core/cluster/next_release.ts';
import { startScript } from '../../core/store/script.ts';
import { delivery } from '../../core/store/support.ts';
import { eventually, withDirectory } from '../../directory.ts';

const test = suite('nodes/beginning');

const HOLDING = new URL('../../core/store/holding_process.ts', import.meta.url);

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
    assert.is(readLogPosition(store.databases), undefined);
    await refuses(leaveLog(store), /^Cannot leave the log because this archive follows none/);

    await beginLog(store, link);
    await whileUsed(() => leaveLog(store), 'leave the log');
    assert.ok(readLogPosition(store.databases));
    await leaveLog(store);
    assert.is(readLogPosition(store.databases), undefined);
    await store.close();
  }));

test('a log that goes on from an archive begins at the level of the release that begins it', () =>
  withDirectory(async directory => {
    const [first, older] = [NEWER, LEVEL].map(level => openStore(join(directory, `${level}`), 'write', level));
    await new Writer(first!).ingest([delivery(1n)], 1_772_020_800_000_000);
    const log = new MemoryLog();
    const link = new Link(log);
    link.append = async (id, record) => log.append(id, record);
    await beginLog(first!, link);
    first!.resetRead();
    assert.equal([readLevel(first!.databases), log.end], [NEWER, 2]);
    const refused = await rejection(new Node(older!, new Link(log)).step());
    assert.match(refused.message, /the log continues an archive that this node/);
    await Promise.all([first!.close(), older!.close()]);
  }));

test.run();
