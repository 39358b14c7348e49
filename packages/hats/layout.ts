/**
 * Names of the files of a HATS catalog, and of the column that it adds to rows. Readers and writers share these names.
 */

/** The properties file of a table has both names; the second is the older one. */
export const PROPERTIES_FILES = ['hats.properties', 'properties'] as const;
export const COLLECTION_FILE = 'collection.properties';
export const INFO_FILE = 'partition_info.csv';
export const METADATA_FILE = 'dataset/_metadata';
export const COMMON_METADATA_FILE = 'dataset/_common_metadata';
/** The name of the map of row counts, and its older name, which more readers know. */
export const SKYMAP_FILE = 'skymap.fits';
export const POINT_MAP_FILE = 'point_map.fits';
/** The suffix of a partition's name, unless the properties specify another one. */
export const PARTITION_SUFFIX = '.parquet';
/** The names of Parquet files in a folder of data. Names that begin with _ or . are not data. */
export const PARQUET_NAME = /^[^_.].*\.(?:parquet|parq|pq)$/i;

/** The column of each row's NESTED pixel, by which rows are sorted, and the order of these pixels. */
export const HEALPIX_COLUMN = '_healpix_29';
export const HEALPIX_ORDER = 29;

/** A HEALPix pixel, NESTED. */
export interface Pixel {
  readonly order: number;
  readonly ipix: number;
}

/** The path of a partition's file, or of its folder if the suffix is `/`, relative to the table. */
export function partitionFile({ order, ipix }: Pixel, suffix: string = PARTITION_SUFFIX): string {
  return `dataset/Norder=${order}/Dir=${Math.floor(ipix / 10_000) * 10_000}/Npix=${ipix}${suffix}`;
}

/** The pixel in the path of a partition, or of a file in its folder; undefined if the path names none. */
export function pixelOfPath(path: string): Pixel | undefined {
  const [, order, ipix] = /Norder=(\d+)\/(?:Dir=\d+\/)?Npix=(\d+)/.exec(path) ?? [];
  return order === undefined ? undefined : { order: Number(order), ipix: Number(ipix) };
}
