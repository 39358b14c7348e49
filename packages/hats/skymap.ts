/**
 * Coverage maps: HEALPix maps in FITS binary tables, as written by healpy and the CDS library. Reads the pixels with a
 * value above zero; also writes the map of a catalog's rows.
 */

import type { OpenFile } from '@nearsky/astrotables/files';
import { ReadFailure, reasonOf } from '@nearsky/astrotables/files';
import {
  BLOCK,
  type FitsColumn,
  type FitsHeader,
  findHdu,
  type Hdu,
  isNumeric,
  isTable,
  numberReader,
  tableHeaders,
  tableOf,
  wholeBlocks,
} from '@nearsky/astrotables/fits';
import { hasOptional } from './catalog_files.ts';
import { CatalogError } from './errors.ts';
import { POINT_MAP_FILE, SKYMAP_FILE } from './layout.ts';
import type { HatsTable } from './table.ts';

/**
 * The name of the coverage map of a HATS table: `skymap.fits`, else `point_map.fits` (its older name), else the finest
 * `skymap.K.fits`. If folders cannot be listed, the properties name the orders of the maps.
 */
export async function findSkymap({
  files,
  properties,
}: Pick<HatsTable, 'files' | 'properties'>): Promise<string | undefined> {
  for (const name of [SKYMAP_FILE, POINT_MAP_FILE]) if (await hasOptional(files, name)) return name;
  const names = await files.list('.');
  const orders = names
    ? names.flatMap(name => /^skymap\.(\d+)\.fits$/.exec(name)?.[1] ?? [])
    : (properties.get('hats_skymap_alt_orders')?.match(/\d+/g) ?? []);
  for (const order of orders.map(Number).sort((a, b) => b - a))
    if (await hasOptional(files, `skymap.${order}.fits`)) return `skymap.${order}.fits`;
  return undefined;
}

/** Bytes of a header that are read at once, so that a remote header takes one request. */
const HEADER_BYTES = 8 * BLOCK;
/** The bytes of table rows that are held at once. */
const CHUNK_BYTES = 8 << 20;
/** Pixel numbers up to this order are exact in a double. */
const MAX_ORDER = 24;

/** The pixels of a HEALPix map that have a value above zero, with the value. */
export interface HealpixMap {
  readonly order: number;
  /** Calls `visit` with each covered pixel, NESTED, in the order of the file. */
  forEachCovered(visit: (ipix: number, value: number) => void): Promise<void>;
}

/**
 * The first HEALPix table of a FITS file, full-sky (implicit) or with a pixel column (explicit). The file must stay
 * open while the map is read.
 * @throws CatalogError when there is no HEALPix table, or it is in RING order or not in equatorial coordinates;
 * ReadFailure
 */
export async function openHealpixMap(file: OpenFile): Promise<HealpixMap> {
  try {
    return await healpixMap(file);
  } catch (error) {
    if (error instanceof CatalogError || error instanceof ReadFailure) throw error;
    throw new CatalogError(`Cannot read the coverage map ${file.name}: ${reasonOf(error)}`);
  }
}

async function healpixMap(file: OpenFile): Promise<HealpixMap> {
  const refuse = (why: string) => new CatalogError(`Cannot use the coverage map ${file.name} because ${why}`);
  const hdu = await findTable(file);
  if (!hdu) throw refuse('it holds no HEALPix table');
  const { header, columns, width, rows: count } = tableOf(hdu);
  const ordering = String(header.get('ORDERING') ?? '').toUpperCase();
  if (!ordering.startsWith('NEST')) {
    throw refuse(
      `its pixels must be in NESTED order (${ordering || 'none'} was found). Reorder it, or remove it to build the footprint from the rows`,
    );
  }
  const frame = String(header.get('COORDSYS') ?? 'C').toUpperCase();
  if (!isEquatorial(frame)) throw refuse(`COORDSYS must be equatorial (${frame} was found)`);
  const order = orderOf(header, MAX_ORDER);
  if (order === undefined) {
    throw refuse(`NSIDE must be a power of two up to 2^${MAX_ORDER} (${header.get('NSIDE')} was found)`);
  }
  const pixel = columns.find(column => isNumber(column) && /^(PIXEL|PIX|IPIX|HPX_?PIXEL)$/i.test(column.name));
  const explicit = String(header.get('INDXSCHM') ?? (pixel ? 'EXPLICIT' : 'IMPLICIT')).toUpperCase() === 'EXPLICIT';
  if (explicit && !pixel) throw refuse('it is EXPLICIT but has no PIXEL column');
  const value = columns.find(column => column !== pixel && isNumber(column));
  if (!value) throw refuse('it has no number column');
  const bad = badValueOf(header);
  const rows = { file, start: hdu.dataStart, width, count };
  const pixels = 12 * 4 ** order;
  const firstPixel = explicit ? 0 : Number(header.get('FIRSTPIX') ?? 0);
  if (!explicit) {
    // With a map that ends early, the rest of the sky would appear uncovered.
    const end = firstPixel + rows.count * value.repeat;
    const stated = Number(header.get('LASTPIX') ?? pixels - 1) + 1;
    if (end !== stated) throw refuse(`its rows end at pixel ${end - 1} instead of ${stated - 1}`);
  }
  const numberOf = numberReader(value);
  const pixelOf = explicit ? numberReader(pixel!) : undefined;
  const zeros = numberOf(new DataView(new ArrayBuffer(width)), value.offset, 0);
  const forEachCovered = (visit: (ipix: number, value: number) => void) =>
    forEachRow(rows, !isCovered(zeros, bad), (view, at, row) => {
      for (let item = 0; item < value.repeat; item++) {
        const found = numberOf(view, at + value.offset, item);
        if (!isCovered(found, bad)) continue;
        const ipix = pixelOf ? pixelOf(view, at + pixel!.offset, item) : firstPixel + row * value.repeat + item;
        if (!(Number.isInteger(ipix) && ipix >= 0 && ipix < pixels))
          throw refuse(`it has a pixel outside the sky at NSIDE ${2 ** order} (${ipix} was found)`);
        visit(ipix, found);
      }
    });
  return { order, forEachCovered };
}

