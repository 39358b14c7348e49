/**
 * Names of the files of a HATS catalog, and of the column that it adds to rows. Readers and writers share these names.
 */
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import type { Pixel } from './partition.ts';

export type { Pixel };

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

/**
 * How far the position of a row may lie outside its partition and outside the pixel in its HEALPix column, arcsec.
 * Writers may round positions after they have assigned pixels: to float32 (up to 0.06 arcsec), or to four decimals of a
 * degree (up to 0.25). A reader that chooses rows by their pixels searches this far around its area.
 */
export const MAX_OUTSIDE_ARCSEC = 1;

/**
 * The least and greatest HEALPix pixel of a row group by the file's statistics; undefined without such statistics, or
 * if some rows have no pixel.
 */
export function statedPixels(
  file: ParquetFile,
  rowGroup: number,
): { readonly min: bigint; readonly max: bigint } | undefined {
  return file.nullCount(HEALPIX_COLUMN, rowGroup) ? undefined : file.integerBounds(rowGroup, HEALPIX_COLUMN);
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
