/** A small FITS table of NUNIQ numbers, as MOCs and multi-order maps of probability have them. */
import { fitsHeader, wholeBlocks } from '@nearsky/astrotables/fits';

interface UniqTable {
  readonly cells: readonly number[];
  readonly order: number;
  /** The density in each cell, for a map. */
  readonly density?: readonly number[];
  /** Instead of the header's own. */
  readonly cards?: Readonly<Record<string, string | number>>;
}

export function writeUniqFits({ cells, order, density, cards }: UniqTable): Uint8Array<ArrayBuffer> {
  const width = density ? 16 : 8;
  const header =
    fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true }) +
    fitsHeader({
      XTENSION: 'BINTABLE',
      BITPIX: 8,
      NAXIS: 2,
      NAXIS1: width,
      NAXIS2: cells.length,
      PCOUNT: 0,
      GCOUNT: 1,
      TFIELDS: density ? 2 : 1,
      TTYPE1: 'UNIQ',
      TFORM1: 'K',
      ...(density && { TTYPE2: 'PROBDENSITY', TFORM2: 'D' }),
      ORDERING: 'NUNIQ',
      COORDSYS: 'C',
      ...cards,
    });
  const bytes = new Uint8Array(header.length + wholeBlocks(width * cells.length));
  new TextEncoder().encodeInto(header, bytes);
  const view = new DataView(bytes.buffer, header.length);
  cells.forEach((cell, row) => {
    view.setBigInt64(row * width, BigInt(4 ** (order + 1) + cell));
    if (density) view.setFloat64(row * width + 8, density[row]!);
  });
  return bytes;
}
