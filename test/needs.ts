/** Tests that need what is not everywhere. */
import type { uvu } from 'uvu';

/**
 * `test`, or where there is an obstacle its `skip`, which says by name what is skipped and why: `test/run.ts` lists it, and counts a test
 * that is skipped without a word as failed.
 */
export function needs<T>(
  test: uvu.Test<T>,
  obstacle: string | undefined,
): (name: string, body: uvu.Callback<T>) => void {
  if (obstacle === undefined) return test;
  return name => {
    console.log(`skipped: ${name}: ${obstacle}`);
    test.skip(name);
  };
}
