/** The public objects file of the TNS, as text: plain, gzipped, or the one CSV in a zip. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import { messageOf } from '../error_text.ts';
import { RegistryError } from './errors.ts';

const READ_BYTES = 256 * 1024;
/** Hundreds of times what the whole registry takes. */
const MAX_CSV_BYTES = 16 * 2 ** 30;

/** Opens a file by its path; see `readPublicFile`. */
export async function* readPublicPath(path: string): AsyncGenerator<Buffer> {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw new RegistryError(`Cannot read ${path} as ${messageOf(error)}: give the path of a public TNS file`, {
      cause: error,
    });
  }
  try {
    yield* readPublicFile(descriptor, path);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The CSV in an open file, in pieces. What it is shows in its first bytes.
 * @param name for messages
 * @throws RegistryError where it is damaged or cut off, after the pieces before that; a zip's checksum is looked at with its last piece
 */
export async function* readPublicFile(descriptor: number, name: string): AsyncGenerator<Buffer> {
  const magic = Buffer.alloc(4);
  readSync(descriptor, magic, 0, 4, 0);
  try {
    if (magic.toString('latin1') === 'PK\x03\x04') yield* readZip(descriptor);
    else if (magic.readUInt16BE(0) === 0x1f8b) yield* readGzip(descriptor);
    else yield* readPlain(descriptor);
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    throw new RegistryError(`Cannot read ${name} as ${messageOf(error)}: download it again`, { cause: error });
  }
}

async function* readZip(descriptor: number): AsyncGenerator<Buffer> {
  const { fromFdPromise } = await import('yauzl');
  const zip = await fromFdPromise(descriptor);
  let found = 0;
  for await (const entry of zip.eachEntry()) {
    if (!/\.csv$/i.test(entry.fileName)) continue;
    if (++found > 1) throw new Error('it holds several CSV files');
    let checksum = 0;
    for await (const piece of limited(await zip.openReadStreamPromise(entry))) {
      checksum = crc32(piece, checksum);
      yield piece;
    }
    if (checksum !== entry.crc32) throw new Error('its checksum does not fit');
  }
  if (found === 0) throw new Error('it is a zip without a CSV file');
}

function readGzip(descriptor: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: READ_BYTES });
  // An error of either end destroys gunzip with it, and the loop over gunzip throws it.
  pipeline(readPlain(descriptor), gunzip, () => {});
  return limited(gunzip);
}

function readPlain(descriptor: number): Readable {
  return createReadStream('', { fd: descriptor, autoClose: false, start: 0, highWaterMark: READ_BYTES });
}

async function* limited(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > MAX_CSV_BYTES) throw new Error(`it unpacks to more than ${MAX_CSV_BYTES} bytes`);
    yield piece;
  }
}
