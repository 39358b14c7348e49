/**
 * Runs test files under the runtime that runs this file, and ends with `N passed, N failed`.
 *
 *   node test/run.ts [--layer test|system] [--part K/N] [WORD...]
 *   node test/run.ts --layer campaign NAME... [--large]
 *
 * Without arguments, the files of the layer `test` (`layers.ts`), neighbours in one process. NAME: a campaign, or
 * `all`. --part: every Nth process, from the Kth on. WORD: only files whose path contains one of the words; without a
 * layer, of all layers, and each in a process of its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Ended, type Line, MARK } from './batch.ts';
import {
  assumedSeconds,
  batchesOf,
  CAMPAIGNS,
  type Campaign,
  isWaiting,
  LAYERS,
  layerOf,
  limitMs,
  testFiles,
} from './layers.ts';
import { whyNodeOnly } from './node_only.ts';
import { isDeno, taskOptions } from './runtime.ts';
import { removedUses } from './uses.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  options: {
    layer: { type: 'string' },
    part: { type: 'string', default: '1/1' },
    large: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const campaigns = options.layer === 'campaign' ? campaignsOf(positionals) : [];
const words = options.layer === 'campaign' ? campaigns.flatMap(campaign => campaign.words) : positionals;
const variables = options.large ? Object.assign({}, ...campaigns.map(({ large }) => large)) : {};
const layers: readonly string[] = options.layer ? [options.layer] : words.length > 0 ? LAYERS : ['test'];
if (!layers.every(layer => (LAYERS as readonly string[]).includes(layer)))
  throw new Error(`--layer must be ${LAYERS.join(', ')}: ${options.layer}`);
const [part, parts] = options.part.split('/').map(Number) as [number, number];
if (!(part >= 1 && part <= parts)) throw new Error(`--part must be K/N, with K from 1 to N: ${options.part}`);

function campaignsOf(names: readonly string[]): Campaign[] {
  const all = Object.entries(CAMPAIGNS);
  if (names.join() === 'all') return all.map(([, campaign]) => campaign);
  const found = names.flatMap(name => CAMPAIGNS[name] ?? []);
  if (found.length > 0 && found.length === names.length) return found;
  console.error('Name a campaign, or `all`; --large makes it large:');
  for (const [name, { what, large }] of all)
    console.error(
      `  ${name.padEnd(10)} ${what}\n  ${''.padEnd(10)} --large: ${Object.entries(large)
        .map(pair => pair.join('='))
        .join(' ')}`,
    );
  process.exit(2);
}

const named = testFiles(join(root, 'test')).filter(file => layers.includes(layerOf(file)));
const asked = named.filter(file => words.length === 0 || words.some(word => file.includes(word)));
const nodeOnly = isDeno ? asked.filter(file => whyNodeOnly(file) !== undefined) : [];
const without = asked.filter(file => removedUses(file).length > 0);
const candidates = asked.filter(file => !nodeOnly.includes(file) && !without.includes(file));
const unknown = (campaigns.length > 0 ? [] : words).filter(word => !named.some(file => file.includes(word)));
if (unknown.length > 0 || candidates.length === 0) {
  for (const file of nodeOnly) console.error(`${file} runs under Node only. ${whyNodeOnly(file)}`);
  for (const file of without) console.error(`${file} uses ${removedUses(file).join(', ')}, which was removed.`);
  for (const word of unknown) console.error(`No test file has ${JSON.stringify(word)} in its path below test/.`);
  if (unknown.length + nodeOnly.length + without.length === 0) console.error('There is no such test file.');
  process.exit(2);
}
const allBatches = words.length > 0 && !options.layer ? candidates.map(file => [file]) : batchesOf(candidates);
const batches = allBatches.filter((_, i) => i % parts === part - 1);
const files = batches.flat();
// `npm ci` has installed what the others need.
if (files.some(file => layerOf(file) !== 'test'))
  spawnSync(join(root, 'test/tools.sh'), { stdio: ['ignore', 'ignore', 'inherit'] });

const isTestLayer = layers.join() === 'test';
/**
 * The processes at a time. The files of `npm test` wait for almost half of their time. In the other layers, the last
 * process runs only files that wait: beside two busy others, tests would get 503 where they want answers.
 */
const LANES = Math.min(2, availableParallelism()) + (isTestLayer ? 2 : 1);
const mayWait = (batch: readonly string[]) => isTestLayer || batch.every(isWaiting);
/** The seconds that each file took when it last ran here; Deno only reads them. */
const measuredFile = join(root, '.cache/test_seconds.json');
const measured = readMeasured();
const secondsOf = (batch: readonly string[]) =>
  batch.reduce((sum, file) => sum + (measured[file] ?? assumedSeconds(file)), 0);

