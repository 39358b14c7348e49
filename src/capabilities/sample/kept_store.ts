/**
 * Stores samples that clients keep, one directory per sample: `sample.json`, and the body of the request as it came.
 * Every process that uses the data directory can read them. The id is the only key.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fullDisk, isFullDisk, spareBytesAt } from '../../core/base/disk.ts';
import { discard, flush, isThere, makeDirectory } from '../../core/base/files.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { Config } from '../../core/config/config.ts';
import { sampleSettings } from './settings.ts';

const DIRECTORY = 'samples';
const ID_BYTES = 16;
export const KEPT_ID = /^[0-9a-f]{32}$/;
/** The name of a sample that is being stored or removed ends with this. */
const PART = '.part';
/** Storing and removing take less time; an older part was left by a process that has ended. */
const PART_MS = 60_000;
const DAY_MS = 86_400_000;

/** Times are milliseconds since 1970. */
export interface KeptSample {
  /** Unguessable, because anyone who knows it may read and remove the sample. */
  readonly id: string;
  readonly title: string;
  /** The name under which the sample counts against the client's share. */
  readonly client: string;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly bytes: number;
  /** The parameters of a sample in a table; undefined for one in JSON. */
  readonly table?: Readonly<Record<string, string>>;
}

/** A sample to keep. */
export type NewSample = Pick<KeptSample, 'title' | 'client' | 'bytes' | 'table'> & {
  /** The body, or the path of its file, which is moved. */
  readonly body: { readonly text: string } | { readonly path: string };
};

export class KeptStore {
  readonly #directory: string;
  readonly #dataDir: string;
  readonly #config: Config;
  readonly #now: () => number;

  /** @param now returns the time, milliseconds since 1970 */
  constructor(config: Config, now: () => number = Date.now) {
    this.#config = config;
    this.#dataDir = config.NEARSKY_DATA;
    this.#directory = join(config.NEARSKY_DATA, DIRECTORY);
    this.#now = now;
  }

  /**
   * Stores a sample durably. It exists completely or not at all, whenever the process ends.
   * @throws Unavailable if there is no room for it
   */
  keep({ title, client, bytes, table, body }: NewSample): KeptSample {
    this.#requireRoom(client, bytes);
    const createdMs = this.#now();
    const sample: KeptSample = {
      id: randomBytes(ID_BYTES).toString('hex'),
      title,
      client,
      createdMs,
      expiresMs: createdMs + Math.round(sampleSettings.of(this.#config).SAMPLES_DAYS * DAY_MS),
      bytes,
      ...(table && { table }),
    };
    const path = join(this.#directory, sample.id);
    const part = `${path}${PART}`;
    try {
      makeDirectory(part);
      writeFileSync(join(part, 'sample.json'), JSON.stringify(sample), { flush: true, mode: 0o600 });
      const input = join(part, 'input');
      if ('path' in body) {
        renameSync(body.path, input);
        flush(input);
      } else writeFileSync(input, body.text, { flush: true, mode: 0o600 });
      flush(part);
      renameSync(part, path);
      flush(this.#directory);
    } catch (error) {
      discard(part);
      discard(path);
      throw isFullDisk(error) ? fullDisk() : error;
    }
    return sample;
  }

  #requireRoom(client: string, bytes: number): void {
    const { SAMPLES_MAX: most, SAMPLES_MAX_PER_CLIENT: perClient, SAMPLES_MAX_MIB } = sampleSettings.of(this.#config);
    if (most === 0) throw new Unavailable('this service keeps no samples');
    // If the data directory is missing, it must not be created again without its contents.
    if (!isThere(this.#dataDir)) throw new Unavailable('the data directory is gone');
    const all = this.sweep();
    const own = all.filter(sample => sample.client === client);
    const sum = (samples: readonly KeptSample[]) => samples.reduce((total, sample) => total + sample.bytes, bytes);
    const maxBytes = SAMPLES_MAX_MIB * 2 ** 20;
    const mostOwn = Math.min(most, perClient);
    if (own.length >= mostOwn || (own.length > 0 && sum(own) > maxBytes * (mostOwn / most)))
      throw new Unavailable('the kept samples of this client use all of their room: delete some of them');
    if (all.length >= most) throw new Unavailable('the maximum number of samples is kept');
    if (sum(all) > maxBytes) throw new Unavailable('all disk space for kept samples is in use');
    if (bytes > spareBytesAt(this.#dataDir)) throw fullDisk();
  }

  /** The sample; undefined if it never existed, was removed, or its time is over. */
  read(id: string): KeptSample | undefined {
    if (!KEPT_ID.test(id)) return undefined;
    const sample = this.#stored(id);
    return sample && this.#now() < sample.expiresMs ? sample : undefined;
  }

  #stored(id: string): KeptSample | undefined {
    try {
      return JSON.parse(readFileSync(join(this.#directory, id, 'sample.json'), 'utf8')) as KeptSample;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The path of the body as it was sent. */
  inputPath({ id }: KeptSample): string {
    return join(this.#directory, id, 'input');
  }

  /** Removes a sample; false if there is none. */
  remove(id: string): boolean {
    if (!this.read(id)) return false;
    this.#remove(id);
    return true;
  }

  #remove(id: string): void {
    const path = join(this.#directory, id);
    renameSync(path, `${path}${PART}`);
    flush(this.#directory);
    discard(`${path}${PART}`);
  }

  /** Removes the samples whose time is over, and unfinished ones of processes that have ended. Returns the others. */
  sweep(): KeptSample[] {
    if (!isThere(this.#directory)) return [];
    return readdirSync(this.#directory).flatMap(name => {
      if (name.endsWith(PART)) {
        const path = join(this.#directory, name);
        const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(path, { throwIfNoEntry: false }) ?? {};
        if (Date.now() - mtimeMs > PART_MS) rmSync(path, { recursive: true, force: true });
        return [];
      }
      const sample = KEPT_ID.test(name) ? this.#stored(name) : undefined;
      if (!sample) return [];
      if (this.#now() < sample.expiresMs) return [sample];
      this.#remove(name);
      return [];
    });
  }
}
