/** Memory that is no longer needed is returned to the system, even without other work that would make V8 collect garbage. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { noteGarbage } from '../../../src/core/base/shared_memory.ts';
import { eventually, root } from '../../directory.ts';
import { isDeno, runtimeArgs } from '../../runtime.ts';

const test = suite('base/shared_memory');

const MIB = 2 ** 20;
const BYTES = 256 * MIB;

/** Every page is written to, so that it is resident. */
function use(bytes: number): void {
  new Uint8Array(new SharedArrayBuffer(bytes)).fill(1);
}

test('what is released is returned to the system', async () => {
  const before = process.memoryUsage().rss;
  use(BYTES);
  assert.ok(process.memoryUsage().rss - before > BYTES / 2, 'it was resident');
  noteGarbage(BYTES);
  await eventually('it is returned', async () => process.memoryUsage().rss - before < BYTES / 2 || undefined);
});

test('a heap that has grown is returned', () => {
  // After some seconds V8 would return much of it by itself.
  const flag = '--no-memory-reducer';
  const options = isDeno ? [...runtimeArgs, `--v8-flags=${flag}`] : [flag];
  const { status, stderr } = spawnSync(process.execPath, [...options, join(root, 'test/core/base/grown_heap.ts')], {
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
});

test.run();
