/** Finds and creates files, and makes their contents and names durable. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Whether this path exists. If the check fails (a failing disk, no free descriptors), it throws, while `existsSync`
 * returns false.
 * @throws the system's error if the check fails
 */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Flushes the contents of a file, or the names in a directory, to disk. Only then does a new or renamed file survive a
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
 * Creates a directory and any missing parents, accessible to this user only; their names are durable on return. It
 * creates them one by one, because `mkdirSync` with `recursive` never returns if the system reports ENOENT below an
 * existing directory, for example in /proc.
 */
export function makeDirectory(path: string): void {
  if (isThere(path)) return;
  const whole = resolve(path);
  const above = dirname(whole);
  makeDirectory(above);
  try {
    mkdirSync(whole, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the directory in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  flush(above);
}

/**
 * Removes a temporary file or directory that is no longer needed. Never throws: what cannot be removed, for example
 * because the data directory has lost its permission, is removed at the next start.
 */
export function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The failure of the request or job itself is reported.
  }
}

/**
 * Opens a new file without a name for reading and writing. The file disappears however the process ends.
 * @returns its descriptor, which the caller must close
 */
export function openAnonymousFile(directory: string): number {
  const path = join(directory, `${randomUUID()}.tmp`);
  const descriptor = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return descriptor;
}
