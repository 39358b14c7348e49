/** The time at which this process began; a thread of it may be younger. */
export function processStart(): Date {
  return new Date(Date.now() - 1000 * process.uptime());
}

/** Whether a process of this number runs, whosever it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resident memory of this process, bytes; undefined where the system does not tell it, as Linux without /proc. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}
