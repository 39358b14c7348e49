/**
 * Byte ranges of remote files, kept on disk, one small file a range: the bytes, then their CRC-32.
 *
 * Any number of processes and threads may use one directory: a range appears whole (written aside, then renamed), a
 * damaged one fails its checksum and is none, and the least recently used ones are removed, by whoever finds the
 * directory too large. A failure of the disk is never a failure of the reader: there is then just no cache.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

/** What tells one content of a remote file from another, as its host states it. */
export interface FileVersion {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly byteLength: number;
}

export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.etag === b.etag && a.lastModified === b.lastModified && a.byteLength === b.byteLength;
}

/** Above the limit, ranges are removed until this share of it is left. */
const KEPT_SHARE = 0.9;
/** The directory is measured whenever this share of the limit has been added to it by one thread. */
const MEASURED_SHARE = 1 / 64;
/** A longer range is not kept, as it would push out all others. */
const LARGEST_SHARE = 1 / 8;
/** A file that was being written this long ago was left behind by a killed process. */
const ABANDONED_MS = 600_000;
const CHECKSUM_BYTES = 4;
const UNFINISHED = '.part';

export class RangeCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** Since the directory was measured; measured first before the first addition. */
  #added = Number.POSITIVE_INFINITY;
  #written = 0;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** The version that a file had when it was last asked for, and how long ago that was. */
  version(url: string): { readonly version: FileVersion; readonly ageMs: number } | undefined {
    const path = join(this.#folder(url), 'version');
    try {
      const version = JSON.parse(readFileSync(path, 'utf8')) as FileVersion;
      return { version, ageMs: Date.now() - statSync(path).mtimeMs };
    } catch {
      return undefined;
    }
  }

  /** Notes that a file has this version now. */
  putVersion(url: string, version: FileVersion): void {
    this.#write(join(this.#folder(url), 'version'), Buffer.from(JSON.stringify(version)));
  }

  /** What is known of a file no longer holds: it will be asked for again. */
  forget(url: string): void {
    remove(join(this.#folder(url), 'version'));
  }

  get(url: string, version: FileVersion, start: number, end: number): ArrayBuffer | undefined {
    const path = this.#path(url, version, start, end);
    try {
      const stored = readFileSync(path);
      const bytes = stored.subarray(0, -CHECKSUM_BYTES);
      if (bytes.length !== end - start || crc32(bytes) !== stored.readUInt32LE(bytes.length)) return undefined;
      const now = new Date();
      utimesSync(path, now, now);
      return stored.buffer.slice(stored.byteOffset, stored.byteOffset + bytes.length);
    } catch {
      return undefined;
    }
  }

  put(url: string, version: FileVersion, start: number, bytes: ArrayBuffer): void {
    const stored = Buffer.alloc(bytes.byteLength + CHECKSUM_BYTES);
    stored.set(new Uint8Array(bytes));
    stored.writeUInt32LE(crc32(stored.subarray(0, bytes.byteLength)), bytes.byteLength);
    if (stored.length > this.#maxBytes * LARGEST_SHARE) return;
    this.#added += stored.length;
    if (this.#added > this.#maxBytes * MEASURED_SHARE) {
      this.#shrink();
      this.#added = stored.length;
    }
    this.#write(this.#path(url, version, start, start + bytes.byteLength), stored);
  }

  #folder(url: string): string {
    return join(this.#directory, digest(url));
  }

  #path(url: string, version: FileVersion, start: number, end: number): string {
    return join(this.#folder(url), `${digest(JSON.stringify(version))}-${start}-${end}`);
  }

  #write(path: string, content: Uint8Array): void {
    const aside = `${path}.${process.pid}-${threadId}-${this.#written++}${UNFINISHED}`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(aside, content, { mode: 0o600 });
      renameSync(aside, path);
    } catch {
      remove(aside);
    }
  }

  /** Removes what a kill left behind and, above the limit, the ranges that were not used for the longest time. */
  #shrink(): void {
    const ranges: { path: string; bytes: number; usedMs: number }[] = [];
    for (const name of listed(this.#directory).filter(name => name.includes('-'))) {
      try {
        const path = join(this.#directory, name);
        const { size, mtimeMs } = statSync(path);
        if (name.endsWith(UNFINISHED) && Date.now() - mtimeMs > ABANDONED_MS) remove(path);
        else ranges.push({ path, bytes: size, usedMs: mtimeMs });
      } catch {
        // Removed by another process.
      }
    }
    let total = ranges.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= this.#maxBytes * (1 - MEASURED_SHARE)) return;
    ranges.sort((a, b) => a.usedMs - b.usedMs);
    for (const { path, bytes } of ranges) {
      if (total <= this.#maxBytes * KEPT_SHARE) return;
      remove(path);
      total -= bytes;
    }
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What cannot be removed stays.
  }
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
