/** A disk that fills up quickly. */
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdtempSync, openSync, realpathSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly directory: string;
  unmount(): void;
}

/** Mounts a file system in memory with that size; undefined if this process may not mount one. */
export function mountSmallDisk(size: string): SmallDisk | undefined {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nearsky-disk-')));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  const unmount = () => {
    execFileSync('umount', ['-l', directory]);
    rmSync(directory, { recursive: true });
  };
  return { directory, unmount };
}

const PAGE_BYTES = 4096;

/** Fills a disk until at most this many bytes are free. Returns the file that does so, to be removed. */
export function fillDisk(directory: string, freeBytes: number): string {
  const file = join(directory, 'filler');
  const descriptor = openSync(file, 'a');
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(directory);
      const excess = bavail * bsize - freeBytes;
      if (excess < PAGE_BYTES) break;
      writeSync(descriptor, Buffer.alloc(Math.min(excess - (excess % PAGE_BYTES), 2 ** 20)));
    }
    fsyncSync(descriptor);
  } catch (error) {
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
  return file;
}
