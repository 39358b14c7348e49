/**
 * HEALPix maps in FITS binary tables, as healpy and the CDS library write them: finds the pixels with a value above
 * zero.
 *
 * FITS standard 4.0, sections 4 and 7.3. The reader is our own because the JavaScript FITS libraries are unmaintained
 * or made for images in a browser, and a coverage map needs only a small part of the format: one number column, with or
 * without a pixel column.
 */

import { BLOCK, CARD } from '../tables/fits_header.ts';
import type { OpenFile } from './catalog_files.ts';
import { CatalogError, ReadFailure, reasonOf } from './errors.ts';

/** No header is longer than this many blocks (1.4 MB). */
const MAX_HEADER_BLOCKS = 500;
/** Bytes of a header that are read at once, so that a remote header takes one request. */
const HEADER_BYTES = 8 * BLOCK;
/** The most axes, and the most columns of a table, by the standard. */
const MAX_COUNT = 999;
/** The bytes of table rows that are held at once. */
const CHUNK_BYTES = 8 << 20;
/** The value of pixels without data in HEALPix maps, unless BAD_DATA says otherwise. */
const UNSEEN = -1.6375e30;
/** Pixel numbers up to this order are exact in a double. */
const MAX_ORDER = 24;

export type FitsHeader = ReadonlyMap<string, string | number | boolean>;

export interface Column {
  readonly name: string;
  readonly letter: string;
  readonly repeat: number;
  /** Bytes from the start of the row. */
  readonly offset: number;
  readonly scale: number;
  readonly zero: number;
  readonly blank: number | undefined;
}

/** The pixels of a HEALPix map that have a value above zero. */
export interface HealpixMap {
  readonly order: number;
  /** Calls `visit` with each covered pixel, NESTED, in the order of the file. */
  forEachCovered(visit: (ipix: number) => void): Promise<void>;
}

/** Bytes and reader of each number type of FITS. Integers are signed, except type B. */
const TYPES: Readonly<Record<string, { readonly bytes: number; read(view: DataView, offset: number): number }>> = {
  L: { bytes: 1, read: (view, offset) => (view.getUint8(offset) === 0x54 ? 1 : 0) },
  B: { bytes: 1, read: (view, offset) => view.getUint8(offset) },
  I: { bytes: 2, read: (view, offset) => view.getInt16(offset) },
  J: { bytes: 4, read: (view, offset) => view.getInt32(offset) },
  K: { bytes: 8, read: (view, offset) => Number(view.getBigInt64(offset)) },
  E: { bytes: 4, read: (view, offset) => view.getFloat32(offset) },
  D: { bytes: 8, read: (view, offset) => view.getFloat64(offset) },
};
/** Widths of the types that the reader skips. */
const OTHER_WIDTHS: Readonly<Record<string, number>> = { A: 1, C: 8, M: 16, P: 8, Q: 16 };

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
  const { header, dataStart } = await findTable(file);
  const refuse = (why: string) => new CatalogError(`Cannot use the coverage map ${file.name} because ${why}`);
  const ordering = String(header.get('ORDERING') ?? '').toUpperCase();
  if (!ordering.startsWith('NEST')) {
    throw refuse(
      `its pixels must be in NESTED order (${ordering || 'none'} was found). Reorder it, or take it away to build it from the rows`,
    );
  }
  const frame = String(header.get('COORDSYS') ?? 'C').toUpperCase();
  if (!isEquatorial(frame)) throw refuse(`COORDSYS must be equatorial (${frame} was found)`);
  const order = Math.log2(Number(header.get('NSIDE')));
  if (!Number.isInteger(order) || order < 0 || order > MAX_ORDER) {
    throw refuse(`NSIDE must be a power of two up to 2^${MAX_ORDER} (${header.get('NSIDE')} was found)`);
  }
  const columns = tableColumns(header);
  const pixel = columns.find(({ name, letter }) => letter in TYPES && /^(PIXEL|PIX|IPIX|HPX_?PIXEL)$/i.test(name));
  const explicit = String(header.get('INDXSCHM') ?? (pixel ? 'EXPLICIT' : 'IMPLICIT')).toUpperCase() === 'EXPLICIT';
  if (explicit && !pixel) throw refuse('it is EXPLICIT but has no PIXEL column');
  const value = columns.find(column => column !== pixel && column.letter in TYPES);
  if (!value) throw refuse('it has no number column');
  const bad = Number(header.get('BAD_DATA') ?? UNSEEN);
  const width = Number(header.get('NAXIS1'));
  const last = columns.at(-1)!;
  if (last.offset + bytesOf(last) !== width)
    throw refuse(`its columns take ${last.offset + bytesOf(last)} bytes of a row and NAXIS1 is ${width}`);
  const rows = { file, start: dataStart, width, count: Number(header.get('NAXIS2')) };
  const pixels = 12 * 4 ** order;
  const firstPixel = explicit ? 0 : Number(header.get('FIRSTPIX') ?? 0);
  if (!explicit) {
    // A map that ends early would call the rest of the sky uncovered.
    const end = firstPixel + rows.count * value.repeat;
    const stated = Number(header.get('LASTPIX') ?? pixels - 1) + 1;
    if (end !== stated) throw refuse(`its rows end at pixel ${end - 1} and not at ${stated - 1}`);
  }
  const forEachCovered = (visit: (ipix: number) => void) =>
    forEachRow(rows, (view, rowOffset, row) => {
      for (let item = 0; item < value.repeat; item++) {
        if (!isCovered(readItem(view, rowOffset, value, item), value, bad)) continue;
        const ipix = explicit ? readItem(view, rowOffset, pixel!, item) : firstPixel + row * value.repeat + item;
        if (!(Number.isInteger(ipix) && ipix >= 0 && ipix < pixels))
          throw refuse(`it has a pixel outside the sky at NSIDE ${2 ** order} (${ipix} was found)`);
        visit(ipix);
      }
    });
  return { order, forEachCovered };
}

