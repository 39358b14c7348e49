/** The position table: rows in the order of storing, whatever the sizes of the commits. */
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readPositions } from '../../../src/core/store/positions.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { delivery } from './support.ts';

const test = suite('store/positions');

test('commits of any size, about those of a chunk too: every row, and every part of the table', async () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(510, 511, 512, 1022, 1500)), {
    minLength: 1,
    maxLength: 6,
  });
  const check = (commits: readonly number[], from: number, to: number) =>
    withDirectory(async directory => {
      const store = openStore(directory, 'write');
      const writer = new Writer(store);
      const expected: (bigint | number)[][] = [];
      for (const [commit, size] of commits.entries()) {
        const deliveries = Array.from({ length: size }, (_, i) => {
          const row = expected.length + i;
          const position = row % 11 === 3 ? null : { ra: row / 100, dec: -row / 100 };
          return delivery(BigInt(9_000_000 - row), { position });
        });
        await writer.ingest([...deliveries, deliveries[0]!], 1000 + commit);
        for (const { diaObjectId, position } of deliveries.toReversed())
          expected.push([diaObjectId, position?.ra ?? Number.NaN, position?.dec ?? Number.NaN, 1000 + commit]);
        assert.is(store.tableAt(commit + 1)?.rows, expected.length);
      }
      const [first, end] = [from, to].map(part => Math.floor(part * expected.length)).sort((a, b) => a - b);
      for (const [start, stop] of [
        [0, expected.length],
        [first!, end!],
      ] as const) {
        const { ids, fields, count } = readPositions(store.databases, start, stop);
        const rows = Array.from({ length: count }, (_, i) => [ids[4 * i], ...fields.subarray(4 * i + 1, 4 * i + 4)]);
        assert.is(String(rows), String(expected.slice(start, stop)));
      }
      assert.throws(() => readPositions(store.databases, 0, expected.length + 1), /database is damaged/);
      assert.is(store.tableAt(commits.length + 1), undefined);
      await store.close();
    });
  const parts = fc.double({ min: 0, max: 1, noNaN: true });
  await fc.assert(fc.asyncProperty(sizes, parts, parts, check), { numRuns: 25 });
});

test.run();
