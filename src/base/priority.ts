import { setPriority } from 'node:os';

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
