/**
 * Reads areas from FITS files: MOCs (MOC 2.0, section 4.2; lists of NUNIQ numbers, or of ranges at order 29),
 * multi-order probability maps as published by the LIGO-Virgo-KAGRA collaboration (columns UNIQ and PROBDENSITY), and
 * maps of a single order.
 */

import {
  type FitsColumn,
  FitsError,
  type FitsTable,
  findHduOf,
  isNumeric,
  isTable,
  itemReader,
  numberReader,
  tableOf,
} from '@nearsky/astrotables/fits';
import { isEquatorial } from '@nearsky/hats/skymap';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import type { ProbabilityPixels } from '@nearsky/sky-index/areas';
import { type AreaError, invalidArea } from '../../core/base/area_error.ts';
import { MAX_AREA_CELLS } from '../../core/contract/limits.ts';
import { FlatMap, isFlatMap, readFlatMap } from './flat_map.ts';
import { MocRanges, tooManyCells } from './moc_ranges.ts';

/** The number of rows that are read between two yields. */
const ROWS_A_YIELD = 1024;

export type FitsArea = MocRanges | ProbabilityPixels;

/**
 * Reads the area in a file's first table. Other work can run at each yield.
 * @param share the fraction of a map's probability that the area must contain; less probable pixels may be left out
 * @throws AreaError
 */
export function* readAreaFits(bytes: Uint8Array, share: number): Generator<undefined, FitsArea, undefined> {
  const table = firstTable(bytes);
  const { header, columns } = table;
  checkFrame(table);
  const ordering = String(header.get('ORDERING') ?? 'none').toUpperCase();
  const numberColumn = (name: string, letters: RegExp) =>
    columns.find(
      each => each.name.toUpperCase() === name && letters.test(each.letter) && each.repeat === 1 && isNumeric(each),
    );
  const density = numberColumn('PROBDENSITY', /[DE]/);
  const uniq = numberColumn('UNIQ', /[JK]/);
  if (density && uniq) return yield* probabilityOf(table, uniq, density);
  if (isFlatMap(table)) return yield* readFlatMap(table, table.view, share);
  const dimension = String(header.get('MOCDIM') ?? 'SPACE').toUpperCase();
  if (dimension !== 'SPACE') throw invalidArea(`a MOC must have the dimension SPACE (${dimension} was found)`);
  const [column] = columns;
  if (!column || !isNumeric(column) || columns.length > 1) throw noArea(ordering);
  if (ordering === 'NUNIQ') return yield* cellsOf(table, column);
  if (ordering === 'RANGE') return yield* rangesOf(table, column);
  throw noArea(ordering);
}

function noArea(ordering: string): AreaError {
  return invalidArea(
    `its first table must be a MOC, a multi-order map with the columns UNIQ and PROBDENSITY, or a map in RING or NESTED order (its ORDERING is ${ordering})`,
  );
}

function checkFrame({ header }: FitsTable): void {
  const frame = String(header.get('COORDSYS') ?? 'C');
  if (!isEquatorial(frame)) throw invalidArea(`its COORDSYS must be equatorial (${frame} was found)`);
}

/**
 * Recognises a single-order map from the beginning of a file, if it is the file's first table. Returns the map and the
 * offset of its rows. Undefined for any other file, or if the table begins later.
 * @throws AreaError
 */
export function flatMapAt(head: Uint8Array): { readonly map: FlatMap; readonly dataStart: number } | undefined {
  try {
    const hdu = findHduOf(head, isTable);
    const table = hdu && tableOf(hdu);
    if (!table || !isFlatMap(table)) return undefined;
    checkFrame(table);
    return { map: new FlatMap(table), dataStart: hdu.dataStart };
  } catch (error) {
    if (error instanceof FitsError) return undefined;
    throw error;
  }
}

/** The first table of a file, and its rows. */
interface AreaTable extends FitsTable {
  readonly view: DataView;
}

