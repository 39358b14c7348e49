/** Starts the single executable: unpacks the program and runs it. Only used after bundling by `build.ts`. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { CONTENTS, cacheDirectories, unpack } from './unpack.ts';

try {
  const contents = JSON.parse(getAsset(CONTENTS, 'utf8'));
  const read = (path: string) => new Uint8Array(getRawAsset(path) as ArrayBuffer);
  const root = unpack({ ...contents, read }, cacheDirectories(process.env));
  createRequire(join(root, '/'))('./start.cjs');
} catch (error) {
  process.stderr.write(`nearsky: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
