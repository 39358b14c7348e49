/**
 * npm run bench [-- WORKLOAD... --points N --queries N --seed S --runs R --seconds S --hours H --sky DIR --save]
 *
 * Prints a table per workload, with each figure beside its reference from the same run, and at the end one JSON line.
 * Only ratios are compared with bench/baseline.json, because it was made on another machine. `--save` replaces it.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/core/base/error_text.ts';
import { core } from './core.ts';
import { crossmatch } from './crossmatch.ts';
import { generations } from './generations.ts';
import { http } from './http.ts';
import { ingestFiles } from './ingest.ts';
import { memory } from './memory.ts';
import { nodes } from './nodes.ts';
import { overloaded } from './overload.ts';
import { patterns } from './patterns.ts';
import { type Options, type Report, ratio, table, type Workload } from './report.ts';
import { FULL, rubinNight, SMALL } from './rubin_night.ts';
import { runtimes } from './runtimes.ts';
import { scaling } from './scaling.ts';
import { sizing } from './sizing.ts';
import { soak } from './soak.ts';
import { sources } from './sources.ts';
import { start } from './start.ts';
import { tap } from './tap.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The files of workloads that need their capability. */
const OF_CAPABILITIES = globSync('test/capabilities/*/bench.ts', { cwd: root }).map(file => join(root, file));

const workloads: readonly Workload[] = [
  core,
  scaling,
  generations,
  start,
  memory,
  runtimes,
  http,
  ingestFiles,
  overloaded,
  crossmatch,
  sizing,
  soak,
  tap,
  sources,
  patterns,
  nodes,
  rubinNight,
  ...(await Promise.all(OF_CAPABILITIES.map(async (file): Promise<Workload> => (await import(file)).workload))),
];
const baselineFile = join(root, 'bench/baseline.json');

const parsed = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      points: { type: 'string', default: '5000000' },
      queries: { type: 'string', default: '800000' },
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '60' },
      hours: { type: 'string', default: '1.5' },
      sky: { type: 'string' },
      full: { type: 'boolean', default: false },
      alerts: { type: 'string' },
      minutes: { type: 'string' },
      messages: { type: 'string' },
      rows: { type: 'string' },
      catalogs: { type: 'string' },
      remote: { type: 'string' },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });

function count(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1: it is ${text}`);
  return value;
}

function duration(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1000)) throw new Error(`--${name} must be above 0 and at most 1000: it is ${text}`);
  return value;
}

const RUBIN = ['alerts', 'minutes', 'messages', 'rows'] as const;

function rubinOptions(values: ReturnType<typeof parsed>['values']): Options['rubin'] {
  const sizes = { ...(values.full ? FULL : SMALL) };
  for (const name of RUBIN) if (values[name] !== undefined) sizes[name] = count(name, values[name]);
  const remoteMs = values.remote === undefined ? undefined : count('remote', values.remote);
  return { ...sizes, catalogs: values.catalogs, remoteMs };
}

/** Every ratio in a report's rows, by row and workload. */
function ratios(reports: ReadonlyMap<string, Report>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const report of reports.values())
    for (const row of report.rows) {
      const last = row.at(-1) ?? '';
      if (last.endsWith('x')) found[row[0]!] = Number.parseFloat(last);
    }
  return found;
}

function compareWithBaseline(now: Readonly<Record<string, number>>): void {
  if (!existsSync(baselineFile)) return;
  const before: Record<string, number> = JSON.parse(readFileSync(baselineFile, 'utf8'));
  const rows = Object.entries(now)
    .filter(([name]) => before[name])
    .map(([name, value]) => [name, ratio(before[name]!), ratio(value), ratio(value / before[name]!)]);
  if (rows.length)
    console.log(`\n${table({ header: ['ratio to reference', 'baseline', 'now', 'change'], rows, json: {} })}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parsed();
  if (values.help) {
    console.log(
      'npm run bench [-- WORKLOAD... --points N --queries N --seed S --runs R --seconds S --hours H --sky DIR --save]\n',
    );
    for (const { name, summary } of workloads) console.log(`  ${name.padEnd(11)} ${summary}`);
    return;
  }
  const unknown = positionals.filter(name => !workloads.some(workload => workload.name === name));
  if (unknown.length)
    throw new Error(`no such workload: ${unknown.join(', ')}; there are ${workloads.map(w => w.name).join(', ')}`);
  const options: Options = {
    points: count('points', values.points),
    queries: count('queries', values.queries),
    seed: count('seed', values.seed),
    runs: count('runs', values.runs),
    seconds: count('seconds', values.seconds),
    hours: duration('hours', values.hours),
    sky: values.sky,
    rubin: rubinOptions(values),
  };
  const reports = new Map<string, Report>();
  for (const workload of workloads) {
    if (positionals.length ? !positionals.includes(workload.name) : workload.onlyByName) continue;
    const report = await workload.run(options, text => console.error(`${workload.name}: ${text}`));
    reports.set(workload.name, report);
    console.log(`\n${table(report)}`);
    for (const fault of report.faults ?? []) console.error(`${workload.name}: ${fault}`);
    if (report.faults?.length) process.exitCode = 1;
  }
  const now = ratios(reports);
  compareWithBaseline(now);
  if (values.save) writeFileSync(baselineFile, `${JSON.stringify(now, null, 2)}\n`);
  const json = [...reports].map(([name, report]) => [name, report.json] as const);
  console.log(JSON.stringify(json.length === 1 ? json[0]![1] : Object.fromEntries(json)));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  // A program that a failed workload has left running must not keep this process alive.
  process.exit(2);
}
