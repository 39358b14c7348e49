/** Writes headers of FITS files (FITS standard 4.0, section 4). */

export const BLOCK = 2880;
export const CARD = 80;

/**
 * Makes a whole header in blocks of ASCII: a card for each keyword, in order, then the lines of the history.
 * @param cards texts of at most 68 characters (quotes count twice), integers, logical values
 * @param history lines of at most 70 characters
 */
export function fitsHeader(
  cards: Readonly<Record<string, string | number | bigint | boolean>>,
  history: readonly string[] = [],
): string {
  const lines = Object.entries(cards).map(([keyword, value]) => `${keyword.padEnd(8)}= ${valueText(value)}`);
  const all = [...lines, ...history.map(line => `HISTORY ${line}`), 'END'];
  const text = all.map(card => card.padEnd(CARD)).join('');
  return text.padEnd(wholeBlocks(text.length));
}

/**
 * Makes the headers of a file with one binary table: the primary header, without data, and the header of the table.
 * @param width bytes of a row
 * @param cards the cards after TFIELDS
 */
export function tableHeaders(
  { width, rows, columns }: { readonly width: number; readonly rows: number; readonly columns: number },
  cards: Parameters<typeof fitsHeader>[0],
  history?: readonly string[],
): string {
  const layout = { NAXIS1: width, NAXIS2: rows, PCOUNT: 0, GCOUNT: 1, TFIELDS: columns };
  const table = { XTENSION: 'BINTABLE', BITPIX: 8, NAXIS: 2, ...layout, ...cards };
  return fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true }) + fitsHeader(table, history);
}

/** The length of the whole blocks needed for `bytes`. */
export function wholeBlocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

function valueText(value: string | number | bigint | boolean): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''").padEnd(8)}'`;
  return (typeof value === 'boolean' ? (value ? 'T' : 'F') : `${value}`).padStart(20);
}