/** Logical columns count as numbers, because maps of masks use them. */
function isNumber(column: FitsColumn): boolean {
  return isNumeric(column) || (column.letter === 'L' && !column.heap);
}

/** Whether a COORDSYS means right ascension and declination. */
export function isEquatorial(frame: string): boolean {
  return /^(C|CEL|CELESTIAL|EQUATORIAL|ICRS|FK5)$/i.test(frame);
}

/** The order of a HEALPix map; undefined if its NSIDE is not a power of two from 1 to 2^`maxOrder`. */
export function orderOf(header: FitsHeader, maxOrder: number): number | undefined {
  const order = Math.log2(Number(header.get('NSIDE')));
  return Number.isInteger(order) && order >= 0 && order <= maxOrder ? order : undefined;
}

/** The value of pixels without data in a HEALPix map. */
export function badValueOf(header: FitsHeader): number {
  return Number(header.get('BAD_DATA') ?? -1.6375e30);
}

function isCovered(value: number, bad: number): boolean {
  // A float32 column holds a rounded UNSEEN.
  return value > 0 && value < Number.POSITIVE_INFINITY && value !== bad && value !== Math.fround(bad);
}

/** The first binary table with PIXTYPE HEALPIX. */
async function findTable(file: OpenFile): Promise<Hdu | undefined> {
  const search = findHdu(header => isTable(header) && /^HEALPIX$/i.test(header.text('PIXTYPE') ?? ''));
  let [heldFrom, held] = [0, new Uint8Array(0)];
  for (let step = search.next(); ; ) {
    if (step.done) return step.value;
    const start = Math.min(step.value.start, file.byteLength);
    const end = Math.min(step.value.end, file.byteLength);
    if (start < heldFrom || end > heldFrom + held.length) {
      held = new Uint8Array(await file.read(start, Math.min(start + HEADER_BYTES, file.byteLength)));
      heldFrom = start;
    }
    step = search.next(held.subarray(start - heldFrom, end - heldFrom));
  }
}

interface Rows {
  readonly file: OpenFile;
  readonly start: number;
  /** Bytes of a row. */
  readonly width: number;
  readonly count: number;
}

/** @param skipsZeros whether rows of zero bytes alone may be left out: most pixels of most maps have no value */
async function forEachRow(
  { file, start, width, count }: Rows,
  skipsZeros: boolean,
  visit: (view: DataView, offset: number, row: number) => void,
): Promise<void> {
  if (start + count * width > file.byteLength)
    throw new CatalogError(`Cannot read the coverage map ${file.name} because the file ends early`);
  const rowsAtOnce = Math.max(1, Math.floor(CHUNK_BYTES / Math.max(1, width)));
  for (let first = 0; first < count; first += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, count - first);
    const bytes = await file.read(start + first * width, start + (first + rows) * width);
    const view = new DataView(bytes);
    const words = skipsZeros && width % 4 === 0 ? new Int32Array(bytes) : undefined;
    for (let row = 0; row < rows; row++) {
      if (words) row = Math.floor(nextBits(words, row * (width >> 2)) / (width >> 2));
      if (row < rows) visit(view, row * width, first + row);
    }
  }
}

/** The index of the first word from `at` on that is not 0, or the number of words. */
function nextBits(words: Int32Array, at: number): number {
  while (at < words.length && words[at] === 0) at++;
  return at;
}

/** Rows of a map's table, in the layout that astropy and healpy write. */
const MAP_REPEAT = 1024;

/** Makes a HEALPix map of row counts as FITS: a binary table of 64-bit integers, NESTED. */
export function skymapOf(order: number, counts: Uint32Array): Uint8Array {
  const repeat = Math.min(MAP_REPEAT, counts.length);
  const layout = { width: 8 * repeat, rows: counts.length / repeat, columns: 1 };
  const header = tableHeaders(layout, {
    TTYPE1: 'PIXEL_COUNT',
    TFORM1: `${repeat}K`,
    PIXTYPE: 'HEALPIX',
    ORDERING: 'NESTED',
    COORDSYS: 'C',
    NSIDE: 2 ** order,
    FIRSTPIX: 0,
    LASTPIX: counts.length - 1,
    INDXSCHM: 'IMPLICIT',
    OBJECT: 'FULLSKY',
  });
  const data = new DataView(new ArrayBuffer(wholeBlocks(8 * counts.length)));
  for (let pixel = 0; pixel < counts.length; pixel++) data.setBigInt64(8 * pixel, BigInt(counts[pixel]!));
  return Buffer.concat([Buffer.from(header, 'latin1'), new Uint8Array(data.buffer)]);
}
