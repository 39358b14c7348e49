/** Memory that is no longer needed is returned to the system, even without other work that would make V8 collect garbage. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { boundHeap, discard } from '../../src/base/shared_memory.ts';
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

test('a heap that has grown is returned', async () => {
  const end = boundHeap(16, 100);
  const before = process.memoryUsage().rss;
  let kept: object[] = Array.from({ length: 4_000_000 }, (_, i) => ({ i }));
  assert.ok(process.memoryUsage().rss - before > 64 * MIB, 'it was resident');
  kept = [];
  await eventually('it is returned', async () => process.memoryUsage().rss - before < 32 * MIB || undefined);
  assert.is(kept.length, 0);
  end();
});

test.run();
