/**
 * Measures `nearsky crossmatch` end to end, with 100,000 objects and a HATS catalog: from a directory, from a host that
 * fails one request in ten, and from the cache of that host. Compares it with STILTS tskymatch2 on the same rows.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openStore } from '../src/core/store/store.ts';
import { type HatsSky, hatsSky } from './hats_sky.ts';
import { cpuMsOf, statOf } from './processes.ts';
import { median, type Options, ratio, type Workload } from './report.ts';

const OBJECTS = 100_000;
const FAILS_ONE_IN = 10;
/** The number of passes of each kind. More would add little, because each takes seconds. */
const MAX_RUNS = 3;
const POLL_MS = 20;

/** Object id to source id, decimal. */
type Pairs = ReadonlyMap<string, string>;

interface Finished {
  readonly seconds: number;
  /** The CPU time of all threads; undefined if there is no /proc. */
  readonly cpuSeconds: number | undefined;
  readonly peakMiB: number | undefined;
  readonly stdout: string;
}

interface Pass extends Finished {
  readonly pairs: Pairs;
  readonly reads: Readonly<Record<string, number>>;
}

/** Runs a program, or a script that starts it, to its end. Throws unless the exit status is 0. */
async function run(file: string, args: readonly string[], isScript = false): Promise<Finished> {
  const start = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', data => (stdout += data));
  child.stderr.on('data', data => (stderr += data));
  let used: Usage | undefined;
  let pid = child.pid!;
  const poll = setInterval(() => {
    if (isScript && pid === child.pid) pid = workerOf(pid);
    used = usage(pid) ?? used;
  }, POLL_MS);
  const code = await new Promise(resolve => child.on('close', resolve));
  clearInterval(poll);
  const seconds = (performance.now() - start) / 1000;
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr}`);
  return { seconds, cpuSeconds: used?.cpuSeconds, peakMiB: used?.peakMiB, stdout };
}

interface Usage {
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

/**
 * The time and memory that a process has used so far. The kernel records the peak, so only a peak after the last
 * reading is missed.
 */
function usage(pid: number): Usage | undefined {
  try {
    const peakKiB = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (peakKiB === undefined) return undefined;
    return { cpuSeconds: cpuMsOf(pid) / 1000, peakMiB: Number(peakKiB) / 1024 };
  } catch {
    return undefined;
  }
}

/** The worker process that a script has started; before that, the script itself. */
function workerOf(script: number): number {
  const isChild = (pid: number) => {
    try {
      return Number(statOf(pid)[1]) === script;
    } catch {
      return false;
    }
  };
  return existsSync('/proc') ? (readdirSync('/proc').map(Number).filter(Boolean).findLast(isChild) ?? script) : script;
}

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const nearsky = (...args: readonly string[]) => run(process.execPath, [program, ...args]);

/** Drops the files' pages from the kernel's cache, if that is permitted. */
function dropPageCache(): boolean {
  try {
    execFileSync('sync');
    writeFileSync('/proc/sys/vm/drop_caches', '1');
    return true;
  } catch {
    return false;
  }
}

/** One run over a data directory with the catalog at `location`. */
async function pass(data: string, location: string | undefined): Promise<Pass> {
  if (location) await nearsky('catalog', 'add', 'gaia_dr3', location, '--data', data);
  dropPageCache();
  const finished = await nearsky('crossmatch', '--data', data, '--json');
  const { recorded, problems, reads } = JSON.parse(finished.stdout);
  if (recorded !== OBJECTS || problems.length > 0)
    throw new Error(`${recorded} of ${OBJECTS} objects were recorded: ${JSON.stringify(problems)}`);
  return { ...finished, reads, pairs: storedPairs(data) };
}

function storedPairs(data: string): Pairs {
  const store = openStore(data, 'read');
  const pairs = new Map<string, string>();
  for (const { crossmatched } of store.journalAfter(0, 1_000_000)) {
    for (const id of crossmatched) {
      const source = store.getObject(id)!.matches[0]?.catalogSourceId;
      if (source) pairs.set(`${id}`, source);
    }
  }
  void store.close();
  return pairs;
}

/** Runs STILTS on the same rows as FITS, with ids and positions only; undefined if it is not installed. */
async function stilts(
  { catalogFits, objectsFits }: HatsSky,
  out: string,
): Promise<(Finished & { pairs: Pairs }) | undefined> {
  try {
    execFileSync('stilts', ['-version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  dropPageCache();
  const columns = ['ra1=ra', 'dec1=dec', 'ra2=ra', 'dec2=dec'];
  const wanted = ['error=1', 'find=best1', 'join=1and2', 'ofmt=csv-noheader', `out=${out}`];
  const files = [`in1=${objectsFits}`, `in2=${catalogFits}`];
  const finished = await run('stilts', ['tskymatch2', ...files, ...columns, ...wanted], true);
  const rows = readFileSync(out, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(','));
  return { ...finished, pairs: new Map(rows.map(([object, , , source]) => [object!, source!])) };
}

function difference(a: Pairs, b: Pairs): number {
  const missing = (from: Pairs, to: Pairs) => [...from].filter(([object, source]) => to.get(object) !== source).length;
  return Math.max(missing(a, b), missing(b, a));
}

async function startServer(directory: string): Promise<{ url: string; child: ChildProcess }> {
  const file = fileURLToPath(new URL('./file_server.ts', import.meta.url));
  const child = spawn(process.execPath, [file, directory, `${FAILS_ONE_IN}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout!)) {
    const url = /^listening on (\S+)/.exec(line)?.[1];
    if (url) return { url, child };
  }
  throw new Error('the file server ended before it listened');
}

