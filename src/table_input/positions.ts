/** The columns of a table that hold its positions, and what they say in degrees. */
import type { Cell, Column } from '../tables/columns.ts';
import { type InputTable, MAX_NUMBER_CHARACTERS, numberOf, OTHER_BASE, TableError } from './input_table.ts';

/** Places in the table's columns. */
export interface PositionColumns {
  readonly ra: number;
  /** The same as `ra` where one column holds both. */
  readonly dec: number;
}

export interface NamedColumns {
  readonly ra?: string | undefined;
  readonly dec?: string | undefined;
}

/** The usual names, in pairs, the surest ones first. */
const NAMES: readonly (readonly [ra: string, dec: string])[] = [
  ['ra_icrs', 'de_icrs'],
  ['ra_icrs', 'dec_icrs'],
  ['_raj2000', '_dej2000'],
  ['raj2000', 'dej2000'],
  ['ra_j2000', 'dec_j2000'],
  ['raj2000', 'decj2000'],
  ['ra', 'dec'],
  ['ra_deg', 'dec_deg'],
  ['radeg', 'decdeg'],
  ['radeg', 'dedeg'],
  ['ra', 'de'],
  ['s_ra', 's_dec'],
  ['_ra', '_de'],
  ['ra2000', 'dec2000'],
  ['ra2000', 'de2000'],
  ['coord.ra', 'coord.dec'],
  ['alpha_j2000', 'delta_j2000'],
  ['alphawin_j2000', 'deltawin_j2000'],
  ['right_ascension', 'declination'],
  ['rightascension', 'declination'],
  ['ramean', 'decmean'],
  ['meanra', 'meandec'],
  ['ra_mean', 'dec_mean'],
  ['coord_ra', 'coord_dec'],
  ['alpha', 'delta'],
  ['lon', 'lat'],
];
const SKY_NAMES = ['skycoord', 'sky_coord', 'coord', 'coords', 'coordinates', 'position', 'radec', 'ra_dec'];

/**
 * By UCD, then by the usual names, unless a request names them.
 * @throws TableError that lists the columns
 */
export function findPositions({ columns }: InputTable, { ra, dec }: NamedColumns): PositionColumns {
  const list = () => {
    const names = columns.slice(0, 50).map(({ name }) => name.slice(0, 64));
    return `its columns are ${names.join(', ')}${columns.length > names.length ? ', ...' : ''}`;
  };
  const named = (param: 'ra' | 'dec', name: string) => {
    const exact = columns.findIndex(column => column.name === name);
    const place = exact >= 0 ? exact : columns.findIndex(column => column.name.toLowerCase() === name.toLowerCase());
    if (place < 0)
      throw new TableError(`it has no column ${name.slice(0, 64)}, which ${param}= names: ${list()}`, param);
    return place;
  };
  if (ra !== undefined) return { ra: named('ra', ra), dec: named('dec', dec ?? ra) };
  if (dec !== undefined) throw new TableError('dec= names a column, and ra= none: give both', 'dec');
  const found = byUcd(columns) ?? byName(columns);
  if (found) return found;
  throw new TableError(`the columns of its positions are not known: name them by ra= and dec=; ${list()}`);
}

/** VizieR gives positions of B1950 the same UCDs. Taken for ICRS, they would be other places. */
const OTHER_EQUINOX = /b?1(?:855|875|900|950)/i;

function byUcd(columns: readonly Column[]): PositionColumns | undefined {
  const place = (ucd1: string, main: RegExp, ucd: RegExp) => {
    const ucds = columns.map(({ name, ucd }) => (OTHER_EQUINOX.test(name) ? '' : (ucd ?? '').toLowerCase()));
    const places = [
      ucds.findIndex(each => main.test(each)),
      ucds.indexOf(ucd1),
      ucds.findIndex(each => ucd.test(each)),
    ];
    return places.find(each => each >= 0) ?? -1;
  };
  const ra = place('pos_eq_ra_main', /^pos\.eq\.ra;.*meta\.main/, /^pos\.eq\.ra(?:;|$)/);
  const dec = place('pos_eq_dec_main', /^pos\.eq\.dec;.*meta\.main/, /^pos\.eq\.dec(?:;|$)/);
  return ra >= 0 && dec >= 0 ? { ra, dec } : undefined;
}

function byName(columns: readonly Column[]): PositionColumns | undefined {
  const names = columns.map(({ name }) => name.toLowerCase());
  for (const [ra, dec] of NAMES)
    if (names.includes(ra) && names.includes(dec)) return { ra: names.indexOf(ra), dec: names.indexOf(dec) };
  const both = SKY_NAMES.find(name => names.includes(name));
  return both === undefined ? undefined : { ra: names.indexOf(both), dec: names.indexOf(both) };
}

