/**
 * Saves the index next to the database, in DATA/index/generation. The file is a cache: it may be missing, old or
 * damaged at any time.
 *
 *   magic    8 bytes    "nearskyG"
 *   version  uint32     little-endian, like the next number
 *   header   uint32     its length in bytes, then JSON: {"sequence", "rows", "mark", "arenas": [bytes, ...]}
 *   arenas   bytes      one after another
 *   digest   32 bytes   SHA-256 of everything before
 *
 * `mark` is the digest of the position table up to that entry. It protects against an index of another journal, for
 * example after the database was restored from a backup.
 */

import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Arena } from '@nearsky/sky-index';
import { collectWhenQuiet } from '../base/shared_memory.ts';
import type { Tasks } from '../pool/pool.ts';
import { INDEX_DIRECTORY, makeIndexDirectory } from '../store/data_files.ts';
import { partFileOf } from '../store/part_file.ts';
import type { Store } from '../store/store.ts';
import { currentStore, threadDataDir } from '../store/thread_store.ts';
import type { BuiltIndex, IndexedExtent, OpenIndexTask, SaveIndexTask } from './tasks.ts';

const FILE = 'generation';
const MAGIC = 'nearskyG';
const VERSION = 4;
const PREFIX_BYTES = 16;
const DIGEST_BYTES = 32;
const CHUNK_BYTES = 1 << 20;
const MAX_HEADER_BYTES = 1 << 16;

interface Header extends IndexedExtent {
  readonly mark: string;
  readonly arenas: readonly number[];
}

export const tasks: Tasks<SaveIndexTask | OpenIndexTask> = { saveIndex: runSaveIndex, openIndex: runOpenIndex };

/**
 * Writes a temporary file and renames it, so that a complete file always exists. The file is not flushed: if a power
 * cut truncates it, its digest does not match.
 */
function runSaveIndex({ sequence, rows, arenas }: SaveIndexTask): undefined {
  const store = currentStore();
  const mark = tableMark(store, { sequence, rows });
  if (mark === undefined) return;
  const file = join(makeIndexDirectory(threadDataDir()), FILE);
  const aside = partFileOf(file, store.livePids()).path;
  const fd = openSync(aside, 'w', 0o600);
  try {
    writeIndex(fd, { sequence, rows, mark, arenas: arenas.map(arena => arena.byteLength) }, arenas);
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(fd);
    // This thread would keep these arenas when they are replaced.
    collectWhenQuiet();
  }
}

function writeIndex(fd: number, header: Header, arenas: readonly SharedArrayBuffer[]): void {
  const hash = createHash('sha256');
  const write = (bytes: Uint8Array) => {
    hash.update(bytes);
    writeAll(fd, bytes);
  };
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.write(MAGIC, 'latin1');
  prefix.writeUInt32LE(VERSION, 8);
  prefix.writeUInt32LE(text.length, 12);
  write(prefix);
  write(text);
  // Shared memory is copied to a normal buffer first, because neither runtime's file and hash functions promise to
  // accept it.
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (const arena of arenas) {
    for (let at = 0; at < arena.byteLength; at += CHUNK_BYTES) {
      const piece = new Uint8Array(arena, at, Math.min(CHUNK_BYTES, arena.byteLength - at));
      chunk.set(piece);
      write(chunk.subarray(0, piece.length));
    }
  }
  writeAll(fd, hash.digest());
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at);
}

/** The stored index; undefined unless it exists, is intact, and belongs to this database. */
function runOpenIndex(_: OpenIndexTask): BuiltIndex | undefined {
  const file = join(threadDataDir(), INDEX_DIRECTORY, FILE);
  if (!existsSync(file)) return undefined;
  const fd = openSync(file, 'r');
  try {
    return readIndex(fd, currentStore());
  } finally {
    closeSync(fd);
  }
}

function readIndex(fd: number, store: Store): BuiltIndex | undefined {
  const size = fstatSync(fd).size;
  const hash = createHash('sha256');
  const prefix = readAll(fd, Buffer.alloc(PREFIX_BYTES), hash);
  if (!prefix || prefix.toString('latin1', 0, 8) !== MAGIC || prefix.readUInt32LE(8) !== VERSION) return undefined;
  const headerBytes = prefix.readUInt32LE(12);
  if (headerBytes > MAX_HEADER_BYTES) return undefined;
  const text = readAll(fd, Buffer.alloc(headerBytes), hash);
  const header = text && parseHeader(text.toString());
  if (!header) return undefined;
  const arenaBytes = header.arenas.reduce((sum, bytes) => sum + bytes, 0);
  if (size !== PREFIX_BYTES + headerBytes + arenaBytes + DIGEST_BYTES) return undefined;
  const buffers = header.arenas.map(bytes => readArena(fd, bytes, hash));
  const digest = readAll(fd, Buffer.alloc(DIGEST_BYTES));
  if (!digest?.equals(hash.digest())) return undefined;
  if (tableMark(store, header) !== header.mark) return undefined;
  const { sequence, rows } = header;
  return { sequence, rows, arenas: buffers.map(buffer => ({ buffer, length: new Arena(buffer).length, sequence })) };
}

/** The header, if its values have the right types. The digest is checked later. */
function parseHeader(text: string): Header | undefined {
  try {
    const { sequence, rows, mark, arenas } = JSON.parse(text) as Partial<Header>;
    const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
    if (
      !isCount(sequence) ||
      !isCount(rows) ||
      typeof mark !== 'string' ||
      !Array.isArray(arenas) ||
      !arenas.every(isCount)
    )
      return undefined;
    return { sequence, rows, mark, arenas };
  } catch {
    return undefined;
  }
}

/** Fills the buffer from the file. Returns undefined if the file ends too early. */
function readAll(fd: number, buffer: Buffer, hash?: Hash): Buffer | undefined {
  for (let at = 0; at < buffer.length; ) {
    const read = readSync(fd, buffer, at, buffer.length - at, null);
    if (read === 0) return undefined;
    at += read;
  }
  hash?.update(buffer);
  return buffer;
}

/** Reads an arena. If the file ends too early, the rest is zeros, and the digest will not match. */
function readArena(fd: number, bytes: number, hash: Hash): SharedArrayBuffer {
  const arena = new SharedArrayBuffer(bytes);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    const piece = readAll(fd, chunk.subarray(0, Math.min(CHUNK_BYTES, bytes - at)), hash);
    if (!piece) break;
    new Uint8Array(arena, at).set(piece);
  }
  return arena;
}

/**
 * The digest of the position table at a sequence number. Undefined if the journal has no such entry, or the number of
 * rows there is different.
 */
function tableMark(store: Store, { sequence, rows }: IndexedExtent): string | undefined {
  const table = store.tableAt(sequence);
  return table?.rows === rows ? Buffer.from(table.digest).toString('hex') : undefined;
}
