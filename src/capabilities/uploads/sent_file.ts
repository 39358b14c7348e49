/** Receives the body of a request: a small one in memory, any other in its own file, so that it takes little memory. */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import type { ClientRoom } from '../../core/base/client_room.ts';
import { discard } from '../../core/base/files.ts';
import { spoolPath } from './spool.ts';

/** Up to this many bytes are gathered before they are written, because a client may send single bytes. */
export const GATHERED_BYTES = 1 << 16;
const NOTHING = new Uint8Array(0);

/** One body. It must be removed after use. */
export class SentFile {
  readonly #dataDir: string;
  readonly #room: ClientRoom;
  readonly #client: string;
  /** The path of the file; undefined while all of the body is in memory. */
  #path: string | undefined;
  #file: number | undefined;
  #bytes = 0;
  /** The bytes of the file, which count against the client's share. */
  #taken = 0;
  #gathered = NOTHING;
  #gatheredBytes = 0;

  /** @param client the client whose share the body counts against */
  constructor(dataDir: string, room: ClientRoom, client: string) {
    this.#dataDir = dataDir;
    this.#room = room;
    this.#client = client;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Unavailable if the client has no space left, or the data directory is missing */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#gatheredBytes + bytes.length > GATHERED_BYTES) this.#writeGathered();
    if (bytes.length > GATHERED_BYTES) this.#write(bytes);
    else this.#gather(bytes);
  }

  #gather(bytes: Uint8Array): void {
    const end = this.#gatheredBytes + bytes.length;
    if (end > this.#gathered.length) {
      const larger = new Uint8Array(Math.min(2 * end, GATHERED_BYTES));
      larger.set(this.#gathered.subarray(0, this.#gatheredBytes));
      this.#gathered = larger;
    }
    this.#gathered.set(bytes, this.#gatheredBytes);
    this.#gatheredBytes = end;
  }

  #opened(): number {
    this.#path ??= spoolPath(this.#dataDir);
    return (this.#file ??= openSync(this.#path, 'wx', 0o600));
  }

  #writeGathered(): void {
    if (this.#gatheredBytes > 0) this.#write(this.#gathered.subarray(0, this.#gatheredBytes));
    this.#gatheredBytes = 0;
  }

  #write(bytes: Uint8Array): void {
    this.#room.take(this.#client, bytes.length);
    this.#taken += bytes.length;
    writeSync(this.#opened(), bytes);
  }

  /** The whole body, which must not be empty: its bytes if they are few, else the path of its file. */
  content(): Uint8Array | string {
    return this.#path === undefined ? this.#gathered.slice(0, this.#gatheredBytes) : this.file();
  }

  /**
   * The path of a file with the whole body, which must not be empty.
   * @throws Unavailable as `add`
   */
  file(): string {
    this.#writeGathered();
    this.#close();
    return this.#path!;
  }

  /** Moves the body to a path in the same file system. Its space is then no longer counted here. */
  moveTo(path: string): void {
    renameSync(this.file(), path);
    this.remove();
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#gathered = NOTHING;
  }

  remove(): void {
    this.#gatheredBytes = 0;
    this.#close();
    if (this.#taken > 0) this.#room.free(this.#client, this.#taken);
    this.#taken = 0;
    this.#bytes = 0;
    if (this.#path !== undefined) discard(this.#path);
    this.#path = undefined;
  }
}
