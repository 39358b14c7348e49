/** Shared by all tests: directories of this checkout, temporary directories, and waiting. Starts nothing. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const sample = join(root, 'sample');
/** The version of this checkout. */
export const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** Calls `check` until it returns a value; throws if that takes longer than a minute, or the given time. */
export async function eventually<T>(what: string, check: () => Promise<T | undefined>, limitMs = 60_000): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs / 1000} s in vain until ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/**
 * Runs a test with a new directory, which is removed afterwards. @param release called before the removal, whatever the
 * outcome
 */
export async function withDirectory<T>(
  body: (directory: string) => Promise<T>,
  release: () => void = () => {},
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  try {
    return await body(directory);
  } finally {
    release();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
