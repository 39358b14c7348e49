/** Whether files are there, and making them, and their names, durable. */
import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Whether something has this path. `existsSync` says no where it could not look, too (a failing disk, no more descriptors).
 * @throws the error of the system where it cannot look
 */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Makes durable what a file holds, or which names a directory has: a new or renamed file is there after a power cut only then. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes a directory and those above it that are missing, for this user only; their names are durable on return. One by one: `mkdirSync` with
 * `recursive` never returns where the system says ENOENT below a directory that is there, as in /proc.
 */
export function makeDirectory(path: string): void {
  if (isThere(path)) return;
  const whole = resolve(path);
  const above = dirname(whole);
  makeDirectory(above);
  try {
    mkdirSync(whole, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  flush(above);
}
