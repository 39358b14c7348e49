/**
 * Writes the tables that come with a query to one file, as the request arrives: the bytes of all tables, one after
 * another, a list of names and sizes as JSON, and the length of this list as a 32-bit number.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClientRoom } from '../../core/base/client_room.ts';
import { discard, makeDirectory } from '../../core/base/files.ts';

/** A table of TAP_UPLOAD, and the part of the request that contains it. */
export interface Upload {
  readonly name: string;
  readonly key: string;
}

const LENGTH_BYTES = 4;

/** The file is created with the first bytes. */
export class UploadFile {
  /** When the next engine starts, it removes the files of processes that have ended. */
  readonly #path: string;
  readonly #parts: [key: string, length: number][] = [];
  readonly #room: ClientRoom;
  readonly #client: string;
  #file: number | undefined;
  #bytes = 0;

  /** @param client the client whose share of the disk space the file counts against */
  constructor(dataDir: string, room: ClientRoom, client: string) {
    this.#room = room;
    this.#client = client;
    this.#path = join(dataDir, 'tap', `${process.pid}-${randomUUID()}`);
  }

  /** The number of bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Begins a part. Returns the function that adds bytes to the part, until another part begins. It throws Unavailable
   * if the client has no space left.
   */
  begin(key: string): (bytes: Uint8Array) => void {
    if (this.#file === undefined) {
      makeDirectory(dirname(this.#path));
      this.#file = openSync(this.#path, 'wx', 0o600);
    }
    const file = this.#file;
    const part: [key: string, length: number] = [key, 0];
    this.#parts.push(part);
    return bytes => {
      this.#room.take(this.#client, bytes.length);
      part[1] += bytes.length;
      this.#bytes += bytes.length;
      writeSync(file, bytes);
    };
  }

  /** Ends the file. Returns its path, or undefined if it has no parts. */
  end(): string | undefined {
    if (this.#file === undefined) return undefined;
    const list = Buffer.from(JSON.stringify(this.#parts));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(list.length);
    writeSync(this.#file, Buffer.concat([list, length]));
    fsyncSync(this.#file);
    closeSync(this.#file);
    this.#file = undefined;
    return this.#path;
  }

  moveTo(path: string): void {
    renameSync(this.#path, path);
  }

  remove(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    if (this.#bytes > 0) this.#room.free(this.#client, this.#bytes);
    this.#bytes = 0;
    discard(this.#path);
  }
}

/** The parts by name. Of several parts with one name, the last one counts. */
export function readUploads(file: Buffer): ReadonlyMap<string, Uint8Array> {
  const listEnd = file.length - LENGTH_BYTES;
  const list = file.toString('utf8', listEnd - file.readUInt32LE(listEnd), listEnd);
  let at = 0;
  return new Map(
    (JSON.parse(list) as [key: string, length: number][]).map(([key, length]) => {
      at += length;
      return [key, file.subarray(at - length, at)];
    }),
  );
}
