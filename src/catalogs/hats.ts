/**
 * HATS directories (https://hats.readthedocs.io): what a table says of itself and which files hold which HEALPix pixel.
 * Local directories only. Margin catalogs are not read: a search takes the neighbouring partition itself.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import { CatalogError, reasonOf } from './errors.ts';
import { openParquet } from './parquet.ts';
import { parseProperties } from './properties.ts';
import type { Partition } from './types.ts';

/** One HATS table. */
export interface HatsTable {
  /** Absolute path of the directory that holds its properties file. */
  readonly location: string;
  /** `object`, `source`, `margin`, `map`, … as the properties say. */
  readonly type: string;
  readonly properties: ReadonlyMap<string, string>;
  /** Ascending by order, then ipix. A partition that is one file is listed whether or not the file is there. */
  readonly partitions: readonly Partition[];
}

interface Pixel {
  readonly order: number;
  readonly ipix: number;
}

const PROPERTIES_FILES = ['hats.properties', 'properties'];
const COLLECTION_FILE = 'collection.properties';
/** Kinds of table that have no partitions by sky position. */
const UNPARTITIONED = new Set(['index', 'association']);
/** Orders above this do not occur (a partition of order 13 is 26 arcsec wide) and do not fit the pixel arithmetic. */
const MAX_ORDER = 13;

/**
 * Opens the HATS table at a directory, or the primary table of the collection there.
 * @throws CatalogError when the location is remote, no HATS directory, or no partitioned table
 */
export async function openHats(location: string): Promise<HatsTable> {
  if (/^[a-z][a-z0-9+]*:\/\//i.test(location)) {
    throw new CatalogError(
      `Cannot open ${location} as remote catalogs are not supported yet: copy the catalog to a local directory and give that`,
    );
  }
  const directory = primaryTable(resolve(location));
  const file = PROPERTIES_FILES.map(name => join(directory, name)).find(existsSync);
  if (!file) throw new CatalogError(`Cannot open ${directory} as a HATS catalog as ${whyNoTable(directory)}`);
  const properties = parseProperties(readText(file));
  const type = properties.get('dataproduct_type') ?? 'object';
  if (UNPARTITIONED.has(type)) {
    throw new CatalogError(
      `Cannot open ${directory} as a table of sources as it is a HATS ${type} table: give the directory of its primary table`,
    );
  }
  const suffix = properties.get('hats_npix_suffix') ?? '.parquet';
  const pixels = await partitionPixels(directory, suffix);
  const partitions = pixels.map(pixel => ({ ...pixel, files: partitionFiles(directory, pixel, suffix) }));
  return { location: directory, type, properties, partitions };
}

/** The directory itself, or that of the primary table where it is a collection's. */
function primaryTable(directory: string): string {
  const collection = join(directory, COLLECTION_FILE);
  if (!existsSync(collection)) return directory;
  const primary = parseProperties(readText(collection)).get('hats_primary_table_url');
  if (!primary) {
    throw new CatalogError(
      `Cannot open the collection ${directory} as its ${COLLECTION_FILE} has no hats_primary_table_url`,
    );
  }
  if (/^[a-z][a-z0-9+]*:\/\//i.test(primary)) {
    throw new CatalogError(
      `Cannot open the collection ${directory} as its primary table is remote: copy ${primary} beside it`,
    );
  }
  return resolve(directory, primary);
}

function whyNoTable(directory: string): string {
  if (!existsSync(directory)) return 'there is no such directory';
  if (existsSync(join(directory, 'catalog_info.json'))) {
    return 'it is a HiPSCat catalog, the format before HATS: convert it with hats-import';
  }
  return `it holds none of ${[...PROPERTIES_FILES, COLLECTION_FILE].join(', ')}: give the directory that does`;
}

/**
 * From partition_info.csv, else the `_metadata` file, else the names of the directories. Sorted, without duplicates.
 */
