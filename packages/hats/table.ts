/**
 * Opens HATS catalogs (https://hats.readthedocs.io): reads a table's properties, and finds the files of each HEALPix
 * pixel. Margin catalogs are not read, because a search reads the neighbouring partition itself.
 */
import { posix } from 'node:path';
import { isRemote } from './address.ts';
import type { CatalogFiles, FilesOptions } from './catalog_files.ts';
import { hasOptional } from './catalog_files.ts';
import { CatalogError, isAbsent } from './errors.ts';
import { catalogFiles, readText, withParquet } from './files.ts';
import {
  COLLECTION_FILE,
  INFO_FILE,
  METADATA_FILE,
  PARQUET_NAME,
  PARTITION_SUFFIX,
  type Pixel,
  PROPERTIES_FILES,
  partitionFile,
  pixelOfPath,
} from './layout.ts';
import type { Partition } from './partition.ts';
import { parseProperties } from './properties.ts';

export type { Partition };

export interface HatsTable {
  /** The directory that holds its properties file. */
  readonly files: CatalogFiles;
  /** `object`, `source`, `margin`, `map`, … from the properties. */
  readonly type: string;
  readonly properties: ReadonlyMap<string, string>;
  /** Ascending by order, then ipix. A single-file partition is listed even when its file is missing. */
  readonly partitions: readonly Partition[];
}

/** Kinds of table that have no partitions by sky position. */
const UNPARTITIONED = new Set(['index', 'association']);
/** Orders above this do not occur (a partition of order 13 is 26 arcsec wide) and do not fit the pixel arithmetic. */
const MAX_ORDER = 13;

/**
 * Opens the HATS table at a directory or address, or the primary table of the collection there.
 * @throws CatalogError if the location holds no HATS directory or no partitioned table; ReadFailure if the files that
 * show this cannot be read
 */
export async function openHats(location: string, options: FilesOptions = {}): Promise<HatsTable> {
  const files = await primaryTable(await catalogFiles(location, options), options);
  let text: string | undefined;
  for (const name of PROPERTIES_FILES) text ??= await readText(files, name);
  if (text === undefined)
    throw new CatalogError(`Cannot open ${files.location} as a HATS catalog because ${await whyNoTable(files)}`);
  const properties = parseProperties(text);
  const type = properties.get('dataproduct_type') ?? 'object';
  if (UNPARTITIONED.has(type)) {
    throw new CatalogError(
      `Cannot open ${files.location} as a table of sources because it is a HATS ${type} table: give the directory of its primary table`,
    );
  }
  const suffix = properties.get('hats_npix_suffix') ?? PARTITION_SUFFIX;
  return { files, type, properties, partitions: await partitionsOf(files, suffix) };
}

/**
 * Whether a directory has a file that makes it a HATS table or collection.
 * @throws ReadFailure if this cannot be determined
 */
export async function isHats(files: CatalogFiles): Promise<boolean> {
  const found = await Promise.all([...PROPERTIES_FILES, COLLECTION_FILE].map(name => hasOptional(files, name)));
  return found.includes(true);
}

/** The directory itself, or for a collection the directory of its primary table. */
async function primaryTable(files: CatalogFiles, options: FilesOptions): Promise<CatalogFiles> {
  const collection = await readText(files, COLLECTION_FILE);
  if (collection === undefined) return files;
  const primary = parseProperties(collection).get('hats_primary_table_url');
  if (!primary) {
    throw new CatalogError(
      `Cannot open the collection ${files.location} because its ${COLLECTION_FILE} has no hats_primary_table_url`,
    );
  }
  // A local collection may name any address. A remote collection may not, because the operator has not chosen that
  // address.
  const isOwnChoice = isRemote(primary) && !isRemote(files.location);
  return isOwnChoice ? catalogFiles(primary, options) : files.directory(primary);
}

async function whyNoTable(files: CatalogFiles): Promise<string> {
  if (!isRemote(files.location) && !(await files.has('.'))) return 'there is no such directory';
  if (await hasOptional(files, 'catalog_info.json'))
    return 'it is a HiPSCat catalog, the format before HATS: convert it with hats-import';
  const bucket = files.location.startsWith('s3:') ? ', in a public bucket' : '';
  const withheld = await files.has(PROPERTIES_FILES[0]).then(
    () => '',
    ({ message }: Error) => ` (${message})`,
  );
  return `it contains none of ${[...PROPERTIES_FILES, COLLECTION_FILE].join(', ')}${withheld}: give the directory that contains one${bucket}`;
}

/**
 * The partitions from partition_info.csv, else from the `_metadata` file, else from the names of the directories;
 * sorted, without duplicates. If a partition is a folder, the names of its files come from the folder, or from
 * `_metadata` if folders cannot be listed.
 */
async function partitionsOf(files: CatalogFiles, suffix: string): Promise<Partition[]> {
  const info = await readText(files, INFO_FILE);
  let paths: string[] | undefined;
  const pathsOnce = async () => (paths ??= await pathsOfMetadata(files));
  const pixels =
    info !== undefined
      ? pixelsOfInfo(info, files.nameOf(INFO_FILE))
      : ((await pathsOnce())?.map(path => checkedPath(path, files.nameOf(METADATA_FILE))) ??
        (await pixelsOfListing(files, suffix)));
  const unique = new Map(pixels.map(pixel => [`${pixel.order}/${pixel.ipix}`, pixel]));
  const sorted = [...unique.values()].sort((a, b) => a.order - b.order || a.ipix - b.ipix);
  if (suffix !== '/') return sorted.map(pixel => ({ ...pixel, files: [partitionFile(pixel, suffix)] }));
  const parts = await partsOf(files, sorted, pathsOnce);
  return sorted.map((pixel, at) => ({ ...pixel, files: parts[at]! }));
}

