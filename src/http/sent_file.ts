/** Writes the body of a request to its own file as it arrives, so that it takes no memory. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { ClientRoom } from '../base/client_room.ts';
import { spoolPath } from '../base/spool.ts';

/** Smaller parts after the first are collected before they are written, because a client may send single bytes. */
const GATHERED_BYTES = 1 << 16;

/** A file for one body. It is created with the first bytes, and must be removed after use. */
export class SentFile {
  readonly path: string;
  readonly #room: ClientRoom;
  readonly #client: string;
  #file: number | undefined;
  #bytes = 0;
  #gathered: Buffer | undefined;
  #gatheredBytes = 0;

  /**
   * @param client the client whose share the file counts against
   * @throws Unavailable if the data directory is missing
   */
  constructor(dataDir: string, room: ClientRoom, client: string) {
    this.path = spoolPath(dataDir);
    this.#room = room;
    this.#client = client;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Unavailable if the client has no space left */
  add(bytes: Uint8Array): void {
    this.#file ??= openSync(this.path, 'wx', 0o600);
    this.#room.take(this.#client, bytes.length);
    const isFirst = this.#bytes === 0;
    this.#bytes += bytes.length;
    if (this.#gatheredBytes + bytes.length > GATHERED_BYTES) this.#writeGathered();
    if (isFirst || bytes.length > GATHERED_BYTES) writeSync(this.#file, bytes);
    else {
      this.#gathered ??= Buffer.allocUnsafeSlow(GATHERED_BYTES);
      this.#gathered.set(bytes, this.#gatheredBytes);
      this.#gatheredBytes += bytes.length;
    }
  }

  /** Call when the whole body has arrived. */
  end(): void {
    this.#writeGathered();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#gathered = undefined;
  }

  #writeGathered(): void {
    if (this.#gatheredBytes > 0) writeSync(this.#file!, this.#gathered!, 0, this.#gatheredBytes);
    this.#gatheredBytes = 0;
  }

  /** Moves the file to a path in the same file system. Its space is then no longer counted here. */
  moveTo(path: string): void {
    this.end();
    renameSync(this.path, path);
    this.remove();
  }

  remove(): void {
    this.#gatheredBytes = 0;
    this.end();
    if (this.#bytes > 0) this.#room.free(this.#client, this.#bytes);
    this.#bytes = 0;
    rmSync(this.path, { force: true });
  }
}
