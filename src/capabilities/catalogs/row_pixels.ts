/**
 * Compares the positions of rows with the pixels under which they are stored: that of their partition, and that in
 * their HEALPix column. Searches choose files, row groups and rows by these pixels, so a row under a wrong pixel would
 * be missed silently.
 */
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, type Pixel } from '@nearsky/hats';
import { HEALPIX_COLUMN, HEALPIX_ORDER, MAX_OUTSIDE_ARCSEC, statedPixels } from '@nearsky/hats/layout';
import {
  conePixels,
  isPosition,
  MAX_ORDER,
  pixel29,
  pixelCentre29,
  pixelOf,
  separationArcsec,
  wrapRa,
} from '@nearsky/sky-index';
import type { CatalogColumns } from '../../core/store/catalog_registration.ts';

/** The maximum number of files whose rows are compared, and of rows in each. */
const SAMPLED_FILES = 16;
const SAMPLED_ROWS = 100;
const PIXELS = 12n * 4n ** BigInt(HEALPIX_ORDER);
const REMEDY = `Searches would miss it, because they look up to ${MAX_OUTSIDE_ARCSEC} arcsec around a pixel. Import the catalog anew from its position columns, or name the columns from which its pixels were made as hats_col_ra and hats_col_dec in its properties`;

type Numbers = ArrayLike<number>;

/** The indexes of files whose rows are compared, evenly spread over a catalog's files. */
export function sampledFiles(files: number): ReadonlySet<number> {
  const count = Math.min(SAMPLED_FILES, files);
  return new Set(Array.from({ length: count }, (_, i) => Math.floor(((i + 0.5) * files) / count)));
}

/**
 * Compares all rows of a row group with their partition and with the bounds of its HEALPix column, at order 13.
 * @throws CatalogError if a row lies outside
 */
export function checkAllRows(file: ParquetFile, rowGroup: number, partition: Pixel, ra: Numbers, dec: Numbers): void {
  const { order, ipix } = partition;
  const inPartition = (pixel: number) => pixel >> (2 * (MAX_ORDER - order)) === ipix;
  const stated = statedPixels(file, rowGroup);
  const shift = BigInt(2 * (HEALPIX_ORDER - MAX_ORDER));
  const [first, last] = stated ? [Number(stated.min >> shift), Number(stated.max >> shift)] : [0, Infinity];
  const inBounds = (pixel: number) => pixel >= first && pixel <= last;
  for (let row = 0; row < ra.length; row++) {
    const [wrapped, declination] = [wrapRa(ra[row]!), dec[row]!];
    if (!isPosition(wrapped, declination)) continue;
    const pixel = pixelOf(MAX_ORDER, wrapped, declination);
    if (inPartition(pixel) && inBounds(pixel)) continue;
    const near = conePixels(MAX_ORDER, wrapped, declination, MAX_OUTSIDE_ARCSEC);
    if (near.some(inPartition) && near.some(inBounds)) continue;
    const at = rowShown(file, rowGroup, row, ra, dec);
    if (!near.some(inPartition))
      throw new CatalogError(
        `Cannot use ${file.name} because its rows must lie in pixel ${ipix} of order ${order}, like its name: ${at} lies in pixel ${pixelOf(order, wrapped, declination)}. ${REMEDY}`,
      );
    throw new CatalogError(
      `Cannot use ${file.name} because the statistics of ${HEALPIX_COLUMN} must bound the pixels of row group ${rowGroup} (${stated!.min} to ${stated!.max}): ${at} lies in pixel ${pixel29(wrapped, declination)}. ${REMEDY}`,
    );
  }
}

/** @param row counted from the first of the row group */
function rowShown({ rowGroups }: ParquetFile, rowGroup: number, row: number, ra: Numbers, dec: Numbers): string {
  return `row ${rowGroups[rowGroup]!.rowStart + row} at ra ${ra[row]}, dec ${dec[row]}`;
}

/**
 * Compares the first rows of a row group, in the middle of the file, with their own pixels.
 * @throws CatalogError if a row lies outside
 */
export async function checkSomeRows(file: ParquetFile, partition: Pixel, columns: CatalogColumns): Promise<void> {
  const filled = [...file.rowGroups.keys()].filter(i => file.rowGroups[i]!.rowEnd > file.rowGroups[i]!.rowStart);
  const rowGroup = filled[filled.length >> 1];
  if (rowGroup === undefined) return;
  const firstOf = (column: string) => file.firstValues(column, rowGroup, SAMPLED_ROWS);
  const hasPixels = ['integer64', 'unsigned64'].includes(file.columns.get(HEALPIX_COLUMN) ?? '');
  const numbersOf = async (column: string) => (await firstOf(column)).map(value => Number(value ?? Number.NaN));
  const [ra, dec, pixels] = await Promise.all([
    numbersOf(columns.ra),
    numbersOf(columns.dec),
    hasPixels ? firstOf(HEALPIX_COLUMN) : [],
  ]);
  const rows = Math.min(ra.length, dec.length);
  checkAllRows(file, rowGroup, partition, ra.slice(0, rows), dec.slice(0, rows));
  for (const [row, pixel] of pixels.slice(0, rows).entries()) {
    const [wrapped, declination] = [wrapRa(ra[row]!), dec[row]!];
    if (typeof pixel !== 'bigint' || !isPosition(wrapped, declination)) continue;
    const centre = pixel >= 0n && pixel < PIXELS ? pixelCentre29(pixel) : undefined;
    const away = centre ? separationArcsec(centre.ra, centre.dec, wrapped, declination) : Infinity;
    if (away <= MAX_OUTSIDE_ARCSEC) continue;
    const where = centre ? `${Number(away.toPrecision(3))} arcsec away` : 'no pixel';
    throw new CatalogError(
      `Cannot use ${file.name} because ${rowShown(file, rowGroup, row, ra, dec)} lies in pixel ${pixel29(wrapped, declination)}, but its ${HEALPIX_COLUMN} is ${pixel}, ${where}. ${REMEDY}`,
    );
  }
}
