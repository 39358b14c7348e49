import { createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { messageOf } from '../../core/base/error_text.ts';
import { flush } from '../../core/base/files.ts';
import { partFileOf } from '../../core/store/part_file.ts';
import type { Store } from '../../core/store/store.ts';
import { StoreError } from '../../core/store/store_error.ts';
import { formatLines, type LineCounts } from './format.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Writes a snapshot of all stored data; later changes are not part of the export. The file is gzipped if its name ends
 * in `.gz`, and appears under its name only when it is complete.
 * @param file undefined for standard output
 * @param onChunk called from time to time with the counts so far
 * @param snapshot closed at the end
 * @throws StoreError; Error if the file cannot be written
 */
export async function exportStore(
  store: Store,
  file: string | undefined,
  onChunk: (counts: LineCounts) => void,
  snapshot = store.snapshot(),
): Promise<LineCounts> {
  const counts = { object: 0, crossmatch_record: 0, match: 0, tns_association: 0, tns_snapshot: 0, tns_object: 0 };
  // A pipe or a device is written to directly, without a temporary file.
  const isWhole = file !== undefined && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? true);
  const path = isWhole ? partFileOf(file, store.livePids()).path : file;
  try {
    const chunks = Readable.from(inChunks(formatLines(snapshot, store, counts), () => onChunk(counts)));
    const target = path === undefined ? process.stdout : createWriteStream(path, { flush: true });
    if (file?.endsWith('.gz')) await pipeline(chunks, createGzip(), target);
    else await pipeline(chunks, target, { end: path !== undefined });
    store.requireUndisturbed();
    if (isWhole) {
      renameSync(path!, file);
      flush(dirname(resolve(file)));
    }
    return counts;
  } catch (error) {
    if (isWhole) rmSync(path!, { force: true });
    store.requireUndisturbed();
    if (error instanceof StoreError) throw error;
    const why = messageOf(error);
    const mend = file === undefined ? 'run again' : 'choose another file, or fix that and run again';
    throw new Error(`Cannot export to ${file ?? 'standard output'} because ${why}: ${mend}`, {
      cause: error,
    });
  } finally {
    snapshot.close();
  }
}

function* inChunks(lines: Iterable<string>, onChunk: () => void): Iterable<Buffer> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    chunk = '';
    onChunk();
  }
  if (chunk !== '') yield Buffer.from(chunk);
}
