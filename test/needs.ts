/** Tests that need what is not everywhere. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { uvu } from 'uvu';

/** Why a tool of `test/package.json` cannot be used, if so. */
export function toolObstacle(name: string): string | undefined {
  const path = fileURLToPath(new URL(`./node_modules/${name}`, import.meta.url));
  return existsSync(path) ? undefined : `${name} is not installed: test/tools.sh gets it from the npm registry`;
}

/** Why a process of the tests cannot have DuckDB itself, if so. */
export function duckdbObstacle(isInstalled: boolean): string | undefined {
  return isInstalled ? undefined : '@duckdb/node-api is not installed: npm install gets it where it can';
}

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
