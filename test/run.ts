/**
 * Runs the test files, each in a process of its own, under the runtime that runs this file; names at the end what was
 * skipped and why, and ends with `N passed, N failed`. Tests with deadlines may fail because of what runs beside them:
 * up to three files that failed run once more, alone, and the second outcome counts. The output says so.
 *
 *   node test/run.ts [PART...]     only the files whose path contains one of the parts
 */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runtimeArgs } from './runtime.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = process.argv.slice(2);
// Without them the tests that need them are skipped.
spawnSync(join(root, 'test/tools.sh'), { stdio: ['ignore', 'ignore', 'inherit'] });
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(
    name =>
      name.endsWith('.test.ts') &&
      !name.includes('node_modules') &&
      (parts.length === 0 || parts.some(part => name.includes(part))),
  )
  .sort();

/** Where Node keeps compiled modules: without them half of the time of a command, and of a short test, goes into making them. */
const compiled = join(root, '.cache/compiled');

/** A file that runs longer has hung: it is killed and counts as failed. NEARSKY_TEST_MINUTES gives campaigns the time that they take. */
const FILE_LIMIT_MS =
  60_000 * Number(process.env.NEARSKY_TEST_MINUTES ?? 10 + 2 * Number(process.env.NEARSKY_FUZZ_MINUTES ?? 0));

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** The name of each skipped test, and the reason. */
  readonly skipped: readonly string[];
}

/**
 * Runs one file. A file that ends without uvu's totals, or with another exit status than they imply, counts as a failure; so does one that
 * skips a test without saying why (`test/needs.ts`).
 */
function runFile(file: string): Promise<Outcome> {
  const begun = performance.now();
  return new Promise(resolve => {
    const child = spawn(process.execPath, [...runtimeArgs, join(root, 'test', file)], {
      cwd: root,
      env: { ...process.env, FORCE_COLOR: '0', NODE_COMPILE_CACHE: compiled },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const limit = setTimeout(() => {
      output += `killed, because it had not ended after ${FILE_LIMIT_MS / 60_000} minutes\n`;
      child.kill('SIGKILL');
    }, FILE_LIMIT_MS);
    child.stdout.on('data', data => (output += data));
    child.stderr.on('data', data => (output += data));
    child.on('close', code => {
      clearTimeout(limit);
      const count = (label: string) =>
        [...output.matchAll(new RegExp(`${label}:\\s+(\\d+)`, 'g'))].reduce((sum, match) => sum + Number(match[1]), 0);
      const total = count('Total');
      const passed = count('Passed');
      const skipped = [...output.matchAll(/^skipped: (.+)$/gm)].map(match => match[1]!);
      const unnamed = count('Skipped') - skipped.length;
      const isWrong = total + skipped.length === 0 || code !== 0 || unnamed !== 0;
      const failed = Math.max(total - passed, isWrong ? 1 : 0);
      const alsoSkipped = skipped.length ? `, ${skipped.length} skipped` : '';
      const seconds = Math.round((performance.now() - begun) / 1000);
      console.log(`${failed ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${alsoSkipped}, ${seconds} s`);
      if (unnamed !== 0) console.log(`${unnamed} tests are skipped without a word: skip them with test/needs.ts`);
      if (failed) console.log(output);
      resolve({ passed, failed, skipped });
    });
  });
}

const MAX_REPEATED = 3;

const outcomes = new Map<string, Outcome>();
const queue = [...files];
await Promise.all(
  Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
    for (let file = queue.shift(); file; file = queue.shift()) outcomes.set(file, await runFile(file));
  }),
);
const failedFiles = files.filter(file => outcomes.get(file)!.failed);
if (failedFiles.length <= MAX_REPEATED) {
  for (const file of failedFiles) {
    console.log(`once more, alone: ${file}`);
    outcomes.set(file, await runFile(file));
  }
}

const skipped = files.flatMap(file => outcomes.get(file)!.skipped.map(line => `  ${file}: ${line}`));
if (skipped.length) console.log(`${skipped.length} skipped:\n${skipped.join('\n')}`);
const count = (key: 'passed' | 'failed') => [...outcomes.values()].reduce((sum, outcome) => sum + outcome[key], 0);
console.log(`${count('passed')} passed, ${count('failed')} failed`);
process.exitCode = count('failed') || count('passed') === 0 ? 1 : 0;
