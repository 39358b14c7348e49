/** Names files that are no table of a format that is read, by how they begin. */
import { TableError } from './input_table.ts';

const WITH_ASTROPY = 'convert it to ECSV with astropy';
const WITH_BOTH = 'convert it to ECSV with astropy or STILTS';
const UNPACK = 'unpack it, and send the table in it, with gzip or without';

/** The beginning in latin1, without a byte-order mark and white space; the format; what to do. */
const FOREIGN: readonly (readonly [begin: string | RegExp, what: string, remedy: string])[] = [
  ['PK\u0003\u0004', 'a ZIP archive', UNPACK],
  ['\u00fd7zXZ', 'compressed with xz', UNPACK],
  ['BZh', 'compressed with bzip2', UNPACK],
  ['\u0028\u00b5\u002f\u00fd', 'compressed with ZSTD', UNPACK],
  ['\u0089HDF', 'HDF5', 'convert it to Parquet with astropy or pandas'],
  ['\u0093NUMPY', 'an array of numpy', 'write it as Parquet, or as CSV with numpy.savetxt'],
  ['Obj\u0001', 'Avro', 'convert it to Parquet'],
  ['[', 'one JSON list, because it begins with [', 'send one object per line (NDJSON)'],
  [/^--[^\r\n]*\r?\nContent-/i, 'a form (multipart/form-data)', 'send the table itself as the body'],
  [/^<(?:!doctype\s+html|html|table\s+border)\b/i, 'HTML', WITH_ASTROPY],
  ['<HEADER>', 'a TDAT file of HEASARC', WITH_ASTROPY],
  [/^\\(?:begin|documentclass)\b/, 'LaTeX', WITH_BOTH],
  [/^Byte-by-byte Description of file/im, 'a Machine-Readable Table (MRT, CDS)', WITH_BOTH],
  [/^#\s+1\s+[A-Z]\w*\s.*\r?\n#\s+2\s/, 'a catalog of SExtractor (ASCII_HEAD)', WITH_ASTROPY],
  [/^#K\s+IRAF\b/, 'a table of DAOPHOT', WITH_ASTROPY],
  [/^!?READ [TS]ERR\b/i, 'a QDP file', WITH_ASTROPY],
  // A title first, then names and dashes with tabs between.
  [
    /(?<![\s\S])(?!#|[^\r\n]*\t)[\s\S]*^-+(?:\t-+)+\r?$/m,
    'a Tab-Separated Table (TST)',
    'convert it to CSV with TOPCAT or STILTS',
  ],
];

/**
 * @param head the beginning of the file in latin1, without white space before it
 * @throws TableError that names the format
 */
export function refuseForeign(head: string): void {
  const found = FOREIGN.find(([begin]) => (typeof begin === 'string' ? head.startsWith(begin) : begin.test(head)));
  if (found) throw new TableError(`it is ${found[1]}: ${found[2]}`);
}
