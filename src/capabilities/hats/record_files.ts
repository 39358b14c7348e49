/**
 * Files with the stored bytes of objects, one for each file of an export. The objects of a partition have ids in any
 * order, and reading them by id would read random pages of the database. One pass by ascending id copies them instead.
 *
 * A file is a sequence of chunks: uint32 length, then that many bytes, ZSTD-compressed. A chunk has whole records: int64
 * id, uint32 length of the record, uint32 length of the sources, record, sources. Numbers are little-endian.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ObjectView } from '../../core/store/object_record.ts';
import { decodeSourceValues, type SourceValues } from '../../core/store/records.ts';

const HEADER_BYTES = 16;
const LENGTH_BYTES = 4;
/** The memory for chunks that are not yet written, shared by the files, and the bounds for a chunk of one file. */
const CHUNKS_BYTES = 2 ** 26;
const [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES] = [2 ** 13, 2 ** 17];
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const NO_SOURCES: readonly SourceValues[] = [];

export class RecordFiles {
  readonly #paths: readonly string[];
  readonly #chunkBytes: number;
  readonly #chunks: { bytes: Buffer; length: number }[];

  /** @param paths the files; one that gets no record is not created */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#chunkBytes = Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, CHUNKS_BYTES / paths.length));
    this.#chunks = paths.map(() => ({ bytes: Buffer.alloc(0), length: 0 }));
  }

  /** @param sources the stored sources of the object's matches; empty without sources */
  add(file: number, object: ObjectView, sources: Uint8Array): void {
    const chunk = this.#chunks[file]!;
    const bytes = HEADER_BYTES + object.length + sources.length;
    if (chunk.length > 0 && chunk.length + bytes > this.#chunkBytes) this.#write(file);
    if (chunk.length + bytes > chunk.bytes.length) {
      const doubled = Math.min(2 * chunk.bytes.length, this.#chunkBytes);
      const larger = Buffer.allocUnsafe(Math.max(doubled, chunk.length + bytes));
      chunk.bytes.copy(larger, 0, 0, chunk.length);
      chunk.bytes = larger;
    }
    let at = chunk.bytes.writeBigInt64LE(object.diaObjectId, chunk.length);
    at = chunk.bytes.writeUInt32LE(object.length, at);
    at = chunk.bytes.writeUInt32LE(sources.length, at);
    at += object.bytes.copy(chunk.bytes, at, 0, object.length);
    chunk.bytes.set(sources, at);
    chunk.length += bytes;
  }

  #write(file: number): void {
    const chunk = this.#chunks[file]!;
    const compressed = zstdCompressSync(chunk.bytes.subarray(0, chunk.length), FASTEST);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(compressed.length);
    appendFileSync(this.#paths[file]!, Buffer.concat([length, compressed]), { mode: 0o600 });
    chunk.length = 0;
  }

  /** Writes the last chunks. */
  close(): void {
    for (const [file, { length }] of this.#chunks.entries()) if (length > 0) this.#write(file);
    this.#chunks.length = 0;
  }
}

/** Reads each object of a file into a view, and yields the sources of its matches. */
export function* readRecords(path: string, object: ObjectView): Generator<readonly SourceValues[]> {
  const file = readFileSync(path);
  for (let from = 0; from < file.length; ) {
    const to = from + LENGTH_BYTES + file.readUInt32LE(from);
    // Deno decompresses part of a chunk without an error.
    if (to > file.length) throw new Error(`${path} was cut`);
    const chunk = zstdDecompressSync(file.subarray(from + LENGTH_BYTES, to));
    for (let next = 0; next < chunk.length; ) {
      const recordAt = next + HEADER_BYTES;
      const sourcesAt = recordAt + chunk.readUInt32LE(next + 8);
      object.load(chunk.readBigInt64LE(next), chunk.subarray(recordAt, sourcesAt));
      next = sourcesAt + chunk.readUInt32LE(next + 12);
      yield next > sourcesAt ? decodeSourceValues(chunk.subarray(sourcesAt, next)) : NO_SOURCES;
    }
    from = to;
  }
}
