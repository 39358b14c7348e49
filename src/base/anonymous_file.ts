import { randomUUID } from 'node:crypto';
import { openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

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
