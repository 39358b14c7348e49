/**
 * Byte ranges of remote files, kept on disk. One cache file holds the bytes of one request, then their CRC-32. A range
 * is served from any cache file that covers it.
 *
 * Any number of processes and threads may share one directory. A range is written to a temporary file and renamed, so
 * it is always complete; a damaged range fails its checksum and is ignored. Whoever finds the directory too large
 * removes the least recently used ranges. A disk failure never fails the reader, which then works without the cache.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import type { CacheOptions } from './options.ts';

/** The properties by which a host distinguishes versions of a remote file. */
export interface FileVersion {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly byteLength: number;
}

export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.etag === b.etag && a.lastModified === b.lastModified && a.byteLength === b.byteLength;
}

/** Above the limit, ranges are removed until this share of the limit is left. */
const KEPT_SHARE = 0.9;
/** The directory is measured whenever one thread has added this share of the limit. */
const MEASURED_SHARE = 1 / 64;
/** A longer range is not kept, because it would displace all others. */
const LARGEST_SHARE = 1 / 8;
/** After this time, a file that is still being written was abandoned by a killed process. */
const ABANDONED_MS = 600_000;
const CHECKSUM_BYTES = 4;
const UNFINISHED = '.part';

export class RangeCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #leavesBytes: number;
  /** Bytes added since the directory was measured; infinite, so that the first addition measures. */
  #added = Number.POSITIVE_INFINITY;
  #written = 0;

  constructor({ directory, maxBytes, leavesBytes = 0 }: CacheOptions) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#leavesBytes = leavesBytes;
  }

  /** The version that a file had at the last request, and the time since that request. */
  version(url: string): { readonly version: FileVersion; readonly ageMs: number } | undefined {
    const path = join(this.#folder(url), 'version');
    try {
      const version = JSON.parse(readFileSync(path, 'utf8')) as FileVersion;
      return { version, ageMs: Date.now() - statSync(path).mtimeMs };
    } catch {
      return undefined;
    }
  }

  /** Records that a file has this version now. */
  putVersion(url: string, version: FileVersion): void {
    this.#write(join(this.#folder(url), 'version'), Buffer.from(JSON.stringify(version)));
  }

  /** Forgets the version of a file, so that the host is asked again. */
  forget(url: string): void {
    remove(join(this.#folder(url), 'version'));
  }

  /** The ranges kept of one version of a file, including those added later through the returned object. */
  ranges(url: string, version: FileVersion): KeptRanges {
    const digested = digest(JSON.stringify(version));
    const folder = this.#folder(url);
    const kept = namesIn(folder).flatMap(name => {
      const [, of, start, end] = /^([0-9a-f]+)-(\d+)-(\d+)$/.exec(name) ?? [];
      return of === digested ? [{ start: Number(start), end: Number(end) }] : [];
    });
    const pathOf = (range: Range) => join(folder, `${digested}-${range.start}-${range.end}`);
    return new KeptRanges(kept, pathOf, (path, stored) => this.#put(path, stored));
  }

  /** Returns whether the range was kept. */
  #put(path: string, stored: Uint8Array): boolean {
    if (stored.length > this.#maxBytes * LARGEST_SHARE || !this.#hasSpace(stored.length)) return false;
    this.#added += stored.length;
    if (this.#added > this.#maxBytes * MEASURED_SHARE) {
      this.#shrink();
      this.#added = stored.length;
    }
    return this.#write(path, stored);
  }

  #hasSpace(bytes: number): boolean {
    try {
      const { bavail, bsize, blocks } = statfsSync(this.#directory);
      return blocks === 0 || bavail * bsize - bytes >= this.#leavesBytes;
    } catch {
      // The directory is created with the first range.
      return true;
    }
  }

  #folder(url: string): string {
    return join(this.#directory, digest(url));
  }

  #write(path: string, content: Uint8Array): boolean {
    const aside = `${path}.${process.pid}-${threadId}-${this.#written++}${UNFINISHED}`;
    const write = () => writeFileSync(aside, content, { mode: 0o600 });
    try {
      try {
        write();
      } catch {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        write();
      }
      renameSync(aside, path);
      return true;
    } catch {
      remove(aside);
      return false;
    }
  }

  /** Removes what a kill left behind and, above the limit, the ranges that were not used for the longest time. */
  #shrink(): void {
    const abandonedMs = Date.now() - ABANDONED_MS;
    const kept: Stored[] = [];
    for (const file of this.#stored()) {
      if (file.path.endsWith(UNFINISHED) && file.usedMs < abandonedMs) remove(file.path);
      else kept.push(file);
    }
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= this.#maxBytes * (1 - MEASURED_SHARE)) return;
    kept.sort((a, b) => a.usedMs - b.usedMs);
    for (const { path, bytes } of kept) {
      if (total <= this.#maxBytes * KEPT_SHARE) return;
      remove(path);
      total -= bytes;
    }
  }

  /** The ranges of all files, including those that are being written. */
  *#stored(): Generator<Stored> {
    for (const folder of namesIn(this.#directory)) {
      for (const name of namesIn(join(this.#directory, folder))) {
        if (!name.includes('-')) continue;
        const path = join(this.#directory, folder, name);
        const stats = statSync(path, { throwIfNoEntry: false });
        if (stats) yield { path, bytes: stats.size, usedMs: stats.mtimeMs };
      }
    }
  }
}

interface Stored {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A file that cannot be removed stays.
  }
}

/** Lists names only, because asking for the type of every file is slow. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

interface Range {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export class KeptRanges {
  readonly #kept: Range[];
  readonly #pathOf: (range: Range) => string;
  readonly #put: (path: string, stored: Uint8Array) => boolean;
  /** The range that was read last. Several consecutive reads usually fall into one range. */
  #last: { readonly range: Range; readonly bytes: ArrayBuffer } | undefined;

  constructor(
    kept: readonly Range[],
    pathOf: (range: Range) => string,
    put: (path: string, stored: Uint8Array) => boolean,
  ) {
    this.#kept = [...kept];
    this.#pathOf = pathOf;
    this.#put = put;
  }

  /** The bytes [start, end), where a kept range covers them and passes its checksum. */
  get(start: number, end: number): ArrayBuffer | undefined {
    const covers = (range: Range) => range.start <= start && range.end >= end;
    if (!this.#last || !covers(this.#last.range)) {
      const range = this.#kept.find(covers);
      const bytes = range && this.#read(range);
      if (!bytes) return undefined;
      this.#last = { range, bytes };
    }
    const { range, bytes } = this.#last;
    return bytes.slice(start - range.start, end - range.start);
  }

  put(start: number, bytes: ArrayBuffer): void {
    const stored = Buffer.alloc(bytes.byteLength + CHECKSUM_BYTES);
    stored.set(new Uint8Array(bytes));
    stored.writeUInt32LE(crc32(stored.subarray(0, bytes.byteLength)), bytes.byteLength);
    const range = { start, end: start + bytes.byteLength };
    if (this.#put(this.#pathOf(range), stored)) this.#kept.push(range);
  }

  #read(range: Range): ArrayBuffer | undefined {
    const path = this.#pathOf(range);
    try {
      const stored = readFileSync(path);
      const bytes = stored.subarray(0, -CHECKSUM_BYTES);
      if (bytes.length !== range.end - range.start || crc32(bytes) !== stored.readUInt32LE(bytes.length))
        return undefined;
      const now = new Date();
      utimesSync(path, now, now);
      return stored.buffer.slice(stored.byteOffset, stored.byteOffset + bytes.length);
    } catch {
      return undefined;
    }
  }
}
