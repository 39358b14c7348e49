/** Finds and makes files, and makes their contents and names durable. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Whether this path exists. Unlike `existsSync`, it does not return false if the check fails (a failing disk, no more
 * descriptors).
 * @throws the system's error if the check fails
 */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Makes the contents of a file, or the names in a directory, durable: only then does a new or renamed file survive a
 * power cut.
 */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes a directory and any missing parents, for this user only; their names are durable on return. They are made one
 * by one, because `mkdirSync` with `recursive` never returns if the system reports ENOENT below an existing directory,
 * for example in /proc.
 */
export function makeDirectory(path: string): void {
  if (isThere(path)) return;
  const whole = resolve(path);
  const above = dirname(whole);
  makeDirectory(above);
  try {
    mkdirSync(whole, { mode: 0o700 });
  } catch (error) {
    // Another process may have made the directory meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  flush(above);
}

/**
 * Opens a new file for reading and writing that has no name, so that nothing of it remains whatever ends the process.
 * @returns its descriptor, to be closed
 */
export function openAnonymousFile(directory: string): number {
  const path = join(directory, `${randomUUID()}.tmp`);
  const descriptor = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return descriptor;
}