async function partitionPixels(directory: string, suffix: string): Promise<Pixel[]> {
  const info = join(directory, 'partition_info.csv');
  const metadata = join(directory, 'dataset', '_metadata');
  const pixels = existsSync(info)
    ? pixelsOfInfo(info)
    : existsSync(metadata)
      ? await pixelsOfMetadata(metadata)
      : pixelsOfListing(join(directory, 'dataset'), suffix);
  const unique = new Map(pixels.map(pixel => [`${pixel.order}/${pixel.ipix}`, pixel]));
  return [...unique.values()].sort((a, b) => a.order - b.order || a.ipix - b.ipix);
}

/** Columns `Norder` and `Npix` of the CSV file, in any order among others. */
function pixelsOfInfo(file: string): Pixel[] {
  const [header = '', ...lines] = readText(file).trim().split(/\r?\n/);
  const names = header.split(',').map(name => name.trim());
  const [order, ipix] = [names.indexOf('Norder'), names.indexOf('Npix')];
  if (order < 0 || ipix < 0)
    throw new CatalogError(`Cannot read ${file} as it has no columns Norder and Npix: first line is ${header}`);
  return lines.filter(Boolean).map(line => {
    const fields = line.split(',');
    return checkedPixel(fields[order], fields[ipix], `${file}: ${line}`);
  });
}

/** From the path that each row group of a Parquet `_metadata` file names. */
async function pixelsOfMetadata(file: string): Promise<Pixel[]> {
  const parquet = await openParquet(file);
  try {
    return parquet.rowGroupPaths().map(path => pixelOfPath(path, file));
  } finally {
    parquet.close();
  }
}

function pixelsOfListing(dataset: string, suffix: string): Pixel[] {
  const ending = suffix === '/' ? '' : suffix;
  const isPartition = (name: string) =>
    name.endsWith(ending) && /^Npix=\d+$/.test(name.slice(0, name.length - ending.length));
  return namesIn(dataset, /^Norder=\d+$/).flatMap(norder =>
    namesIn(join(dataset, norder), /^Dir=\d+$/).flatMap(dir =>
      namesIn(join(dataset, norder, dir), /^Npix=/)
        .filter(isPartition)
        .map(name => pixelOfPath(`${norder}/${dir}/${name}`, dataset)),
    ),
  );
}

function pixelOfPath(path: string, where: string): Pixel {
  const match = /Norder=(\d+)\/(?:Dir=\d+\/)?Npix=(\d+)/.exec(path);
  if (!match)
    throw new CatalogError(`Cannot read the partitions of ${where} as a path names no pixel: current value is ${path}`);
  return checkedPixel(match[1], match[2], `${where}: ${path}`);
}

function checkedPixel(orderText: string | undefined, ipixText: string | undefined, where: string): Pixel {
  const [order = Number.NaN, ipix = Number.NaN] = [orderText, ipixText].map(text =>
    text?.trim() ? Number(text) : Number.NaN,
  );
  const inRange = order >= 0 && order <= MAX_ORDER && ipix >= 0 && ipix < 12 * 4 ** order;
  if (inRange && Number.isInteger(order) && Number.isInteger(ipix)) return { order, ipix };
  throw new CatalogError(
    `Cannot use a partition as it must have order 0 to ${MAX_ORDER} and a pixel of that order: current value is ${where}`,
  );
}

/**
 * The files of one partition, relative to the table: one, or every Parquet file in the folder where the suffix is `/`.
 */
function partitionFiles(directory: string, { order, ipix }: Pixel, suffix: string): string[] {
  const path = posix.join('dataset', `Norder=${order}`, `Dir=${Math.floor(ipix / 10_000) * 10_000}`, `Npix=${ipix}`);
  if (suffix !== '/') return [path + suffix];
  return namesIn(join(directory, path), /^[^_.].*\.(parquet|parq|pq)$/).map(name => posix.join(path, name));
}

/** The matching names in a directory, sorted; none where there is no such directory. */
function namesIn(directory: string, pattern: RegExp): string[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(directory)
    .filter(name => pattern.test(name))
    .sort();
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CatalogError(`Cannot read ${basename(file)} of the catalog at ${file}: ${reasonOf(error)}`);
  }
}
