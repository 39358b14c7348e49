/** Bodies that are written to a file of their own as they arrive: they take no memory. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { ClientRoom } from '../base/client_room.ts';
import { spoolPath } from '../base/spool.ts';

/** Smaller parts are written together: a client may send a byte at a time. */
const GATHERED_BYTES = 1 << 16;

/** There is no file before the first bytes. What takes bytes must be removed. */
export class SentFile {
  readonly path: string;
  readonly #room: ClientRoom;
  readonly #client: string;
  #file: number | undefined;
  #bytes = 0;
  #gathered: Buffer | undefined;
  #gatheredBytes = 0;

  /**
   * @param client whose share of the room it counts against
   * @throws Unavailable where the data directory is gone
   */
  constructor(dataDir: string, room: ClientRoom, client: string) {
    this.path = spoolPath(dataDir);
    this.#room = room;
    this.#client = client;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Unavailable where the client has no room left */
  add(bytes: Uint8Array): void {
    this.#file ??= openSync(this.path, 'wx', 0o600);
    this.#room.take(this.#client, bytes.length);
    this.#bytes += bytes.length;
    if (this.#gatheredBytes + bytes.length > GATHERED_BYTES) this.#writeGathered();
    if (bytes.length > GATHERED_BYTES) writeSync(this.#file, bytes);
    else {
      this.#gathered ??= Buffer.allocUnsafeSlow(GATHERED_BYTES);
      this.#gathered.set(bytes, this.#gatheredBytes);
      this.#gatheredBytes += bytes.length;
    }
  }

  /** All of it has arrived. */
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

  /** Gives it to whoever has room for it at that path, in the same file system. */
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
