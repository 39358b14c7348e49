/**
 * Runs the test files, each in a process of its own, under the runtime that runs this file. Says first how long that takes; names at the end what
 * was skipped and why, which files run under Node only, and which passed only when they were repeated; ends with `N passed, N failed`. Tests with
 * deadlines may fail because of what runs beside them: up to three files that failed run once more, alone, and the second outcome counts.
 *
 *   node test/run.ts [--fast] [--part K/N] [WORD...]
 *
 * WORD: only the files whose path contains one of the words. --fast: only those of `fast.ts`. --part: of the others only every Nth, from the Kth on.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { whySlow } from './fast.ts';
import { whyNodeOnly } from './node_only.ts';
import { isDeno, taskOptions } from './runtime.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals: words } = parseArgs({
  options: { fast: { type: 'boolean', default: false }, part: { type: 'string', default: '1/1' } },
  allowPositionals: true,
});
const isFast = options.fast;
const [part, parts] = options.part.split('/').map(Number) as [number, number];
if (!(part >= 1 && part <= parts)) throw new Error(`--part must be K/N, with K from 1 to N: ${options.part}`);
const named = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .sort();
const isSlow = (name: string) => whySlow(join(root, 'test', name)) !== undefined;
const asked = named.filter(name => words.length === 0 || words.some(word => name.includes(word)));
const slow = isFast || parts > 1 ? asked.filter(isSlow) : [];
const inOtherParts = slow.filter((_, i) => i % parts !== part - 1);
const chosen = asked.filter(name => !(isFast ? slow : inOtherParts).includes(name));
const left = isDeno ? chosen.filter(name => whyNodeOnly(name) !== undefined) : [];
const files = chosen.filter(name => !left.includes(name));
const unknown = words.filter(word => !named.some(name => name.includes(word)));
if (unknown.length > 0 || files.length === 0) {
  const what = isFast ? 'fast test file' : 'test file';
  for (const name of left) console.error(`${name} runs under Node only. ${whyNodeOnly(name)}`);
  if (unknown.length === 0 && left.length === 0) console.error(`No ${what} has ${words.join(' or ')} in its path.`);
  for (const word of unknown) console.error(`No test file has ${JSON.stringify(word)} in its path below test/.`);
  process.exit(2);
}
// Without them the tests that need them are skipped. None of the fast ones does.
if (!isFast) spawnSync(join(root, 'test/tools.sh'), { stdio: ['ignore', 'ignore', 'inherit'] });

/** With one more than cores, tests of many clients at once get 503 where they want answers. */
const LANES = Math.min(2, availableParallelism());
/** The seconds that each file took when it last ran here; Deno only reads them. */
const measured = join(root, '.cache/test_seconds.json');
/** Seconds of the longest files, on two cores, for a checkout where they have not run yet. */
const LONGEST: Readonly<Record<string, number>> = {
  'neighbour/attacks.test.ts': 200,
  'pages/browser.test.ts': 180,
  'tap/hungry.test.ts': 110,
  'tap/live.test.ts': 110,
  'tap/sources.test.ts': 100,
  'e2e/nodes.test.ts': 90,
  'e2e/nodes_faults.test.ts': 80,
  'fuzz/fuzz.test.ts': 80,
  'install/npm.test.ts': 80,
  'faults/inject.test.ts': 70,
};
const seconds: Record<string, number> = { ...LONGEST, ...readMeasured() };
/** For a file that has not run here yet. */
const ASSUMED_SECONDS = isFast ? 1.5 : 6;

function readMeasured(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(measured, 'utf8'));
  } catch {
    return {};
  }
}

function sayHowLong(): void {
  const sum = files.reduce((total, file) => total + (seconds[file] ?? ASSUMED_SECONDS), 0) / LANES;
  const took = sum < 90 ? `${Math.ceil(sum / 10) * 10} seconds` : `${Math.round(sum / 60)} minutes`;
  const known = files.filter(file => file in seconds).length;
  const basis = known * 2 > files.length ? 'as measured here' : 'estimated: most of them have not run here yet';
  console.log(`${files.length} test files, ${LANES} at a time, take about ${took} (${basis})`);
  if (!isFast && words.length === 0) console.log('`npm run test:fast` takes less than 90 seconds');
}

/** What the runtime's executable gets before a file. The fast ones may not start programs or use the network under Deno. */
const runtimeArgs = isDeno
  ? [
      'run',
      ...taskOptions(isFast ? 'test:fast' : 'test').filter(option => !isFast || !option.startsWith('--allow-run')),
    ]
  : [];