function readMeasured(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(measuredFile, 'utf8'));
  } catch {
    return {};
  }
}

function sayHowLong(): void {
  const sum = secondsOf(files) / LANES;
  const takes = sum < 90 ? `${Math.ceil(sum / 10) * 10} seconds` : `${Math.round(sum / 60)} minutes`;
  const known = files.filter(file => file in measured).length;
  const basis = known * 2 > files.length ? 'as measured here' : 'estimated: most of them have not run here yet';
  console.log(
    `${files.length} test files in ${batches.length} processes, ${LANES} at a time, take about ${takes} (${basis})`,
  );
}

/** The smallest memory disk that holds the data of two processes of tests; containers may have 64 MiB. */
const MEMORY_DISK_BYTES = 2 ** 30;
const MEMORY_DISK = '/dev/shm';

/** Where the files of `npm test` put their data. */
function fastDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    if (!isDeno && bavail * bsize >= MEMORY_DISK_BYTES) return mkdtempSync(join(MEMORY_DISK, 'nearsky-tests-'));
  } catch {
    // Only Linux has it; Deno's tasks may not write there.
  }
  return mkdtempSync(join(tmpdir(), 'nearsky-tests-'));
}

const fast = fastDirectory();
/**
 * MiB below which a thread does not collect all garbage. From a few MiB on, V8 would do so many times in each process,
 * which is a sixth of the CPU time.
 */
const OLD_SPACE_MIB = 256;
// Threads that help to collect would need another fifth, because the cores are busy with other tests.
const nodeArgs = [`--initial-old-space-size=${OLD_SPACE_MIB}`, '--single-threaded-gc'];
const runtimeArgs = isDeno ? ['run', ...taskOptions('test')] : nodeArgs;
/** Where Node keeps compiled modules. */
const compiled = join(root, '.cache/compiled');
/** The output of a process that has ended is read for this long. */
const CLOSING_MS = 10_000;
const running = new Set<ChildProcess>();

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** The need of each skipped test. */
  readonly skipped: readonly string[];
}

const outcomes = new Map<string, Outcome>();
let cpuSeconds = 0;

/** Runs files in one process. Those that are left when one of them ends it run in another. */
async function runBatch(batch: readonly string[]): Promise<void> {
  let left = batch;
  while (left.length > 0) {
    await runProcess(left);
    left = left.filter(file => !outcomes.has(file));
  }
}

/** Runs files in one process, until one of them hangs or ends it. At least one has an outcome then. */
function runProcess(batch: readonly string[]): Promise<void> {
  return new Promise(resolve => {
    const paths = batch.map(file => join(root, 'test', file));
    const isFast = batch.every(file => layerOf(file) === 'test');
    const env: NodeJS.ProcessEnv = {
      ...variables,
      ...process.env,
      FORCE_COLOR: '0',
      NODE_COMPILE_CACHE: compiled,
      ...(isFast && { TMPDIR: fast }),
    };
    const child = spawn(process.execPath, [...runtimeArgs, join(root, 'test/batch.ts'), ...paths], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: the programs that it started end with it.
      detached: true,
    });
    running.add(child);
    let at = 0;
    let output = '';
    let unread = '';
    let killed = '';
    let limit: NodeJS.Timeout | undefined;
    const kill = () => {
      killed = `killed, because it had not ended after ${limitMs(batch[at]!, env) / 60_000} minutes`;
      endGroup(child);
    };
    const startFile = () => {
      output = '';
      limit = setTimeout(kill, limitMs(batch[at]!, env));
    };
    const endFile = (ended: Omit<Ended, 'kind'>, why?: string) => {
      clearTimeout(limit);
      report(batch[at++]!, ended, output, why);
    };
    const readLine = (line: Line) => {
      if (line.kind === 'started') startFile();
      else if (line.kind === 'ended') endFile(line);
      else {
        const held = Object.entries(line.left).map(([file, kinds]) => `\n  ${file}: ${kinds.join(', ')}`);
        console.log(`The process of these files did not end. What they left:${held.join('')}`);
      }
    };
    child.stderr.on('data', data => (output += data));
    child.stdout.setEncoding('utf8').on('data', data => {
      const [before, ...lines] = (unread + data).split(MARK);
      output += before;
      unread = '';
      for (const line of lines) {
        const end = line.indexOf('\n');
        if (end < 0) {
          unread = MARK + line;
          return;
        }
        readLine(JSON.parse(line.slice(0, end)));
        output += line.slice(end + 1);
      }
    });
    let closing: NodeJS.Timeout | undefined;
    // A program that a file left in another group may hold the pipes for ever.
    child.on('exit', code => (closing = setTimeout(() => ended(code), CLOSING_MS)));
    child.on('close', code => ended(code));
    const ended = (code: number | null) => {
      if (!running.delete(child)) return;
      clearTimeout(closing);
      endGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
      const none = { passed: 0, total: 0, skipped: 0, seconds: 0, cpuSeconds: 0 };
      if (at < batch.length) endFile(none, killed || `its process ended with ${code ?? 'a signal'}`);
      else if (code !== 0 && !batch.some(file => outcomes.get(file)!.failed)) {
        at--;
        endFile(none, `its process ended with ${code ?? 'a signal'} after all files`);
      }
      resolve();
    };
  });
}

