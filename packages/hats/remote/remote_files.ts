/** The files below an address, read by range requests through a cache on disk. */
import { setImmediate } from 'node:timers';
import { type OpenFile, ReadFailure } from '@nearsky/astrotables/files';
import { checkedAddress, relativeAddress, requestUrl } from '../address.ts';
import { type CatalogFiles, type FilesOptions, noReads, type ReadCounts } from '../catalog_files.ts';
import { FileChanged, MissingFile } from '../errors.ts';
import { REMOTE_DEFAULTS, type RemoteOptions } from './options.ts';
import { type FileVersion, type KeptRanges, RangeCache } from './range_cache.ts';
import { type FileSession, NoSuffixRange, type RangeAnswer, RangeClient } from './range_client.ts';

/** Bytes that opening a file reads: the footer of most Parquet files, and all of a short file. */
const TAIL_BYTES = 64 << 10;
/** A version of this age or younger is used without asking the host again. */
const TRUSTED_MS = 15 * 60_000;
/** Ranges with a smaller gap are fetched together, because the gap costs less than a request. */
const MAX_GAP_BYTES = 64 << 10;
/** The maximum length of one request, so that a failed request loses little. */
const MAX_REQUEST_BYTES = 8 << 20;

/** State that the files of one thread share: connections, failing hosts, and the bytes added to the cache. */
interface Shared {
  readonly client: RangeClient;
  readonly cache: RangeCache | undefined;
}

/**
 * This state by options and host; a process has few such pairs. Hosts do not share connections, because each host may
 * redirect to other places.
 */
const shared = new Map<string, Shared>();

function sharedBy(options: RemoteOptions, ownHost: string): Shared {
  const key = JSON.stringify([options, ownHost]);
  const { cache } = options;
  const found = shared.get(key) ?? {
    client: new RangeClient(options, ownHost),
    cache: cache && new RangeCache(cache),
  };
  shared.set(key, found);
  return found;
}

export class RemoteFiles implements CatalogFiles {
  readonly location: string;
  readonly #ownHost: string;
  readonly #options: RemoteOptions;
  readonly #counts: ReadCounts;
  readonly #client: RangeClient;
  readonly #cache: RangeCache | undefined;

