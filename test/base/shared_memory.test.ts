/** Released shared memory is freed, even without other work that would make V8 collect garbage. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { discard } from '../../src/base/shared_memory.ts';
import { eventually } from '../directory.ts';

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
  discard(BYTES);
  await eventually('it is returned', async () => process.memoryUsage().rss - before < BYTES / 2 || undefined);
});

test.run();
