/**
 * Writes coverage maps (MOC 2.0, IVOA recommendation of 2022-07-27): the cells of a footprint, as FITS, JSON or ASCII.
 */

import { tableHeaders, wholeBlocks } from '@nearsky/astrotables/fits';
import type { Coverage } from '@nearsky/sky-index/areas';

export const MOC_FORMATS = ['fits', 'json', 'txt'] as const;
export type MocFormat = (typeof MOC_FORMATS)[number];

export const MOC_MEDIA_TYPES: Readonly<Record<MocFormat, string>> = {
  fits: 'application/fits',
  json: 'application/json',
  txt: 'text/plain',
};

/**
 * HEALPix NESTED cells, by order from 0 to the order of the map. Four cells that form a larger one are always merged.
 */
export type MocCells = readonly (readonly number[])[];

/** The smallest number of cells that cover exactly these ranges. */
export function mocCells({ order, ranges }: Pick<Coverage, 'order' | 'ranges'>): MocCells {
  const cells: number[][] = Array.from({ length: order + 1 }, () => []);
  for (let i = 0; i < ranges.length; i += 2) {
    const end = ranges[i + 1]!;
    for (let at = ranges[i]!; at < end; ) {
      // The largest cell that starts here and ends within the range.
      let levels = 0;
      while (levels < order && at % 4 ** (levels + 1) === 0 && at + 4 ** (levels + 1) <= end) levels++;
      cells[order - levels]!.push(at / 4 ** levels);
      at += 4 ** levels;
    }
  }
  return cells;
}

export function writeMoc(cells: MocCells, format: MocFormat, name: string): Uint8Array<ArrayBuffer> {
  if (format === 'fits') return mocFits(cells, name);
  return new TextEncoder().encode(format === 'json' ? mocJson(cells) : mocText(cells));
}

/** Every order that has cells, and the highest order, which states the resolution. */
function listedOrders(cells: MocCells): [order: number, cells: readonly number[]][] {
  return [...cells.entries()].filter(([order, { length }]) => length > 0 || order === cells.length - 1);
}

function mocJson(cells: MocCells): string {
  return `{${listedOrders(cells)
    .map(([order, list]) => `"${order}":[${list.join()}]`)
    .join()}}\n`;
}

function mocText(cells: MocCells): string {
  return `${listedOrders(cells)
    .map(([order, list]) => `${order}/${runsOf(list).join(' ')}`)
    .join(' ')}\n`;
}

/** Formats ascending numbers as runs: `5`, `7-9`. */
function runsOf(numbers: readonly number[]): string[] {
  const runs: string[] = [];
  for (let i = 0; i < numbers.length; i++) {
    const first = numbers[i]!;
    while (numbers[i + 1] === numbers[i]! + 1) i++;
    runs.push(first === numbers[i] ? `${first}` : `${first}-${numbers[i]}`);
  }
  return runs;
}

const UNIQ_BYTES = 8;

/**
 * A binary table of NUNIQ numbers, 4^(order + 1) + cell, as 64-bit integers. Readers of MOC 1 know this packing, too.
 * The file states the resolution with both the old and the current keyword.
 */
function mocFits(cells: MocCells, name: string): Uint8Array<ArrayBuffer> {
  const order = cells.length - 1;
  const rows = cells.reduce((sum, { length }) => sum + length, 0);
  const header = tableHeaders(
    { width: UNIQ_BYTES, rows, columns: 1 },
    {
      TTYPE1: 'UNIQ',
      TFORM1: '1K',
      MOCVERS: '2.0',
      MOCDIM: 'SPACE',
      ORDERING: 'NUNIQ',
      COORDSYS: 'C',
      MOCORD_S: order,
      MOCORDER: order,
      MOCTOOL: 'nearsky',
      MOCTYPE: 'CATALOG',
      EXTNAME: name,
    },
  );
  const bytes = new Uint8Array(header.length + wholeBlocks(UNIQ_BYTES * rows));
  new TextEncoder().encodeInto(header, bytes);
  const view = new DataView(bytes.buffer);
  let at = header.length;
  cells.forEach((list, order) => {
    for (const cell of list) {
      view.setBigInt64(at, BigInt(4 ** (order + 1) + cell));
      at += UNIQ_BYTES;
    }
  });
  return bytes;
}
