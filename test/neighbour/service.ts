/** `nearsky serve` over the sample with default settings, the memory of its processes, and the other client. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { environment, eventually, type Server, send, startServer } from '../e2e/support.ts';
import { runtimeArgs } from '../runtime.ts';
import type { Report } from './neighbour.ts';

/** Those of a machine of two cores, for which the documented memory holds, and of deploy/nearsky.service. */
const SETTINGS = { NEARSKY_WORKERS: '2', MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** Makes a data directory from the sample. */
export async function makeData(directory: string): Promise<string> {
  const data = join(directory, 'data');
  const demo = await startServer(['demo', '--port', '0', '--data', data]);
  await demo.stop();
  return data;
}

export const serve = (data: string, settings: Record<string, string> = {}): Promise<Server> =>
  startServer(['serve', '--port', '0', '--data', data], { ...SETTINGS, ...settings });

/**
 * Prints the anonymous memory of a process and all its descendants every quarter of a second: for each its id, its kind and kibibytes. (Deno
 * keeps /proc from the program.)
 */
const SAMPLE = `while :; do
  engines=$(grep -sl src/capabilities/adql/engine_process /proc/[0-9]*/cmdline)
  awk -v root="$0" -v engines="$engines" '
  FNR == 1 { pid = FILENAME; gsub(/[^0-9]/, "", pid) }
  /^PPid:/ { parent[pid] = $2 }
  /^RssAnon:/ { anonymous[pid] = $2 }
  END {
    for (each in parent) {
      for (at = each; at > 1 && at != root; at = parent[at]);
      kind = each == root ? "serve" : index(engines, "/" each "/") ? "engine" : "reading"
      if (at == root) line = line " " each ":" kind ":" anonymous[each] + 0
    }
    print line
  }' /proc/[0-9]*/status 2>/dev/null; sleep 0.25; done`;

/** Mebibytes of anonymous memory. */
export interface Memory {
  readonly total: number;
  readonly serve: number;
  readonly engine: number;
  /** All other processes. */
  readonly reading: number;
}

const NONE: Memory = { total: 0, serve: 0, engine: 0, reading: 0 };

/** The memory of a service's processes. */
export class Processes {
  readonly #sampler: ChildProcess;
  /** At the moment of the largest total since it was taken last. */
  #peak = NONE;
  #last = NONE;
  /** Those at the last look. */
  pids: readonly number[] = [];

  constructor(root: number) {
    this.#sampler = spawn('sh', ['-c', SAMPLE, `${root}`], { stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface({ input: this.#sampler.stdout! }).on('line', line => {
      const processes = line
        .trim()
        .split(' ')
        .map(each => each.split(':'));
      const of = (wanted: RegExp) =>
        processes.reduce((sum, [, kind, kib]) => sum + (wanted.test(kind!) ? Number(kib) / 1024 : 0), 0);
      this.#last = { total: of(/./), serve: of(/serve/), engine: of(/engine/), reading: of(/reading/) };
      if (this.#last.total > this.#peak.total) this.#peak = this.#last;
      this.pids = processes.map(([pid]) => Number(pid));
    });
  }

  takePeak(): Memory {
    const peak = this.#peak;
    this.#peak = this.#last;
    return peak;
  }

  close(): void {
    send(this.#sampler, 'SIGKILL');
  }
}

/** The processes of these ids that run. */
export function runningOf(pids: readonly number[]): string {
  return spawnSync('ps', ['-o', 'pid=,args=', '-p', pids.join()], { encoding: 'utf8' }).stdout.trim();
}

export class Neighbour {
  readonly #child: ChildProcess;
  readonly #reports: PromiseWithResolvers<Report>[] = [];

  constructor(url: string) {
    const script = fileURLToPath(new URL('neighbour.ts', import.meta.url));
    this.#child = spawn(process.execPath, [...runtimeArgs, script, url], {
      env: environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#child.stdout! }).on('line', line =>
      this.#reports.shift()?.resolve(JSON.parse(line)),
    );
    this.#child.on('exit', code => {
      for (const { reject } of this.#reports) reject(new Error(`the other client ended with ${code}`));
    });
  }

  /** The observations since the last call. */
  async report(): Promise<Report> {
    const report = Promise.withResolvers<Report>();
    this.#reports.push(report);
    this.#child.stdin!.write('\n');
    return await report.promise;
  }

  close(): void {
    this.#child.stdin!.end();
  }
}

/** Waits until nothing of what arrives or is read lies on the disk. */
export async function spoolEmpties(data: string): Promise<void> {
  await eventually('the spool is empty', async () => {
    try {
      return readdirSync(join(data, 'spool')).length === 0 || undefined;
    } catch {
      return true;
    }
  });
}