  private constructor(location: string, ownHost: string, options: RemoteOptions, counts: ReadCounts) {
    this.location = location;
    this.#ownHost = ownHost;
    this.#options = options;
    this.#counts = counts;
    ({ client: this.#client, cache: this.#cache } = sharedBy(options, ownHost));
  }

  /** @throws CatalogError for an address that cannot be used */
  static at(address: string, { remote = REMOTE_DEFAULTS, counts = noReads() }: FilesOptions): RemoteFiles {
    const location = checkedAddress(address);
    return new RemoteFiles(location, new URL(requestUrl(location)).hostname, remote, counts);
  }

  nameOf(name: string): string {
    return `${this.location}/${name}`;
  }

  directory(text: string): CatalogFiles {
    return new RemoteFiles(relativeAddress(this.location, text), this.#ownHost, this.#options, this.#counts);
  }

  async has(name: string): Promise<boolean> {
    try {
      await this.#client.get(this.#session(name), { start: 0, end: 1 });
      return true;
    } catch (error) {
      if (error instanceof MissingFile) return false;
      throw error;
    }
  }

  async list(): Promise<undefined> {
    return undefined;
  }

  async open(name: string): Promise<OpenFile> {
    const session = this.#session(name);
    const known = this.#cache?.version(session.url);
    const kept = known && this.#cache?.ranges(session.url, known.version);
    const keptTail = known && kept?.get(...tailOf(known.version.byteLength));
    const answer =
      keptTail && known.ageMs <= TRUSTED_MS ? undefined : await this.#tail(session, keptTail && known.version);
    if (answer) return this.#opened(session, answer);
    if (known!.ageMs > TRUSTED_MS) this.#cache!.putVersion(session.url, known!.version);
    this.#counts.diskBytes += keptTail!.byteLength;
    session.version = known!.version;
    return new RemoteFile(session, keptTail!, this.#client, { cache: this.#cache!, ranges: kept! });
  }

  #opened(session: FileSession, { version, start, bytes, isKeepable }: RangeAnswer): RemoteFile {
    session.version = version;
    if (!isKeepable || !this.#cache) return new RemoteFile(session, bytes, this.#client);
    this.#cache.putVersion(session.url, version);
    const ranges = this.#cache.ranges(session.url, version);
    ranges.put(start, bytes);
    return new RemoteFile(session, bytes, this.#client, { cache: this.#cache, ranges });
  }

  async #tail(session: FileSession, unless: FileVersion | undefined): Promise<RangeAnswer | undefined> {
    try {
      return await this.#client.get(session, { last: TAIL_BYTES }, unless);
    } catch (error) {
      if (!(error instanceof NoSuffixRange)) throw error;
      const { version } = (await this.#client.get(session, { start: 0, end: 1 }))!;
      session.version = version;
      const [start, end] = tailOf(version.byteLength);
      return this.#client.get(session, { start, end });
    }
  }

  #session(name: string): FileSession {
    const address = this.nameOf(name);
    return {
      url: requestUrl(address),
      name: address,
      version: undefined,
      bytesLeft: this.#options.maxFileBytes,
      maxBytes: this.#options.maxFileBytes,
      deadline: AbortSignal.timeout(this.#options.fileTimeoutMs),
      deadlineMs: performance.now() + this.#options.fileTimeoutMs,
      counts: this.#counts,
    };
  }
}

function tailOf(byteLength: number): [start: number, end: number] {
  return [Math.max(0, byteLength - TAIL_BYTES), byteLength];
}

interface Asked {
  readonly start: number;
  readonly end: number;
  readonly resolve: (bytes: ArrayBuffer) => void;
  readonly reject: (error: unknown) => void;
}

interface Kept {
  readonly cache: RangeCache;
  readonly ranges: KeptRanges;
}

class RemoteFile implements OpenFile {
  readonly name: string;
  readonly byteLength: number;
  readonly #session: FileSession;
  readonly #tail: ArrayBuffer;
  readonly #client: RangeClient;
  readonly #kept: Kept | undefined;
  /** Ranges that were requested in this turn of the event loop. */
  #asked: Asked[] = [];

  constructor(session: FileSession, tail: ArrayBuffer, client: RangeClient, kept?: Kept) {
    this.name = session.name;
    this.byteLength = session.version!.byteLength;
    this.#session = session;
    this.#tail = tail;
    this.#client = client;
    this.#kept = kept;
  }

  async read(start: number, end: number): Promise<ArrayBuffer> {
    if (start < 0 || start > end || end > this.byteLength)
      throw new ReadFailure(`Cannot read ${this.name}: bytes ${start} to ${end} of ${this.byteLength} are wanted`);
    if (start === end) return new ArrayBuffer(0);
    const tailStart = this.byteLength - this.#tail.byteLength;
    if (start >= tailStart) return this.#tail.slice(start - tailStart, end - tailStart);
    const kept = this.#kept?.ranges.get(start, end);
    if (kept) {
      this.#session.counts.diskBytes += kept.byteLength;
      return kept;
    }
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => this.#fetchAsked());
      this.#asked.push({ start, end, resolve, reject });
    });
  }

  close(): void {}

  #fetchAsked(): void {
    const asked = this.#asked.sort((a, b) => a.start - b.start);
    this.#asked = [];
    for (const group of grouped(asked)) {
      this.#fetchGroup(group).catch(error => {
        if (error instanceof FileChanged) this.#kept?.cache.forget(this.#session.url);
        for (const { reject } of group) reject(error);
      });
    }
  }

  async #fetchGroup(group: readonly Asked[]): Promise<void> {
    const first = group[0]!.start;
    const bytes = await this.#fetch(first, Math.max(...group.map(({ end }) => end)));
    this.#kept?.ranges.put(first, bytes);
    for (const { start, end, resolve } of group) resolve(bytes.slice(start - first, end - first));
  }

  async #fetch(start: number, end: number): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(end - start);
    const parts: Promise<void>[] = [];
    for (let at = start; at < end; at += MAX_REQUEST_BYTES) {
      const part = this.#client.get(this.#session, { start: at, end: Math.min(end, at + MAX_REQUEST_BYTES) });
      parts.push(part.then(answer => bytes.set(new Uint8Array(answer!.bytes), at - start)));
    }
    await Promise.all(parts);
    return bytes.buffer;
  }
}

/** Groups ascending ranges that lie near each other, as long as their request stays short. */
function grouped(ranges: readonly Asked[]): Asked[][] {
  const groups: Asked[][] = [];
  let end = 0;
  for (const range of ranges) {
    const group = groups.at(-1);
    if (group && range.start - end <= MAX_GAP_BYTES && range.end - group[0]!.start <= MAX_REQUEST_BYTES)
      group.push(range);
    else groups.push([range]);
    end = Math.max(end, range.end);
  }
  return groups;
}
