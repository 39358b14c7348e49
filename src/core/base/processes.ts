import { setPriority } from 'node:os';

/** The start time of this process; a thread may have started later. */
export function processStart(): Date {
  return new Date(Date.now() - 1000 * process.uptime());
}

/** Whether a process with this id is running, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resident memory of this process, bytes; undefined if the system does not report it, as on Linux without /proc. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

const NICENESS = 10;

/**
 * Lowers the priority of this thread, and of the threads that it starts later, on Linux, where each thread has its own
 * priority. Elsewhere it does nothing, because the call would change the whole process.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A runtime or a container may forbid this. Then the thread keeps its priority.
  }
}