/** Whether a COORDSYS is that of right ascension and declination. */
export function isEquatorial(frame: string): boolean {
  return /^(C|CEL|CELESTIAL|EQUATORIAL|ICRS|FK5)$/i.test(frame);
}

export function readItem(
  view: DataView,
  rowOffset: number,
  { letter, offset, scale, zero }: Column,
  item: number,
): number {
  const { bytes, read } = TYPES[letter]!;
  return read(view, rowOffset + offset + item * bytes) * scale + zero;
}

/** TNULL is compared before scaling. */
function isCovered(value: number, { blank, scale, zero }: Column, bad: number): boolean {
  if (blank !== undefined && value === blank * scale + zero) return false;
  // A float32 column holds UNSEEN rounded.
  return value > 0 && value < Number.POSITIVE_INFINITY && value !== bad && value !== Math.fround(bad);
}

/** The header of the first binary table with PIXTYPE HEALPIX, and the offset of its rows. */
async function findTable(file: OpenFile): Promise<{ header: FitsHeader; dataStart: number }> {
  let offset = 0;
  for (;;) {
    const { header, end } = await readHeader(file, offset);
    if (header.get('XTENSION') === 'BINTABLE' && /^HEALPIX$/i.test(String(header.get('PIXTYPE'))))
      return { header, dataStart: end };
    offset = end + Math.ceil(dataBytes(header) / BLOCK) * BLOCK;
  }
}

export function dataBytes(header: FitsHeader): number {
  const axes = countOf(header, 'NAXIS');
  if (axes === 0) return 0;
  let size = Math.abs(Number(header.get('BITPIX'))) / 8;
  for (let axis = 1; axis <= axes; axis++) size *= Number(header.get(`NAXIS${axis}`));
  size += Number(header.get('PCOUNT') ?? 0);
  // A negative size would lead back to a header that was read before.
  if (size >= 0) return size;
  throw new Error(`its data must have a size of 0 or more (${size} was found)`);
}

