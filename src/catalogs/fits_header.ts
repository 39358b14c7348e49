/** Writes headers of FITS files (FITS standard 4.0, section 4). */
import { BLOCK, CARD } from './fits.ts';

/**
 * A whole header, blocks of ASCII: a card for each keyword, in order.
 * @param cards texts of at most 68 characters, integers, logical values
 */
export function fitsHeader(cards: Readonly<Record<string, string | number | boolean>>): string {
  const lines = Object.entries(cards).map(([keyword, value]) => `${keyword.padEnd(8)}= ${valueText(value)}`);
  const text = [...lines, 'END'].map(card => card.padEnd(CARD)).join('');
  return text.padEnd(wholeBlocks(text.length));
}

/** The length of the whole blocks that hold `bytes`. */
export function wholeBlocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

function valueText(value: string | number | boolean): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''").padEnd(8)}'`;
  return (typeof value === 'boolean' ? (value ? 'T' : 'F') : `${value}`).padStart(20);
}
