/** The index is saved often enough for a start after a kill, and seldom enough for the disk. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSaveDue } from '../../../src/core/generations/indexer.ts';

const test = suite('generations/save_plan');

test('what has not grown is never saved', () => {
  for (const rows of [0, 5_000_000]) {
    assert.not(isSaveDue({ rows, savedRows: rows, sinceMs: 1e12, tookMs: 0 }));
  }
});

test('an index that was built anew is saved within seconds, one that grew by little within a quarter of an hour', () => {
  const rows = 5_000_000;
  assert.ok(isSaveDue({ rows, savedRows: 0, sinceMs: 2000, tookMs: 0 }));
  assert.ok(isSaveDue({ rows: 1, savedRows: 0, sinceMs: 2000, tookMs: 0 }));
  assert.not(isSaveDue({ rows, savedRows: rows - 1, sinceMs: 60_000, tookMs: 400 }));
  assert.ok(isSaveDue({ rows, savedRows: rows - 1, sinceMs: 900_000, tookMs: 400 }));
});

test('whatever arrives, saving takes little of the time, and no file stays behind by a twentieth of its index for long', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20_000 }),
      fc.integer({ min: 0, max: 10_000_000 }),
      fc.double({ min: 1e-6, max: 1e-2, noNaN: true }),
      (rowsASecond, atFirst, msARow) => {
        let [rows, savedRows, sinceMs, tookMs, savingMs] = [atFirst, atFirst, 0, 0, 0];
        const SECONDS = 7200;
        for (let second = 0; second < SECONDS; second++) {
          rows += rowsASecond;
          sinceMs += 1000;
          if (isSaveDue({ rows, savedRows, sinceMs, tookMs })) {
            tookMs = msARow * rows;
            savingMs += tookMs;
            [savedRows, sinceMs] = [rows, 0];
          }
          const longest = Math.max(2000, 100 * tookMs);
          if (sinceMs > longest + 1000) assert.ok(rows - savedRows <= 0.05 * rows + rowsASecond);
        }
        // The first time, the duration is unknown, and the last save is not finished.
        assert.ok(savingMs <= 0.01 * SECONDS * 1000 + 2 * tookMs + msARow * (atFirst + 3 * rowsASecond));
      },
    ),
    { numRuns: 50 },
  );
});

test.run();
