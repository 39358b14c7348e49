/** Tests whose requirements are not available everywhere. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { uvu } from 'uvu';
import { isDeno } from './runtime.ts';

/** Why a tool of `test/package.json` cannot be used, if so. */
export function toolObstacle(name: string): string | undefined {
  const path = fileURLToPath(new URL(`./node_modules/${name}`, import.meta.url));
  return existsSync(path) ? undefined : `${name} is not installed: test/tools.sh gets it from the npm registry`;
}

/** Why there is no DuckDB, if so. Does not load it. */
export function duckdbObstacle(): string | undefined {
  try {
    createRequire(import.meta.url).resolve('@duckdb/node-api');
    return undefined;
  } catch {
    return '@duckdb/node-api is not installed: npm install gets it where it can';
  }
}

/** Links to the open files of this process. */
export const OPEN_FILES = '/proc/self/fd';

/** Why a test cannot see which files its process has open, if so. */
export function openFilesObstacle(): string | undefined {
  if (isDeno) return 'what files a process has open cannot be seen by a test without all permissions';
  return existsSync(OPEN_FILES) ? undefined : `there is no ${OPEN_FILES}`;
}

/**
 * `test`, or with an obstacle a `skip` that reports the name and the reason. `test/run.ts` lists it, and counts a test
 * that is skipped without a reason as failed.
 */
export function needs<T>(
  test: uvu.Test<T>,
  obstacle: string | undefined,
): (name: string, body: uvu.Callback<T>) => void {
  if (obstacle === undefined) return test;
  return name => {
    console.log(`skipped (${obstacle}): ${name}`);
    test.skip(name);
  };
}
