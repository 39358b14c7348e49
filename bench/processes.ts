/** Shared by the workloads that measure whole processes: a data directory from a sky, a service over it, its use of time and memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openStore } from '../src/core/store/store.ts';
import type { Delivery } from '../src/core/store/types.ts';
import { Writer } from '../src/core/store/writer.ts';
import type { Sky } from './sky.ts';

const FIRST_ID = 170_000_000_000_000_000n;
const TIME_US = 1_790_000_000_000_000;
const STORED_A_COMMIT = 10_000;
/** The tick of Linux's accounts, the same on every platform that Node runs on. */
const CLOCK_TICK_MS = 10;

/** The id of a sky's point. Ids ascend with the order of storing, as those of a night do. */
export function idOf(point: number): bigint {
  return FIRST_ID + 37n * BigInt(point);
}

/**
 * The position of a point. After the last point of a sky, numbers continue with new objects at the positions of the
 * first ones, so that no feed runs out.
 */
export function placeOf({ ra, dec }: Pick<Sky, 'ra' | 'dec'>, point: number): { ra: number; dec: number } {
  const place = point % ra.length;
  return { ra: ra[place]!, dec: dec[place]! };
}

/** Points `from` (inclusive) to `to` (exclusive) of a sky, as a broker would deliver them. */
export function deliveries(sky: Pick<Sky, 'ra' | 'dec'>, from: number, to: number): Delivery[] {
  return Array.from({ length: to - from }, (_, i) => ({
    diaObjectId: idOf(from + i),
    position: placeOf(sky, from + i),
    reliability: 0.9,
    eventTimeUs: TIME_US,
    broker: 'lasair' as const,
  }));
}

/** The programs to end, and then the directories to remove, when this process ends for any reason. */
const programs = new Set<ChildProcess>();
const directories = new Set<string>();
process.once('exit', () => {
  for (const program of programs) program.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** Runs `body` with a new directory, which is removed afterwards. */
export async function withDirectory<T>(body: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
  directories.add(directory);
  try {
    return await body(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    directories.delete(directory);
  }
}

/** Stores the first `count` points of a sky. */
export async function storeSky(dataDir: string, sky: Sky, count: number): Promise<void> {
  const store = openStore(dataDir, 'write');
  const writer = new Writer(store);
  for (let from = 0; from < count; from += STORED_A_COMMIT)
    await writer.ingest(deliveries(sky, from, Math.min(count, from + STORED_A_COMMIT)), TIME_US + from);
  await store.close();
}

/** The runtime for TypeScript: an executable, and its arguments before the script. */
export interface Runtime {
  readonly file: string;
  readonly args: readonly string[];
}

const THIS_RUNTIME: Runtime = { file: process.execPath, args: [] };

interface Timed {
  readonly seconds: number;
  /** Of all its threads and processes. */
  readonly cpuSeconds: number;
  /** The standard output. */
  readonly output: string;
}

/** Runs a program to its end. @throws Error unless it exits with 0 */
export async function timed(file: string, args: readonly string[]): Promise<Timed> {
  const began = performance.now();
  const child = spawn('sh', ['-c', '"$@" && times', 'sh', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', data => (output += data));
  const code = await new Promise(resolve => child.on('close', resolve));
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  const seconds = (performance.now() - began) / 1000;
  // The last line of `times`: user and system time of the children, as 1m2.345s.
  const times = [
    ...output
      .trimEnd()
      .split('\n')
      .at(-1)!
      .matchAll(/(\d+)m([\d.]+)s/g),
  ];
  const cpuSeconds = times.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
  return { seconds, cpuSeconds, output };
}

/** Runs a script of this project, its path from this directory, to its end. */
export function runToEnd(
  script: string,
  args: readonly string[],
  { file, args: first }: Runtime = THIS_RUNTIME,
): Promise<Timed> {
  return timed(file, [...first, fileURLToPath(new URL(script, import.meta.url)), ...args]);
}

/** The fields of /proc/PID/stat after the name. */
export const statOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');

const sumMs = (ticks: readonly string[]) => CLOCK_TICK_MS * ticks.reduce((sum, each) => sum + Number(each), 0);

/** The CPU time of all threads of a process so far, milliseconds, in steps of 10 (Linux). */
export function cpuMsOf(pid: number): number {
  return sumMs(statOf(pid).slice(11, 13));
}

/** The CPU time of a process and its descendants, including those that have ended, milliseconds (Linux). */
export function treeCpuMs(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap(task =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + treeCpuMs(child), sumMs(statOf(pid).slice(11, 15)));
}

/** A program of this project in its own process. */
export class Program {
  readonly process: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;

  /**
   * @param file beside this one
   * @param stderr where its standard error goes: a file descriptor, or this process's own
   */
  constructor(
    file: string,
    args: readonly string[],
    runtime: Runtime = THIS_RUNTIME,
    stderr: number | 'inherit' = 'inherit',
  ) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    this.process = spawn(runtime.file, [...runtime.args, path, ...args], { stdio: ['ignore', 'pipe', stderr] });
    programs.add(this.process);
    this.process.once('exit', () => programs.delete(this.process));
    this.lines = createInterface(this.process.stdout!)[Symbol.asyncIterator]();
  }

  /**
   * The resident memory of the process, bytes (Linux), without pages of files: those, including the database's, belong
   * to the system's cache.
   */
  get ownBytes(): number {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
    return 1024 * Number(/RssAnon:\s+(\d+)/.exec(status)![1]);
  }

  /** The CPU time of all its threads so far, milliseconds, in steps of 10 (Linux). */
  get cpuMs(): number {
    return cpuMsOf(this.process.pid!);
  }

  async stop(): Promise<void> {
    const ended = new Promise(resolve => this.process.once('exit', resolve));
    if (!programs.has(this.process) || !this.process.kill('SIGTERM')) return;
    await ended;
  }
}

/** A program that prints `listening on URL` when it can answer. */
export async function startListening(
  file: string,
  args: readonly string[],
  runtime?: Runtime,
  stderr?: number,
): Promise<{ readonly program: Program; readonly url: string }> {
  const program = new Program(file, args, runtime, stderr);
  for (;;) {
    const { value, done } = await program.lines.next();
    if (done) throw new Error(`${file} ended before it listened`);
    const url = /^listening on (\S+)/.exec(value)?.[1];
    if (url) return { program, url };
  }
}

/** `nearsky serve` over a data directory, with further options. */
export async function startService(
  dataDir: string,
  runtime?: Runtime,
  further: readonly string[] = ['--no-crossmatch'],
): Promise<{ readonly service: Program; readonly url: string }> {
  const args = ['serve', '--data', dataDir, '--port', '0', ...further];
  const { program, url } = await startListening('../src/main.ts', args, runtime);
  return { service: program, url };
}