export const crossmatch: Workload = {
  name: 'crossmatch',
  summary: `${OBJECTS / 1000},000 objects against a HATS catalog, local and over a host that fails, beside STILTS`,
  async run(options: Options, note) {
    const sky = await hatsSky({ sources: options.points, objects: OBJECTS, seed: options.seed }, note);
    const scratch = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
    const server = await startServer(sky.catalog);
    const passes = { local: [] as Pass[], remote: [] as Pass[], cached: [] as Pass[] };
    const reference: (Finished & { pairs: Pairs })[] = [];
    try {
      for (let at = 0; at < Math.min(options.runs, MAX_RUNS); at++) {
        const fresh = (name: string) => {
          const data = join(scratch, name);
          rmSync(data, { recursive: true, force: true });
          cpSync(sky.data, data, { recursive: true });
          return data;
        };
        note(`pass ${at + 1}, from a directory`);
        passes.local.push(await pass(fresh('local'), sky.catalog));
        note(`pass ${at + 1}, over a host that fails one request in ${FAILS_ONE_IN}`);
        passes.remote.push(await pass(fresh('remote'), server.url));
        note(`pass ${at + 1}, from what is kept of that host`);
        const cached = fresh('cached');
        cpSync(join(scratch, 'remote/catalog-cache'), join(cached, 'catalog-cache'), { recursive: true });
        passes.cached.push(await pass(cached, server.url));
        note(`pass ${at + 1}, STILTS`);
        const theirs = await stilts(sky, join(scratch, 'stilts.csv'));
        if (theirs) reference.push(theirs);
      }
    } finally {
      server.child.kill('SIGTERM');
      rmSync(scratch, { recursive: true, force: true });
    }
    return report(passes, reference);
  },
};

function report(
  passes: Readonly<Record<string, readonly Pass[]>>,
  reference: readonly (Finished & { pairs: Pairs })[],
) {
  const middle = (all: readonly Finished[], of: (one: Finished) => number | undefined) =>
    median(all.map(one => of(one) ?? Number.NaN));
  const expected = reference[0]?.pairs ?? passes.local![0]!.pairs;
  const rows: string[][] = [];
  const json: Record<string, unknown> = {
    objects: OBJECTS,
    matches: expected.size,
    page_cache_dropped: dropPageCache(),
  };
  for (const [name, all] of Object.entries({ ...passes, stilts: reference })) {
    if (all.length === 0) continue;
    const seconds = middle(all, one => one.seconds);
    const different = Math.max(...all.map(({ pairs }) => difference(pairs, expected)));
    if (different) process.exitCode = 1;
    const reads = (all.at(-1) as Partial<Pass>).reads;
    const theirs = reference.length ? middle(reference, one => one.seconds) / seconds : undefined;
    rows.push([
      `crossmatch ${name}`,
      seconds.toFixed(2),
      middle(all, one => one.cpuSeconds).toFixed(2),
      middle(all, one => one.peakMiB).toFixed(0),
      reads ? `${reads.requests} (${reads.retries})` : '',
      reads ? (reads.networkBytes! / 2 ** 20).toFixed(0) : '',
      different ? `${different} DIFFERENT` : 'equal',
      theirs && name !== 'stilts' ? ratio(theirs) : '',
    ]);
    json[name] = {
      seconds,
      cpu_seconds: middle(all, one => one.cpuSeconds),
      peak_mib: middle(all, one => one.peakMiB),
      different,
      ...reads,
    };
  }
  const header = [
    'end to end, cold',
    'seconds',
    'CPU s',
    'peak MiB',
    'requests (again)',
    'MiB received',
    'matches',
    'STILTS / ours',
  ];
  return { header, rows, json };
}
