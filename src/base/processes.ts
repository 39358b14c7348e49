import { setPriority } from 'node:os';

/** The start time of this process; a thread may have started later. */
export function processStart(): Date {
  return new Date(Date.now() - 1000 * process.uptime());
}

/** Whether a process with this id runs, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resident memory of this process, bytes; undefined if the system does not report it, like Linux without /proc. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

const NICENESS = 10;

/**
 * Lowers this thread's priority on Linux, where each thread has its own. Threads that it starts later inherit it.
 * Elsewhere this would change the priority of the whole process.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A runtime or a container may forbid this; the thread then keeps its priority.
  }
}
