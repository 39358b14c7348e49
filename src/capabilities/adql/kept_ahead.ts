/** Makes the parts of an answer as fast as possible, and stores on disk the parts that the client has not read yet. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Unavailable } from '../../core/base/refusal.ts';
import { spoolPath } from '../uploads/spool.ts';

const READ_BYTES = 1 << 18;

interface KeptOptions {
  readonly dataDir: string;
  /** The next part; null at the end. */
  readonly more: () => Promise<Uint8Array | null>;
  /**
   * @throws Unavailable if the disk is full; later parts are then only made after the client has read the earlier ones
   */
  readonly take: (bytes: number) => void;
  readonly free: (bytes: number) => void;
}

export class KeptAhead {
  readonly #options: KeptOptions;
  #file: FileHandle | undefined;
  /** How many bytes of the file were read so far, and how many were written. */
  #from = 0;
  #to = 0;
  #taken = 0;
  /** The part after those in the file. If the client reads as fast as parts are made, it gets every part from here. */
  #latest: Uint8Array | undefined;
  #isMade = false;
  #failure: unknown;
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  constructor(options: KeptOptions) {
    this.#options = options;
    void this.#make();
  }

  /**
   * The next bytes; null at the end.
   * @throws any error that `more` throws
   */
  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      if (this.#from < this.#to) return await this.#read();
      const latest = this.#latest;
      if (latest) {
        this.#latest = undefined;
        this.#change();
        return latest;
      }
      if (this.#isMade) break;
      await this.#changed.promise;
    }
    await this.end();
    if (this.#failure) throw this.#failure;
    return null;
  }

  /** Frees the disk space. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#change();
    this.#options.free(this.#taken);
    await this.#file?.close();
  }

  async #make(): Promise<void> {
    try {
      for (let part = await this.#options.more(); part && !this.#isEnded; part = await this.#options.more()) {
        await this.#putAside();
        this.#latest = part;
        this.#change();
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#isMade = true;
    this.#change();
  }

  /** Moves `#latest` to the file, to make room for another part. */
  async #putAside(): Promise<void> {
    const part = this.#latest;
    if (!part) return;
    try {
      this.#options.take(part.length);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      while (this.#latest && !this.#isEnded) await this.#changed.promise;
      return;
    }
    this.#taken += part.length;
    this.#latest = undefined;
    this.#file ??= await this.#open();
    await this.#file.write(part, 0, part.length, this.#to);
    this.#to += part.length;
    this.#change();
  }

  /** The file has no name, so it disappears with the process. */
  async #open(): Promise<FileHandle> {
    const path = spoolPath(this.#options.dataDir);
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return file;
  }

  async #read(): Promise<Uint8Array> {
    const length = Math.min(READ_BYTES, this.#to - this.#from);
    const { buffer } = await this.#file!.read(new Uint8Array(length), 0, length, this.#from);
    this.#from += length;
    return buffer;
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
