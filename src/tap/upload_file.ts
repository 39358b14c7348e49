/**
 * The tables that come with a query, as one file: the length of a list of names and sizes as JSON, 32 bits, this list, and
 * the bytes of all tables, one after another.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

/** A table of TAP_UPLOAD, and the part of the request that it comes in. */
export interface Upload {
  readonly name: string;
  readonly key: string;
}

export function uploadFile(parts: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const list = Buffer.from(JSON.stringify(Array.from(parts, ([key, { length }]) => [key, length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(list.length);
  return Buffer.concat([length, list, ...parts.values()]);
}

export function readUploads(file: Buffer): ReadonlyMap<string, Uint8Array> {
  let at = 4 + file.readUInt32LE(0);
  const list = JSON.parse(file.toString('utf8', 4, at)) as [key: string, length: number][];
  return new Map(
    list.map(([key, length]) => {
      at += length;
      return [key, file.subarray(at - length, at)];
    }),
  );
}

/** A new path for such a file. The next engine removes those of processes that have ended. */
export function newUploadPath(dataDir: string): string {
  return join(dataDir, 'tap', `${process.pid}-${randomUUID()}`);
}