/** Columns `Norder` and `Npix` of the CSV file, in any order among others. */
function pixelsOfInfo(text: string, file: string): Pixel[] {
  const [header = '', ...lines] = text.trim().split(/\r?\n/);
  const names = header.split(',').map(name => name.trim());
  const [order, ipix] = [names.indexOf('Norder'), names.indexOf('Npix')];
  if (order < 0 || ipix < 0)
    throw new CatalogError(`Cannot read ${file} because it has no columns Norder and Npix: first line is ${header}`);
  return lines.filter(Boolean).map(line => {
    const fields = line.split(',');
    const numberAt = (place: number) => (fields[place]?.trim() ? Number(fields[place]) : Number.NaN);
    return checkedPixel({ order: numberAt(order), ipix: numberAt(ipix) }, `${file}: ${line}`);
  });
}

/** The paths, relative to `dataset`, of the row groups in the `_metadata` file; undefined without that file. */
async function pathsOfMetadata(files: CatalogFiles): Promise<string[] | undefined> {
  try {
    return [...new Set(await withParquet(files, METADATA_FILE, parquet => parquet.rowGroupPaths()))];
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Matches names that look like a partition with any suffix. */
const MISSED = /^Npix=\d+(?:\.(?:parquet|parq|pq))?$/i;

async function pixelsOfListing(files: CatalogFiles, suffix: string): Promise<Pixel[]> {
  const ending = suffix === '/' ? '' : suffix;
  const isPartition = (name: string) =>
    name.endsWith(ending) && /^Npix=\d+$/.test(name.slice(0, name.length - ending.length));
  const missed: string[] = [];
  const pixels: Pixel[] = [];
  for (const norder of await namesIn(files, 'dataset', /^Norder=\d+$/)) {
    for (const dir of await namesIn(files, `dataset/${norder}`, /^Dir=\d+$/)) {
      const names = await namesIn(files, `dataset/${norder}/${dir}`, /^Npix=/);
      const others = names.filter(name => !isPartition(name) && MISSED.test(name));
      missed.push(...others.map(name => `dataset/${norder}/${dir}/${name}`));
      pixels.push(
        ...names.filter(isPartition).map(name => checkedPath(`${norder}/${dir}/${name}`, files.nameOf('dataset'))),
      );
    }
  }
  // Without a list of the partitions, an ignored file would be lost silently.
  if (missed.length > 0) {
    throw new CatalogError(
      `Cannot find the partitions of ${files.location} because they must be named Npix=NUMBER${suffix} (${missed[0]} was found). Rename or remove the others, set hats_npix_suffix, or give the catalog its ${INFO_FILE}`,
    );
  }
  return pixels;
}

function checkedPath(path: string, where: string): Pixel {
  const pixel = pixelOfPath(path);
  if (!pixel)
    throw new CatalogError(`Cannot read the partitions of ${where} because a path names no pixel (${path} was found)`);
  return checkedPixel(pixel, `${where}: ${path}`);
}

function checkedPixel({ order, ipix }: Pixel, where: string): Pixel {
  const inRange = order >= 0 && order <= MAX_ORDER && ipix >= 0 && ipix < 12 * 4 ** order;
  if (inRange && Number.isInteger(order) && Number.isInteger(ipix)) return { order, ipix };
  throw new CatalogError(
    `a partition must have order 0 to ${MAX_ORDER} and a pixel of that order (${where} was found)`,
  );
}

const folderOf = (pixel: Pixel) => partitionFile(pixel, '');

/** The Parquet files in the folder of each partition. */
async function partsOf(
  files: CatalogFiles,
  pixels: readonly Pixel[],
  metadataPaths: () => Promise<string[] | undefined>,
): Promise<string[][]> {
  if ((await files.list('dataset')) !== undefined) {
    const listings = pixels.map(async pixel =>
      (await namesIn(files, folderOf(pixel), PARQUET_NAME)).map(name => posix.join(folderOf(pixel), name)),
    );
    return Promise.all(listings);
  }
  const paths = await metadataPaths();
  if (!paths) throw unlisted(files);
  const parts = Map.groupBy(
    paths.map(path => `dataset/${path}`).filter(path => PARQUET_NAME.test(posix.basename(path))),
    path => posix.dirname(path),
  );
  return pixels.map(pixel => (parts.get(folderOf(pixel)) ?? []).sort());
}

/** The matching names in a directory, sorted; empty if there is no such directory. */
async function namesIn(files: CatalogFiles, folder: string, pattern: RegExp): Promise<string[]> {
  const names = await files.list(folder);
  if (!names) throw unlisted(files);
  return names.filter(name => pattern.test(name));
}

function unlisted({ location }: CatalogFiles): CatalogError {
  return new CatalogError(
    `Cannot find the files of ${location} because folders cannot be listed over HTTP: the catalog needs its ${INFO_FILE} and, if partitions are folders, its ${METADATA_FILE}`,
  );
}