/** Where Node keeps compiled modules: without them half of the time of a command, and of a short test, goes into making them. */
const compiled = join(root, '.cache/compiled');

/** A file that runs longer has hung: it is killed and counts as failed. TEST_MINUTES gives campaigns the time that they take. */
const FILE_LIMIT_MS = 60_000 * Number(process.env.TEST_MINUTES ?? 10 + 2 * Number(process.env.TEST_FUZZ_MINUTES ?? 0));

/** The output of a file that has ended is read for this long. */
const CLOSING_MS = 10_000;
const running = new Set<ChildProcess>();

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
      // A group of its own: the programs that it started end with it.
      detached: true,
    });
    running.add(child);
    let output = '';
    const limit = setTimeout(() => {
      output += `killed, because it had not ended after ${FILE_LIMIT_MS / 60_000} minutes\n`;
      endGroup(child);
    }, FILE_LIMIT_MS);
    child.stdout.on('data', data => (output += data));
    child.stderr.on('data', data => (output += data));
    let closing: NodeJS.Timeout | undefined;
    // A program that the file left in another group may hold the pipes for ever.
    child.on('exit', code => (closing = setTimeout(() => ended(code), CLOSING_MS)));
    child.on('close', code => ended(code));
    const ended = (code: number | null) => {
      if (!running.delete(child)) return;
      clearTimeout(limit);
      clearTimeout(closing);
      endGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
      const count = (label: string) =>
        [...output.matchAll(new RegExp(`${label}:\\s+(\\d+)`, 'g'))].reduce((sum, match) => sum + Number(match[1]), 0);
      const total = count('Total');
      const passed = count('Passed');
      const skipped = [...output.matchAll(/^skipped: (.+)$/gm)].map(match => match[1]!);
      const unnamed = count('Skipped') - skipped.length;
      const isWrong = total + skipped.length === 0 || code !== 0 || unnamed !== 0;
      const failed = Math.max(total - passed, isWrong ? 1 : 0);
      const alsoSkipped = skipped.length ? `, ${skipped.length} skipped` : '';
      seconds[file] = (performance.now() - begun) / 1000;
      console.log(
        `${failed ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${alsoSkipped}, ${Math.round(seconds[file])} s`,
      );
      if (unnamed !== 0) console.log(`${unnamed} tests are skipped without a word: skip them with test/needs.ts`);
      if (failed) console.log(output);
      resolve({ passed, failed, skipped });
    };
  });
}

/** Ends a file with all programs that it started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // None is left.
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of running) endGroup(child);
    process.exit(1);
  });

const MAX_REPEATED = 3;

sayHowLong();
const outcomes = new Map<string, Outcome>();
/** By their seconds, the longest first. */
const queue = files.toSorted((a, b) => (seconds[b] ?? ASSUMED_SECONDS) - (seconds[a] ?? ASSUMED_SECONDS));
// The second lane takes the shortest: a file that needs much never runs beside another, and the lanes end together.
await Promise.all(
  Array.from({ length: LANES }, async (_, lane) => {
    const next = () => (lane === 0 ? queue.shift() : queue.pop());
    for (let file = next(); file; file = next()) outcomes.set(file, await runFile(file));
  }),
);
const failedFiles = files.filter(file => outcomes.get(file)!.failed);
if (failedFiles.length <= MAX_REPEATED) {
  for (const file of failedFiles) {
    console.log(`once more, alone: ${file}`);
    outcomes.set(file, await runFile(file));
  }
}

if (!isDeno) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(measured, JSON.stringify({ ...readMeasured(), ...seconds }, null, 1));
}
const skipped = files.flatMap(file => outcomes.get(file)!.skipped.map(line => `  ${file}: ${line}`));
if (skipped.length) console.log(`${skipped.length} skipped:\n${skipped.join('\n')}`);
if (left.length) {
  const names = left.map(file => file.slice(0, -'.test.ts'.length));
  console.log(`${left.length} files run under Node only: ${names.join(', ')} (test/node_only.ts says why)`);
}
if (!isFast && inOtherParts.length)
  console.log(`${inOtherParts.length} files are in other parts than ${part} of ${parts}`);
const count = (key: 'passed' | 'failed') => [...outcomes.values()].reduce((sum, outcome) => sum + outcome[key], 0);
const mended = failedFiles.filter(file => !outcomes.get(file)!.failed);
if (mended.length)
  console.log(`${mended.length} failed, and passed once more, alone:\n${mended.map(file => `  ${file}`).join('\n')}`);
console.log(`${count('passed')} passed, ${count('failed')} failed`);
process.exitCode = count('failed') || count('passed') === 0 ? 1 : 0;
