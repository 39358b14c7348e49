/** Writes HEALPix maps as FITS binary tables, in the ways that real ones are written. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MapOptions {
  readonly order: number;
  /** One value a pixel of the sky, or, with `pixels`, one for each of those. */
  readonly values: ArrayLike<number>;
  /** Makes it a partial map with a PIXEL column. */
  readonly pixels?: ArrayLike<number>;
  /** FITS type of the values. Default K. */
  readonly letter?: 'B' | 'I' | 'J' | 'K' | 'E' | 'D';
  /** Values a row. Default 1. */
  readonly repeat?: number;
  /** Header cards to add, or to replace ours with; undefined takes one of ours away. */
  readonly cards?: Readonly<Record<string, string | number | undefined>>;
}

const WIDTHS = { B: 1, I: 2, J: 4, K: 8, E: 4, D: 8 };

export function healpixMap({
  order,
  values,
  pixels,
  letter = 'K',
  repeat = 1,
  cards = {},
}: MapOptions): Uint8Array<ArrayBuffer> {
  const width = repeat * ((pixels ? 8 : 0) + WIDTHS[letter]);
  const rows = values.length / repeat;
  const types = pixels
    ? { TTYPE1: 'PIXEL', TFORM1: `${repeat}K`, TTYPE2: 'T', TFORM2: `${repeat}${letter}` }
    : { TTYPE1: 'T', TFORM1: `${repeat}${letter}` };
  const table = {
    XTENSION: 'BINTABLE',
    BITPIX: 8,
    NAXIS: 2,
    NAXIS1: width,
    NAXIS2: rows,
    PCOUNT: 0,
    GCOUNT: 1,
    TFIELDS: pixels ? 2 : 1,
    ...types,
    PIXTYPE: 'HEALPIX',
    ORDERING: 'NESTED',
    COORDSYS: 'CEL',
    NSIDE: 2 ** order,
    INDXSCHM: pixels ? 'EXPLICIT' : 'IMPLICIT',
    ...cards,
  };
  const data = new DataView(new ArrayBuffer(padded(rows * width)));
  for (let row = 0; row < rows; row++) {
    for (let item = 0; item < repeat; item++) {
      const at = row * repeat + item;
      if (pixels) data.setBigInt64(row * width + 8 * item, BigInt(pixels[at]!));
      // Most pixels of a map are 0, as the bytes are already.
      if (values[at] !== 0)
        writeValue(data, row * width + (pixels ? 8 * repeat : 0) + item * WIDTHS[letter], letter, values[at]!);
    }
  }
  const primary = header({ SIMPLE: 'T', BITPIX: 8, NAXIS: 0, EXTEND: 'T' });
  return Buffer.concat([primary, header(table), new Uint8Array(data.buffer)]);
}

function writeValue(data: DataView, offset: number, letter: string, value: number): void {
  if (letter === 'B') data.setUint8(offset, value);
  else if (letter === 'I') data.setInt16(offset, value);
  else if (letter === 'J') data.setInt32(offset, value);
  else if (letter === 'K') data.setBigInt64(offset, BigInt(value));
  else if (letter === 'E') data.setFloat32(offset, value);
  else data.setFloat64(offset, value);
}

/** T and F of one letter are logicals; other text is quoted. */
function header(cards: Readonly<Record<string, string | number | undefined>>): Uint8Array {
  const lines = Object.entries(cards)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text =
        typeof value === 'string' && !/^[TF]$/.test(value) ? `'${value.padEnd(8)}'` : String(value).padStart(20);
      return `${name.padEnd(8)}= ${text} / a comment`.padEnd(80);
    });
  const text = [...lines, 'END'.padEnd(80)].join('');
  return new TextEncoder().encode(text.padEnd(padded(text.length)));
}

/** The size of a FITS block of this many bytes. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / 2880) * 2880;
}

/** Writes a map to `map.fits` in a directory, and returns its path. */
export function writtenMap(directory: string, options: MapOptions): string {
  const path = join(directory, 'map.fits');
  writeFileSync(path, healpixMap(options));
  return path;
}
