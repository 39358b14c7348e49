/** Limits a process's memory with the kernel's help. */

/**
 * The data segment that an idle process of either runtime reserves, although it hardly uses it. Measured: 550 to 575
 * MiB.
 */
const RESERVED_MIB = 600;

/**
 * A command that runs a program with a memory limit. Beyond it, allocations for arrays and in libraries fail with an
 * error.
 * @param memoryMib the limit, in addition to the memory of an idle process
 */
export function boundedCommand(memoryMib: number, program: readonly string[]): string[] {
  // The shell sets its own limit, and then becomes the program. Only on Linux does this limit count all memory of a
  // process.
  return inShell(`ulimit -S -d ${1024 * (RESERVED_MIB + memoryMib)}`, program);
}

/** A command that runs a program without the memory limit of the process that starts it. */
export function unboundedCommand(program: readonly string[]): string[] {
  return inShell('ulimit -S -d "$(ulimit -H -d)"', program);
}

function inShell(limit: string, program: readonly string[]): string[] {
  return process.platform === 'linux' ? ['/bin/sh', '-c', `${limit} && exec "$0" "$@"`, ...program] : [...program];
}
