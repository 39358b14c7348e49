/** A HEALPix map of one order as a small FITS file, in each of the ways in which programs write it. */
import { fitsHeader, wholeBlocks } from '../../src/tables/fits_header.ts';

interface FlatFits {
  readonly nside: number;
  readonly ordering: 'RING' | 'NESTED';
  /** In the order of the file; of all pixels unless `pixels` names them. */
  readonly values: readonly number[];
  readonly pixels?: readonly number[];
  /** Values of a row: healpy writes 1024, ligo.skymap 1. */
  readonly repeat?: number;
  readonly letter?: 'E' | 'D';
  /** Instead of the header's own. */
  readonly cards?: Readonly<Record<string, string | number>>;
}

export function writeFlatFits({
  nside,
  ordering,
  values,
  pixels,
  repeat = 1,
  letter = 'D',
  cards,
}: FlatFits): Uint8Array<ArrayBuffer> {
  const size = letter === 'E' ? 4 : 8;
  const width = repeat * size + (pixels ? 8 : 0);
  const rows = values.length / repeat;
  const header =
    fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true }) +
    fitsHeader({
      XTENSION: 'BINTABLE',
      BITPIX: 8,
      NAXIS: 2,
      NAXIS1: width,
      NAXIS2: rows,
      PCOUNT: 0,
      GCOUNT: 1,
      TFIELDS: pixels ? 2 : 1,
      ...(pixels && { TTYPE1: 'PIXEL', TFORM1: 'K' }),
      [`TTYPE${pixels ? 2 : 1}`]: 'PROB',
      [`TFORM${pixels ? 2 : 1}`]: `${repeat}${letter}`,
      PIXTYPE: 'HEALPIX',
      ORDERING: ordering,
      COORDSYS: 'C',
      NSIDE: nside,
      INDXSCHM: pixels ? 'EXPLICIT' : 'IMPLICIT',
      ...cards,
    });
  const bytes = new Uint8Array(header.length + wholeBlocks(width * rows));
  new TextEncoder().encodeInto(header, bytes);
  const view = new DataView(bytes.buffer, header.length);
  values.forEach((value, i) => {
    const row = Math.floor(i / repeat) * width;
    if (pixels) view.setBigInt64(row, BigInt(pixels[i]!));
    const at = row + (pixels ? 8 : 0) + (i % repeat) * size;
    if (letter === 'E') view.setFloat32(at, value);
    else view.setFloat64(at, value);
  });
  return bytes;
}
