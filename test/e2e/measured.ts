/** Measures the processor time and the memory of a service, and the times of small cones, while other work runs. */
import { readFileSync } from 'node:fs';
import { startScript } from '../core/store/script.ts';
import type { Server } from './support.ts';

/** The times of small cones while `work` runs, and what the service takes, in words. */
export async function coneTimes(server: Server, work: () => Promise<void>): Promise<string> {
  const { child, ended } = startScript(new URL('cone_times.ts', import.meta.url), [server.url], { stdin: 'pipe' });
  const [beganMs, cpuMs] = [performance.now(), processorMs(server)];
  await work();
  const cores = (processorMs(server) - cpuMs) / (performance.now() - beganMs);
  child.stdin!.write('\n');
  const { output } = await ended;
  const times = (JSON.parse(output) as number[]).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  const cones = `cones p50 ${at(0.5)}, p99 ${at(0.99)} ms of ${times.length}`;
  return `${cones}; ${cores.toFixed(2)} cores, ${memoryMib(server).toFixed(0)} MiB`;
}

/** The processor time of the service so far; NaN if it cannot be read. */
function processorMs({ child }: Server): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    // Hundredths of a second, of the user and of the system.
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return Number.NaN;
  }
}

/** The anonymous memory of the service; NaN if it cannot be read. */
export function memoryMib({ child }: Server): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