function firstTable(bytes: Uint8Array): AreaTable {
  try {
    const hdu = findHduOf(bytes, isTable);
    if (!hdu) throw invalidArea('it has no binary table');
    if (hdu.dataStart + hdu.dataBytes > bytes.length) throw invalidArea('the file ends early: send all of it');
    const table = tableOf(hdu);
    if (table.columns.length === 0) throw invalidArea('its table has no columns');
    return { ...table, view: new DataView(bytes.buffer, bytes.byteOffset + hdu.dataStart, hdu.dataBytes) };
  } catch (error) {
    throw error instanceof FitsError ? invalidArea(error.message) : error;
  }
}

function* cellsOf({ view, rows, width }: AreaTable, column: FitsColumn): Generator<undefined, MocRanges, undefined> {
  const ranges = new MocRanges();
  const integerAt = integerReader(view, column);
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_A_YIELD === 0) yield;
    for (let item = 0; item < column.repeat; item++) {
      const { order, cell } = cellOfUniq(integerAt(row * width, item));
      ranges.add(order, cell, cell);
    }
  }
  return ranges;
}

function* rangesOf({ view, rows, width }: AreaTable, column: FitsColumn): Generator<undefined, MocRanges, undefined> {
  const ranges = new MocRanges();
  const integerAt = integerReader(view, column);
  let first: bigint | undefined;
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_A_YIELD === 0) yield;
    for (let item = 0; item < column.repeat; item++) {
      const bound = integerAt(row * width, item);
      if (first !== undefined) ranges.add(29, first, bound - 1n);
      first = first === undefined ? bound : undefined;
    }
  }
  if (first !== undefined) throw invalidArea('its last range has no end');
  return ranges;
}

function integerReader(view: DataView, column: FitsColumn): (rowOffset: number, item: number) => bigint {
  const read = itemReader(column);
  return (rowOffset, item) => {
    const value = read(view, rowOffset + column.offset, item);
    if (typeof value === 'bigint' || Number.isSafeInteger(value)) return BigInt(value as bigint | number);
    throw invalidArea(`the cells of a MOC must be integers (${value} was found)`);
  };
}

/** The order and the cell of a NUNIQ number, which is 4^(order + 1) + cell. */
function cellOfUniq(uniq: bigint): { order: number; cell: bigint } {
  if (uniq < 4n) throw invalidArea(`NUNIQ numbers must be at least 4 (${uniq} was given)`);
  const high = Number(uniq >> 32n);
  const bits = high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(Number(uniq));
  const order = ((bits - 1) >> 1) - 1;
  return { order, cell: uniq - 4n ** BigInt(order + 1) };
}

function* probabilityOf(
  { view, rows, width }: AreaTable,
  uniqs: FitsColumn,
  densities: FitsColumn,
): Generator<undefined, ProbabilityPixels, undefined> {
  if (rows > MAX_AREA_CELLS) throw tooManyCells();
  const firsts = new Float64Array(rows);
  const ends = new Float64Array(rows);
  const density = new Float64Array(rows);
  const [uniqAt, densityAt] = [numberReader(uniqs), numberReader(densities)];
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_A_YIELD === 0) yield;
    const uniq = uniqAt(view, row * width + uniqs.offset, 0);
    const order = Math.floor(Math.log2(uniq) / 2) - 1;
    if (!(order >= 0 && order <= MAX_AREA_ORDER))
      throw invalidArea(`the pixels of a probability map must have orders 0 to ${MAX_AREA_ORDER} (UNIQ is ${uniq})`);
    const pixels = 4 ** (MAX_AREA_ORDER - order);
    firsts[row] = (uniq - 4 ** (order + 1)) * pixels;
    ends[row] = firsts[row]! + pixels;
    // Avoids -0, because its bits are those of a negative number.
    density[row] = densityAt(view, row * width + densities.offset, 0) + 0;
    if (!(density[row]! >= 0 && density[row]! < Number.POSITIVE_INFINITY))
      throw invalidArea(`a probability density must be a number of at least 0 (${density[row]} was found)`);
  }
  if (!density.some(each => each > 0)) throw invalidArea('it has no pixel with a probability above 0');
  return { firsts, ends, density };
}
