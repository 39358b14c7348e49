/**
 * Runs test files one after another in this process: `node test/batch.ts FILE...`. Lines that start with MARK tell
 * `run.ts` which file starts, and how it ended; all else is output of the file.
 */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { layerOf } from './layers.ts';

export const MARK = '\u0001';

export interface Ended {
  readonly kind: 'ended';
  readonly passed: number;
  readonly total: number;
  readonly skipped: number;
  readonly seconds: number;
  /** User and system time, with processes that it started and that have ended. */
  readonly cpuSeconds: number;
}

export type Line =
  | { readonly kind: 'started' }
  | Ended
  /** The process does not end after its last file: the kinds of handles that each file left. */
  | { readonly kind: 'held'; readonly left: Readonly<Record<string, readonly string[]>> };

type Suite = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

/** How long the process may take to end after its last file. */
const END_MS = 10_000;

async function main(files: readonly string[]): Promise<void> {
  // As in the runner of uvu, a suite waits in its file's queue until it is run.
  const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: [string, ...Suite[]][] };
  uvu.UVU_DEFER = 1;
  await import('uvu');
  if (files.every(file => layerOf(file) === 'test')) {
    const { runPoolsHere } = await import('./core/pool/calling_thread.ts');
    runPoolsHere();
  }
  const left: Record<string, string[]> = {};
  let isFailed = false;
  for (const [i, file] of files.entries()) {
    say({ kind: 'started' });
    const startMs = performance.now();
    const startCpu = cpuSeconds();
    const handles = handleCounts();
    uvu.UVU_INDEX = i;
    uvu.UVU_QUEUE[i] = [file];
    await import(pathToFileURL(file).href);
    const sum = { passed: 0, skipped: 0, total: 0 };
    for (const suite of uvu.UVU_QUEUE[i].splice(1) as Suite[]) {
      const [errors, passed, skipped, total] = await suite();
      sum.passed += passed;
      sum.skipped += skipped;
      sum.total += total;
      if (errors !== true) console.log(errors);
      isFailed ||= errors !== true;
    }
    const seconds = (performance.now() - startMs) / 1000;
    say({ kind: 'ended', ...sum, seconds, cpuSeconds: cpuSeconds() - startCpu });
    // What it has just closed is gone in the next iteration.
    await setImmediate();
    const added = [...handleCounts()].filter(([kind, count]) => count > (handles.get(kind) ?? 0)).map(([kind]) => kind);
    if (added.length > 0) left[file] = added;
  }
  process.exitCode = isFailed ? 1 : 0;
  setTimeout(() => {
    say({ kind: 'held', left });
    process.exit(1);
  }, END_MS).unref();
}

function say(line: Line): void {
  process.stdout.write(`${MARK}${JSON.stringify(line)}\n`);
}

const TICKS_PER_SECOND = 100;

/** Of this process and its children. Without Linux, of this process. */
function cpuSeconds(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

/** Deno reports none. */
function handleCounts(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo?.() ?? []) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