/** Degrees; NaN where a cell says none. */
export interface Positions {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

export async function readPositions(table: InputTable, { ra, dec }: PositionColumns): Promise<Positions> {
  const positions = { ra: new Float64Array(table.rows), dec: new Float64Array(table.rows) };
  const isOne = ra === dec;
  const readRa = readerOf(table.columns[ra]!, true);
  const readDec = readerOf(table.columns[dec]!, false);
  let at = 0;
  for await (const { rows, cells } of table.blocks(isOne ? [ra] : [ra, dec])) {
    const [ras, decs = ras] = cells;
    for (let row = 0; row < rows; row++, at++) {
      const [raCell, decCell] = isOne ? halves(ras![row]!) : [ras![row]!, decs![row]!];
      positions.ra[at] = readRa(raCell);
      positions.dec[at] = readDec(decCell);
    }
  }
  return positions;
}

const DEGREES_PER_RADIAN = 180 / Math.PI;
/** Units in degrees. A number may stand before a unit: astropy writes hours as `15deg`. */
const SCALES: readonly (readonly [unit: RegExp, factor: number])[] = [
  [/^$|^deg|^°/, 1],
  [/^rad(?:ians?)?$/, DEGREES_PER_RADIAN],
  [/^(?:h|hr|hours?|hourangle)$/, 15],
  [/^arcmin$/, 1 / 60],
  [/^arcsec$/, 1 / 3600],
  [/^mas$/, 1 / 3_600_000],
  [/^uas$/, 1 / 3_600_000_000],
];
/** The units of VizieR's sexagesimal texts. */
const SEXAGESIMAL_UNIT = /^["']?[hd]:?m:?s["']?$/;

/** @throws TableError where the unit is none of an angle: its numbers would be taken for other places */
function readerOf({ name, unit = '' }: Column, isRa: boolean): (cell: Cell) => number {
  const plain = unit.trim().toLowerCase();
  const factor = SEXAGESIMAL_UNIT.test(plain) ? 1 : factorOf(plain);
  if (factor === undefined)
    throw new TableError(
      `the unit of its column ${name.slice(0, 64)} is ${unit.slice(0, 64)}, which is no known unit of angles: send degrees`,
    );
  const isHours = isRa && !/d:?m/.test(plain);
  return cell => {
    if (cell === null || typeof cell === 'boolean') return Number.NaN;
    if (typeof cell !== 'string') return Number(cell) * factor;
    const plain = Number(cell);
    // Blanks are 0, too.
    if (plain !== 0 && !Number.isNaN(plain) && !OTHER_BASE.test(cell)) return plain * factor;
    if (cell.length > MAX_NUMBER_CHARACTERS) return Number.NaN;
    return sexagesimal(cell, isHours) ?? numberOf(cell.replace(DECIMAL_COMMA, '$1.$2')) * factor;
  };
}

/** Degrees of a unit; undefined where it is none of an angle. */
function factorOf(unit: string): number | undefined {
  const [, scale, base] = /^(\d[\d.]*(?:e[+-]?\d+)?)?\s*(.*)$/.exec(unit)!;
  const factor = SCALES.find(([pattern]) => pattern.test(base!))?.[1];
  return factor === undefined || scale === undefined ? factor : Number(scale) * factor;
}

/** A number such as `187,5`: spreadsheets set to German or French, for example, write it so, with semicolons between columns. */
const DECIMAL_COMMA = /^(\s*[+-]?\d+),(\d+\s*)$/;

const SEXAGESIMAL =
  /^\s*([+\-\u2212]?)\s*(\d{1,3})(\s*[hʰ:d°]\s*|\s+)(\d{1,2}(?:\.\d*(?=\s*[mᵐ'′]\s*$))?)(?:(?:\s*[mᵐ:'′]\s*|\s+)(\d{1,2}(?:\.\d*)?)\s*(?:s|ˢ|"|″|''|′′)?|\s*[mᵐ'′])?\s*$/i;

/** Degrees of a text like `12:30:49.42`, `12h30m49.42s` or `-39 15 20`; undefined where the text is another one. */
function sexagesimal(text: string, isHours: boolean): number | undefined {
  const [, sign, whole, mark, minutes, seconds = '0'] = SEXAGESIMAL.exec(text) ?? [];
  if (whole === undefined || Number(minutes) >= 60 || Number(seconds) >= 60) return undefined;
  const value = Number(whole) + Number(minutes) / 60 + Number(seconds) / 3600;
  const isInHours = /[hʰ]/i.test(mark!) || (isHours && !/[d°]/i.test(mark!));
  return (isInHours ? 15 : 1) * (sign === '-' || sign === '\u2212' ? -value : value);
}

/** The two parts of a position in one text: `187.7 12.39`, `12h30m49s +12d23m28s`, `12 30 49, 12 23 28`. */
function halves(cell: Cell): readonly [Cell, Cell] {
  if (typeof cell !== 'string' || cell.length > MAX_NUMBER_CHARACTERS) return [null, null];
  const text = cell.trim();
  const split = /^([^,]+?)\s*,\s*([^,]+)$/.exec(text) ?? /^(.*?\S)\s+([+\-\u2212].*)$/.exec(text);
  if (split) return [split[1]!, split[2]!];
  const words = text.split(/\s+/);
  const middle = words.length / 2;
  if (!Number.isInteger(middle)) return [null, null];
  return [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}
