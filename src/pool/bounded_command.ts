/** The bound of a process's memory that the kernel holds. */

/** What an idle process of either runtime reserves of its data segment, and hardly uses: measured 550 to 575 MiB. */
const RESERVED_MIB = 600;

/**
 * A command that runs a program with a bound of its memory: an array or a library that finds none gets an error.
 * @param memoryMib beside that of an idle process
 */
export function boundedCommand(memoryMib: number, program: readonly string[]): string[] {
  // The shell becomes the program, with the bound that it has set. Only Linux counts all memory of a process so.
  return inShell(`ulimit -S -d ${1024 * (RESERVED_MIB + memoryMib)}`, program);
}

/** A command that runs a program without the bound of the process that starts it. */
export function unboundedCommand(program: readonly string[]): string[] {
  return inShell('ulimit -S -d "$(ulimit -H -d)"', program);
}

function inShell(limit: string, program: readonly string[]): string[] {
  return process.platform === 'linux' ? ['/bin/sh', '-c', `${limit} && exec "$0" "$@"`, ...program] : [...program];
}
