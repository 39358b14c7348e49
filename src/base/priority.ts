import { setPriority } from 'node:os';

const NICENESS = 10;

/**
 * Lowers this thread's priority on Linux, where a thread has its own, which threads that it starts later have, too.
 * Elsewhere it would be the whole process's priority.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A runtime or a container may forbid it: the thread then has the priority of the others.
  }
}
