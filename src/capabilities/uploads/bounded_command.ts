/** Limits a process's memory, and lowers its priority, with the kernel's help. */

/**
 * The data segment that an idle process of either runtime reserves, although it hardly uses it. Measured: 550 to 575
 * MiB.
 */
const RESERVED_MIB = 600;

/**
 * Environment of a process that should return freed memory to the system: settings of the C library's allocator, which
 * DuckDB uses as well. With a heap for each thread, freed memory in pieces took all memory of the engine of ADQL after
 * minutes of large updates.
 */
export const FEW_HEAPS = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * A command that runs a program with a memory limit and a lower priority. Beyond the limit, allocations for arrays and
 * in libraries fail with an error.
 * @param memoryMib the limit, in addition to the memory of an idle process
 * @param niceness added to the niceness of the thread that starts it. A higher niceness gets less of the processor
 */
export function boundedCommand(memoryMib: number, niceness: number, program: readonly string[]): string[] {
  // On Linux each thread has its own niceness. So it must be set before the program starts threads, which inherit it.
  return inShell(`ulimit -S -d ${1024 * (RESERVED_MIB + memoryMib)}`, ['nice', '-n', `${niceness}`, ...program]);
}

/** A command that runs a program without the memory limit of the process that starts it. */
export function unboundedCommand(program: readonly string[]): string[] {
  return inShell('ulimit -S -d "$(ulimit -H -d)"', program);
}

/** The shell sets its own limit, and then becomes the program. */
function inShell(limit: string, program: readonly string[]): string[] {
  // Elsewhere the limit does not count all memory of a process.
  const limited = process.platform === 'linux' ? `${limit} && ` : '';
  return ['/bin/sh', '-c', `${limited}exec "$0" "$@"`, ...program];
}
