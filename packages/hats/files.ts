/** The files of a catalog, in a local directory or at an address that answers range requests. */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { type OpenFile, ReadFailure, reasonOf } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { isRemote, localPath } from './address.ts';
import { type CatalogFiles, type FilesOptions, noReads, type ReadCounts } from './catalog_files.ts';
import { isAbsent, MissingFile, withStableFile } from './errors.ts';

/**
 * The files at a location: a path or its `file:` address, or an `http:`, `https:` or `s3:` address.
 * @throws CatalogError for an address that cannot be used
 */
export async function catalogFiles(location: string, options: FilesOptions = {}): Promise<CatalogFiles> {
  if (!isRemote(location)) return new LocalFiles(resolve(localPath(location)), options);
  // Loaded when first needed: a local catalog needs no HTTP client.
  const { RemoteFiles } = await import('./remote/remote_files.ts');
  return RemoteFiles.at(location, options);
}

/** Longer than the step of any file system's clock. */
const RECENT_MS = 2000;

/** Opens a local file. Throws ReadFailure. */
export function openLocalFile(path: string, counts: ReadCounts = noReads()): OpenFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const Kind = ['ENOENT', 'ENOTDIR'].includes(code) ? MissingFile : ReadFailure;
    throw new Kind(`Cannot read ${path}: ${reasonOf(error)}`);
  }
  const read = (start: number, end: number) => {
    const bytes = new Uint8Array(end - start);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(descriptor, bytes, done, bytes.length - done, start + done);
      if (count === 0) throw new ReadFailure(`Cannot read ${path}: the file ends early`);
      done += count;
    }
    counts.diskBytes += bytes.length;
    return bytes.buffer;
  };
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = fstatSync(descriptor, { bigint: true });
  return {
    name: path,
    byteLength: Number(size),
    version: {
      key: [dev, ino, size, mtimeNs, ctimeNs].join(' '),
      modifiedNs: mtimeNs,
      isRecent: Date.now() - Number(ctimeMs) < RECENT_MS,
    },
    read: async (start, end) => read(start, end),
    readNow: read,
    close: () => closeSync(descriptor),
  };
}

class LocalFiles implements CatalogFiles {
  readonly location: string;
  readonly #options: FilesOptions;

  constructor(location: string, options: FilesOptions) {
    this.location = location;
    this.#options = options;
  }

  nameOf(name: string): string {
    return join(this.location, name);
  }

  directory(text: string): CatalogFiles {
    const path = localPath(text);
    return new LocalFiles(isAbsolute(path) ? path : join(this.location, path), this.#options);
  }

  async open(name: string): Promise<OpenFile> {
    return openLocalFile(this.nameOf(name), this.#options.counts);
  }

  async has(name: string): Promise<boolean> {
    // Unlike `existsSync`, this does not take a failing disk for a missing file.
    return statSync(this.nameOf(name), { throwIfNoEntry: false }) !== undefined;
  }

  async list(folder: string): Promise<string[]> {
    const path = this.nameOf(folder);
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path).sort() : [];
  }
}

/** The maximum size of a text file: properties files and partition lists are all shorter. */
const MAX_TEXT_BYTES = 64 << 20;

/**
 * A whole text file that a catalog need not have, or undefined if it is absent.
 * @throws ReadFailure if it cannot be read or is longer than 64 MiB
 */
export async function readText(files: CatalogFiles, name: string): Promise<string | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await files.open(name);
    if (file.byteLength > MAX_TEXT_BYTES)
      throw new ReadFailure(`Cannot read ${file.name} because it is longer than ${MAX_TEXT_BYTES} bytes`);
    return new TextDecoder().decode(await file.read(0, file.byteLength));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  } finally {
    file?.close();
  }
}

/** Opens a Parquet file of a catalog and closes it after use. */
export async function withParquet<T>(
  files: CatalogFiles,
  name: string,
  use: (file: ParquetFile) => T | Promise<T>,
): Promise<T> {
  return withStableFile(async () => {
    const file = await openParquet(await files.open(name));
    try {
      return await use(file);
    } finally {
      file.close();
    }
  });
}
