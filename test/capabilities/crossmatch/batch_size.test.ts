import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultBatchSize, MAX_BATCH_SIZE } from '../../../src/capabilities/crossmatch/batch_size.ts';

const test = suite('crossmatch/batch_size');

test('a batch is as large as the memory allows, within bounds', () => {
  const sizes = [0, 2 ** 20, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 33, 2 ** 40].map(defaultBatchSize);
  assert.equal(sizes.slice(0, 2), [10_000, 10_000]);
  assert.equal(
    sizes,
    sizes.toSorted((a, b) => a - b),
  );
  assert.ok(sizes[3]! > 100_000, 'with 2 GiB, 100,000 objects are one pass over the files');
  assert.is(sizes.at(-1), MAX_BATCH_SIZE);
});

test('this runtime says how much memory there is', () => {
  assert.ok(process.availableMemory() > 2 ** 20);
  assert.ok(defaultBatchSize(process.availableMemory()) >= 10_000);
});

test.run();