function countOf(header: FitsHeader, keyword: string): number {
  const count = Number(header.get(keyword) ?? 0);
  if (Number.isInteger(count) && count >= 0 && count <= MAX_COUNT) return count;
  throw new Error(`${keyword} must be 0 to ${MAX_COUNT} (${count} was found)`);
}

async function readHeader(file: OpenFile, start: number): Promise<{ header: FitsHeader; end: number }> {
  const header = new Map<string, string | number | boolean>();
  let blocks = new Uint8Array(0);
  for (let at = 0; at < MAX_HEADER_BLOCKS * BLOCK; at += CARD) {
    if (at === blocks.length) {
      const held = Math.floor(Math.min(HEADER_BYTES, file.byteLength - start - at) / BLOCK) * BLOCK;
      if (held <= 0)
        throw new CatalogError(`Cannot use the coverage map ${file.name} because it holds no HEALPix table`);
      blocks = Buffer.concat([blocks, new Uint8Array(await file.read(start + at, start + at + held))]);
    }
    const card = String.fromCharCode(...blocks.subarray(at, at + CARD));
    if (start + at === 0 && !card.startsWith('SIMPLE  ='))
      throw new CatalogError(`Cannot use the coverage map ${file.name} because it is no FITS file`);
    const keyword = card.slice(0, 8).trim();
    if (keyword === 'END') return { header, end: start + (Math.floor(at / BLOCK) + 1) * BLOCK };
    if (card.slice(8, 10) === '= ') header.set(keyword, cardValue(card.slice(10)));
  }
  throw new CatalogError(
    `Cannot use the coverage map ${file.name} because a header is longer than ${MAX_HEADER_BLOCKS} blocks`,
  );
}

/**
 * A card's value: a text in quotes (doubled quotes inside, trailing blanks dropped), a logical, or a number. A comment
 * follows after `/`.
 */
export function cardValue(text: string): string | number | boolean {
  const quoted = /^\s*'((?:[^']|'')*)'/.exec(text);
  if (quoted) return quoted[1]!.replaceAll("''", "'").trimEnd();
  const bare = text.split('/')[0]!.trim();
  return bare === 'T' ? true : bare === 'F' ? false : Number(bare.replace(/D/i, 'E'));
}

export function tableColumns(header: FitsHeader): Column[] {
  let offset = 0;
  return Array.from({ length: countOf(header, 'TFIELDS') }, (_, index) => {
    const n = index + 1;
    const [, count = '', letter = ''] = /^\s*(\d*)([A-Z])/.exec(String(header.get(`TFORM${n}`))) ?? [];
    const repeat = count === '' ? 1 : Number(count);
    const blank = header.get(`TNULL${n}`);
    const column: Column = {
      name: String(header.get(`TTYPE${n}`) ?? ''),
      letter,
      repeat,
      offset,
      scale: Number(header.get(`TSCAL${n}`) ?? 1),
      zero: Number(header.get(`TZERO${n}`) ?? 0),
      blank: blank === undefined ? undefined : Number(blank),
    };
    offset += bytesOf(column);
    return column;
  });
}

/** The bytes of a column in a row. */
export function bytesOf({ letter, repeat }: Column): number {
  return letter === 'X' ? Math.ceil(repeat / 8) : repeat * (TYPES[letter]?.bytes ?? OTHER_WIDTHS[letter] ?? 0);
}

interface Rows {
  readonly file: OpenFile;
  readonly start: number;
  /** Bytes of a row. */
  readonly width: number;
  readonly count: number;
}

async function forEachRow(
  { file, start, width, count }: Rows,
  visit: (view: DataView, offset: number, row: number) => void,
): Promise<void> {
  if (start + count * width > file.byteLength)
    throw new CatalogError(`Cannot read the coverage map ${file.name} because the file ends early`);
  const rowsAtOnce = Math.max(1, Math.floor(CHUNK_BYTES / Math.max(1, width)));
  for (let first = 0; first < count; first += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, count - first);
    const view = new DataView(await file.read(start + first * width, start + (first + rows) * width));
    for (let row = 0; row < rows; row++) visit(view, row * width, first + row);
  }
}
