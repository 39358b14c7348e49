/** Reads the public objects file of the TNS as text: plain, gzipped, or the only CSV in a zip file. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { crc32, createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { messageOf } from '../../core/base/error_text.ts';
import { RegistryError } from './registry_file.ts';

const READ_BYTES = 256 * 1024;
const OPTIONS = { chunkSize: READ_BYTES };
/** Hundreds of times the size of the whole registry. */
const MAX_CSV_BYTES = 16 * 2 ** 30;

/** Called with the number of additional bytes read from the file; for a zip file, the bytes of the uncompressed CSV. */
export type OnRead = (bytes: number) => void;

/** Opens a file by its path; see `readPublicFile`. */
export async function* readPublicPath(path: string, onRead?: OnRead): AsyncGenerator<Buffer> {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw new RegistryError(`Cannot read ${path} because ${messageOf(error)}: use the path of a public TNS file`, {
      cause: error,
    });
  }
  try {
    yield* readPublicFile(descriptor, path, onRead);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The CSV in an open file, in pieces. The first bytes show the kind of file.
 * @param name the file's name in messages
 * @throws RegistryError if the file is damaged or truncated, after yielding the pieces before the fault. The checksum
 * of a zip file is checked after its last piece
 */
export async function* readPublicFile(descriptor: number, name: string, onRead?: OnRead): AsyncGenerator<Buffer> {
  try {
    // This is a loop because a read may return fewer bytes than requested.
    const magic = Buffer.concat([...pieces(descriptor, 0, 4)]).toString('latin1');
    if (magic === 'PK\x03\x04') yield* readZip(descriptor, onRead);
    else {
      const stored = counted(pieces(descriptor), onRead);
      if (magic.startsWith('\x1f\x8b')) yield* limited(decompressed(stored, createGunzip(OPTIONS)));
      else yield* stored;
    }
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    const isDirectory = (error as NodeJS.ErrnoException).code === 'EISDIR';
    const mend = isDirectory ? 'use the path of a public TNS file' : 'download it again';
    throw new RegistryError(`Cannot read ${name} because ${messageOf(error)}: ${mend}`, { cause: error });
  }
}

async function* readZip(descriptor: number, onRead?: OnRead): AsyncGenerator<Buffer> {
  const { fromRandomAccessReaderPromise, RandomAccessReader } = await import('yauzl');
  class Reader extends RandomAccessReader {
    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(pieces(descriptor, start, end), { objectMode: false });
    }
  }
  const zip = await fromRandomAccessReaderPromise(new Reader(), fstatSync(descriptor).size);
  let found = 0;
  for await (const entry of zip.eachEntry()) {
    if (!/\.csv$/i.test(entry.fileName)) continue;
    if (++found > 1) throw new Error('it holds several CSV files');
    let checksum = 0;
    let bytes = 0;
    if (!entry.canDecodeFileData())
      throw new Error('its CSV file is encrypted, or compressed in a way that is not supported');
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const stored = counted(pieces(descriptor, fileDataStart, fileDataStart + entry.compressedSize), onRead);
    // Under Deno, an error of yauzl's own stream terminates the thread, even if there is a listener.
    const unpacked = entry.isCompressed() ? decompressed(stored, createInflateRaw(OPTIONS)) : stored;
    for await (const piece of limited(unpacked)) {
      checksum = crc32(piece, checksum);
      bytes += piece.length;
      if (bytes > entry.uncompressedSize) break;
      yield piece;
    }
    if (bytes !== entry.uncompressedSize) throw new Error('its size does not match');
    if (checksum !== entry.crc32) throw new Error('its checksum does not match');
  }
  if (found === 0) throw new Error('it is a zip file without a CSV file');
}

function decompressed(source: Iterable<Buffer>, unpack: Gunzip | InflateRaw): AsyncIterable<Buffer> {
  // An error in either stream destroys `unpack` with that error, and the loop over `unpack` throws it.
  pipeline(Readable.from(source), unpack, () => {});
  return unpack;
}

/**
 * The bytes [start, end) of an open file. Each read is complete when it returns, and nothing closes the descriptor. A
 * stream would close the descriptor when destroyed, even with `autoClose: false`. A half-read stream could later read
 * from the same descriptor after it was reused for another file.
 */
function* pieces(descriptor: number, start = 0, end = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (let at = start; at < end; ) {
    const piece = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
    const bytes = readSync(descriptor, piece, 0, piece.length, at);
    if (bytes === 0) return;
    at += bytes;
    yield piece.subarray(0, bytes);
  }
}

function* counted(source: Iterable<Buffer>, onRead: OnRead = () => {}): Generator<Buffer> {
  for (const piece of source) {
    onRead(piece.length);
    yield piece;
  }
}

async function* limited(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > MAX_CSV_BYTES) throw new Error(`it unpacks to more than ${MAX_CSV_BYTES} bytes`);
    yield piece;
  }
}
