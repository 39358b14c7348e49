/**
 * Runs the test files, each in a process of its own, under the runtime that runs this file; ends with `N passed, N failed`.
 *
 *   node test/run.ts [PART...]     only the files whose path contains one of the parts
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = process.argv.slice(2);
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.ts') && (parts.length === 0 || parts.some(part => name.includes(part))))
  .sort();

const runtimeArgs =
  'Deno' in globalThis
    ? [
        'run',
        '--allow-read',
        '--allow-write',
        '--allow-env',
        '--allow-net',
        '--allow-ffi',
        '--allow-sys',
        '--allow-run',
      ]
    : [];

/** A file that runs longer has hung: it is killed and counts as failed. */
const FILE_LIMIT_MS = 600_000;

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

/** Runs one file. A file that ends without uvu's totals, or with another exit status than they imply, counts as a failure. */
function runFile(file: string): Promise<Outcome> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [...runtimeArgs, join(root, 'test', file)], {
      cwd: root,
      env: { ...process.env, FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), FILE_LIMIT_MS);
    let output = '';
    child.stdout.on('data', data => (output += data));
    child.stderr.on('data', data => (output += data));
    child.on('close', code => {
      clearTimeout(limit);
      const count = (label: string) =>
        [...output.matchAll(new RegExp(`${label}:\\s+(\\d+)`, 'g'))].reduce((sum, match) => sum + Number(match[1]), 0);
      const total = count('Total');
      const passed = count('Passed');
      const skipped = count('Skipped');
      const failed = Math.max(total - passed, total + skipped === 0 || code !== 0 ? 1 : 0);
      console.log(`${failed ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${skipped ? `, ${skipped} skipped` : ''}`);
      if (failed) console.log(output);
      resolve({ passed, failed, skipped });
    });
  });
}

const sum: Outcome = { passed: 0, failed: 0, skipped: 0 };
const queue = [...files];
await Promise.all(
  Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      const { passed, failed, skipped } = await runFile(file);
      sum.passed += passed;
      sum.failed += failed;
      sum.skipped += skipped;
    }
  }),
);
if (sum.skipped) console.log(`${sum.skipped} skipped`);
console.log(`${sum.passed} passed, ${sum.failed} failed`);
process.exitCode = sum.failed || sum.passed === 0 ? 1 : 0;
