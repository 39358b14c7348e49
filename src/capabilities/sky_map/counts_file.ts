/**
 * Saves the counts of the map next to the database, in DATA/index/sky-map. The file is a cache: it may be missing, old
 * or damaged at any time.
 *
 *   magic     8 bytes    "nearskyM"
 *   version   uint32     little-endian, like all other numbers
 *   sequence  uint32     the counts include the journal up to this entry
 *   objects   uint32     the number of objects that follow
 *   mark      32 bytes   the store's mark of the journal at that entry
 *   columns   13 bytes an object: the low halves of the ids (uint32), the high halves (uint32), the cells (int32),
 *                        the statuses (uint8)
 *   digest    32 bytes   SHA-256 of everything before
 *
 * The mark protects against counts of another journal.
 */

import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INDEX_DIRECTORY, makeIndexDirectory } from '../../core/store/data_files.ts';
import type { Store } from '../../core/store/store.ts';
import type { ObjectColumns } from './object_cells.ts';

const FILE = 'sky-map';
const MAGIC = 'nearskyM';
const VERSION = 2;
const HEAD_BYTES = 52;
const DIGEST_BYTES = 32;
const BYTES_AN_OBJECT = 13;

interface StoredCounts {
  readonly sequence: number;
  readonly columns: ObjectColumns;
}

/**
 * Writes a temporary file and renames it, so that a complete file always exists. The file is not flushed: if a power
 * cut truncates it, its digest does not match.
 */
export function saveCounts(dataDir: string, store: Store, { sequence, columns }: StoredCounts): void {
  const { low, high, cells, statuses } = columns;
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(MAGIC, 'latin1');
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(sequence, 12);
  head.writeUInt32LE(low.length, 16);
  head.write(store.journalMark(sequence)!, 20, 'hex');
  const parts = [head, ...[low, high, cells, statuses].map(column => Buffer.from(column.buffer))];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  parts.push(hash.digest());
  const directory = makeIndexDirectory(dataDir);
  const aside = join(directory, `${FILE}.${process.pid}.tmp`);
  try {
    writeFileSync(aside, '', { mode: 0o600 });
    // Under Deno an append sets the mode, too, by default to one that everyone may read.
    for (const part of parts) appendFileSync(aside, part, { mode: 0o600 });
    renameSync(aside, join(directory, FILE));
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** The stored counts; undefined unless they exist, are intact, and belong to this database. */
export function readCounts(dataDir: string, store: Store): StoredCounts | undefined {
  const bytes = readFile(join(dataDir, INDEX_DIRECTORY, FILE));
  if (!bytes || bytes.length < HEAD_BYTES + DIGEST_BYTES) return undefined;
  if (bytes.toString('latin1', 0, 8) !== MAGIC || bytes.readUInt32LE(8) !== VERSION) return undefined;
  const [sequence, objects] = [bytes.readUInt32LE(12), bytes.readUInt32LE(16)];
  const end = HEAD_BYTES + BYTES_AN_OBJECT * objects;
  if (bytes.length !== end + DIGEST_BYTES) return undefined;
  if (!createHash('sha256').update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end))) return undefined;
  if (store.journalMark(sequence) !== bytes.toString('hex', 20, HEAD_BYTES)) return undefined;
  const column = (at: number, width: number) => {
    const from = bytes.byteOffset + HEAD_BYTES + at * objects;
    return bytes.buffer.slice(from, from + width * objects) as ArrayBuffer;
  };
  return {
    sequence,
    columns: {
      low: new Uint32Array(column(0, 4)),
      high: new Uint32Array(column(4, 4)),
      cells: new Int32Array(column(8, 4)),
      statuses: new Uint8Array(column(12, 1)),
    },
  };
}

/** The file's bytes; undefined also if the file is unreadable, because the objects can be counted instead. */
function readFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