/** A file that has no test, or skips one without saying why (`needs.ts`), has failed. */
function report(file: string, ended: Omit<Ended, 'kind'>, output: string, why?: string): void {
  const skipped = [...output.matchAll(/^skipped \((.+?)\): .+$/gm)].map(match => match[1]!);
  const unnamed = ended.skipped - skipped.length;
  if (unnamed !== 0) why ??= `${unnamed} tests are skipped without a word: skip them with test/needs.ts`;
  else if (ended.total + skipped.length === 0) why ??= 'it has no test';
  const failed = Math.max(ended.total - ended.passed, why ? 1 : 0);
  outcomes.set(file, { passed: ended.passed, failed, skipped });
  measured[file] = Math.round(10 * ended.seconds) / 10;
  cpuSeconds += ended.cpuSeconds;
  const alsoSkipped = skipped.length ? `, ${skipped.length} skipped` : '';
  const took = `${ended.seconds.toFixed(1)} s, CPU ${ended.cpuSeconds.toFixed(1)} s`;
  console.log(`${failed ? 'FAIL' : 'ok  '} ${file}  ${ended.passed} passed${alsoSkipped}, ${took}`);
  if (failed) console.log(why ? `${output}\n${why}` : output);
}

/** Ends a process with all programs that it started. */
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
    rmSync(fast, { recursive: true, force: true });
    process.exit(1);
  });

sayHowLong();
const startMs = performance.now();
/** The longest first. */
const queue = batches.toSorted((a, b) => secondsOf(b) - secondsOf(a));
const [waiting, busy] = [queue.filter(mayWait), queue.filter(batch => !mayWait(batch))];
// The second lane takes the shortest: two that need much never run beside each other, and the lanes end together.
await Promise.all(
  Array.from({ length: LANES }, async (_, lane) => {
    const next = () => {
      const left = lane < LANES - 1 && busy.length > 0 ? busy : waiting;
      return lane === 0 ? left.shift() : left.pop();
    };
    for (let batch = next(); batch; batch = next()) await runBatch(batch);
  }),
);
const hasFailed = (file: string) => outcomes.get(file)!.failed > 0;
rmSync(fast, { recursive: true, force: true });

if (!isDeno) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(measuredFile, JSON.stringify({ ...readMeasured(), ...measured }, null, 1));
}
const all = [...outcomes.values()];
for (const [need, tests] of Map.groupBy(
  all.flatMap(({ skipped }) => skipped),
  need => need,
))
  console.log(`${tests.length} ${tests.length === 1 ? 'test' : 'tests'} skipped: ${need}`);
if (without.length > 0) console.log(`${without.length} files use what was removed here: test/uses.ts says what`);
if (nodeOnly.length > 0) console.log(`${nodeOnly.length} files run under Node only: test/node_only.ts says why`);
if (parts > 1) console.log(`${candidates.length - files.length} files are in other parts than ${part} of ${parts}`);
const failedFiles = files.filter(hasFailed);
if (failedFiles.length > 0) console.log(`failed: ${failedFiles.join(', ')}`);
console.log(`${Math.round((performance.now() - startMs) / 1000)} s, CPU ${Math.round(cpuSeconds)} s`);
const count = (key: 'passed' | 'failed') => all.reduce((sum, outcome) => sum + outcome[key], 0);
console.log(`${count('passed')} passed, ${count('failed')} failed`);
process.exitCode = count('failed') || count('passed') === 0 ? 1 : 0;
