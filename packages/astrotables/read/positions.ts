/** Finds the columns that hold a table's positions, and their frame, and converts the positions to degrees. */

import type { Cell, Column } from '../columns.ts';
import { describeFrame, type Frame, frameOf, toIcrs } from '../frames.ts';
import { type FrameKind, type NameHints, nameHints } from '../name_hints.ts';
import {
  columnNamed,
  type DeclaredFrame,
  type DescribedTable,
  distinctName,
  type InputTable,
  listOf,
  MAX_NUMBER_CHARACTERS,
  namesIn,
  numberOf,
  OTHER_BASE,
  TableError,
} from './input_table.ts';
import {
  converted,
  errorUnit,
  type FrameSource,
  frameOfPair,
  HOUR,
  type Pair,
  positionUnit,
  UCDS,
} from './position_frame.ts';

/** Indexes of the position columns in the table, and the frame of the positions. */
export interface PositionColumns {
  readonly ra: number;
  /** The same as `ra` if one column holds both. */
  readonly dec: number;
  readonly frame: Frame;
  readonly frameSource: FrameSource;
}

/** The columns and the frame that a request names. */
export interface NamedColumns {
  readonly ra?: string | undefined;
  readonly dec?: string | undefined;
  /** In a form that `frameOf` reads. */
  readonly frame?: string | undefined;
}

/** The usual names of equatorial positions, in pairs; the most certain pair first. */
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
  ['alpha_j2000', 'delta_j2000'],
  ['alphawin_j2000', 'deltawin_j2000'],
  ['right_ascension', 'declination'],
  ['rightascension', 'declination'],
  ['ramean', 'decmean'],
  ['meanra', 'meandec'],
  ['ra_mean', 'dec_mean'],
  ['coord_ra', 'coord_dec'],
  ['alpha', 'delta'],
];
const SKY_NAMES = ['skycoord', 'sky_coord', 'coord', 'coords', 'coordinates', 'position', 'radec', 'ra_dec'];

/**
 * Finds the position columns: those named in the request, else by UCD, else by the usual names; equatorial columns
 * before galactic ones. `frameOfPair` decides their frame.
 * @throws TableError that lists the columns; or that names a frame that cannot be converted, or contradictions
 */
export function findPositions(table: DescribedTable, named: NamedColumns): PositionColumns {
  const [ra, dec] = namedPair(table, named) ?? foundPair(table);
  checkWhole(table, [ra, dec]);
  return { ra, dec, ...frameOfPair(table, [ra, dec], named.frame) };
}

function namedPair({ columns }: DescribedTable, { ra, dec }: NamedColumns): Pair | undefined {
  const named = (param: 'ra' | 'dec', name: string) => columnNamed(columns, name, param);
  if (ra !== undefined) return [named('ra', ra), named('dec', dec ?? ra)];
  if (dec !== undefined) throw new TableError('dec= names a column, but ra= does not: give both', 'dec');
  return undefined;
}

/** @throws TableError if a coordinate is spread over columns such as RAh, RAm and RAs */
function checkWhole({ columns }: DescribedTable, pair: Pair): void {
  const names = new Map(columns.map(({ name }) => [name.toLowerCase(), name]));
  for (const place of pair) {
    const { name } = columns[place]!;
    const [, stem] = /^(.+?)(?:h|d|hours?|hrs?|deg|degrees?)$/i.exec(name) ?? [];
    const parts = ['m', 's'].map(letter => names.get(`${stem}${letter}`.toLowerCase()));
    if (stem !== undefined && parts.every(part => part !== undefined))
      throw new TableError(
        `its columns ${[name, ...parts].map(each => each!.slice(0, 64)).join(', ')} hold the parts of one coordinate: join them into one column`,
      );
  }
}

function foundPair(table: DescribedTable): Pair {
  const { columns, frames, points } = table;
  const hints = columns.map(({ name }) => nameHints(name));
  const stems = hints.map(({ stem }) => stem);
  const ofKind = (kind: FrameKind, isUsed = (_: NameHints) => true) => byHints(hints, kind, isUsed);
  const found =
    equatorialByUcd(columns, hints) ??
    byName(
      hints.map(each => (isModern(each) ? each.stem : '')),
      NAMES,
    ) ??
    byComponents(stems, 'ra', 'dec') ??
    ofKind('equatorial', isModern) ??
    ofKind('equatorial') ??
    one(stems.findIndex(stem => SKY_NAMES.includes(stem))) ??
    one([...(points ?? [])][0]) ??
    pairOf(firstUcd(columns, UCDS.lon), firstUcd(columns, UCDS.lat)) ??
    ofKind('galactic') ??
    byComponents(stems, 'l', 'b');
  if (found) return found;
  const general = ofKind('unknown') ?? byComponents(stems, 'lon', 'lat');
  if (general && frames?.has(general[0])) return general;
  const other = columns.find(({ ucd = '' }) => UCDS.other.test(ucd));
  if (other)
    throw new TableError(
      `its positions are not equatorial or galactic, as the UCD ${other.ucd!.slice(0, 64)} of its column ${other.name.slice(0, 64)} says: send one of these; ${listOf(columns)}`,
    );
  // If the frame cannot be converted, that is the better explanation.
  for (const frame of [...(frames?.values() ?? []), ...(table.declared ?? [])]) converted(frame);
  const unconverted = OTHER_KINDS.map(kind => ofKind(kind)).find(pair => pair !== undefined);
  if (unconverted) frameOfPair(table, unconverted, undefined);
  throw new TableError(`the columns of its positions are not known: name them by ra= and dec=; ${listOf(columns)}`);
}

const OTHER_KINDS: readonly FrameKind[] = ['ecliptic', 'supergalactic', 'horizontal'];

/** Whether the name states no frame, or one of J2000 or later. */
const isModern = ({ system, equinox = 'j2000' }: NameHints) => system !== 'fk4' && /^j?2/.test(equinox);

/** The first longitude and latitude whose names say nothing else, and the same of their frame. */
function byHints(
  hints: readonly NameHints[],
  kind: FrameKind,
  isUsed: (hints: NameHints) => boolean,
): Pair | undefined {
  const placesOf = (axis: 'lon' | 'lat') =>
    hints.flatMap((each, place) =>
      each.axis === axis && each.kind === kind && each.rest === '' && isUsed(each) ? place : [],
    );
  const frameOfName = (place: number) => `${hints[place]!.system} ${hints[place]!.equinox}`;
  const lats = placesOf('lat');
  for (const lon of placesOf('lon')) {
    const lat = lats.find(place => frameOfName(place) === frameOfName(lon));
    if (lat !== undefined) return [lon, lat];
  }
  return undefined;
}

const pairOf = (lon: number, lat: number): Pair | undefined => (lon >= 0 && lat >= 0 ? [lon, lat] : undefined);
const one = (place = -1) => pairOf(place, place);
const firstUcd = (columns: readonly Column[], pattern: RegExp) =>
  columns.findIndex(({ ucd = '' }) => pattern.test(ucd));

/** Positions at an old equinox, such as VizieR's `RAB1950`, have the same UCDs as positions at J2000. */
function equatorialByUcd(columns: readonly Column[], hints: readonly NameHints[]): Pair | undefined {
  const young = columns.map((column, place) => (isModern(hints[place]!) ? column : { ...column, ucd: '' }));
  const place = (...patterns: RegExp[]) =>
    patterns.map(pattern => firstUcd(young, pattern)).find(each => each >= 0) ?? -1;
  return pairOf(
    place(/^pos\.eq\.ra;.*meta\.main/i, /^pos_eq_ra_main$/i, /^pos\.eq\.ra(?:;|$)/i),
    place(/^pos\.eq\.dec;.*meta\.main/i, /^pos_eq_dec_main$/i, /^pos\.eq\.dec(?:;|$)/i),
  );
}

function byName(names: readonly string[], pairs: typeof NAMES): Pair | undefined {
  const pair = pairs.find(([lon, lat]) => names.includes(lon) && names.includes(lat));
  return pair && [names.indexOf(pair[0]), names.indexOf(pair[1])];
}

/** The two columns of a position, named like the components of an astropy SkyCoord: `pos.ra` and `pos.dec`. */
function byComponents(names: readonly string[], lon: string, lat: string): Pair | undefined {
  for (const [place, name] of names.entries()) {
    const stem = name.endsWith(`.${lon}`) ? name.slice(0, -lon.length) : undefined;
    const pair = stem === undefined ? undefined : pairOf(place, names.indexOf(`${stem}${lat}`));
    if (pair) return pair;
  }
  return undefined;
}

/**
 * The 1σ errors of a table's positions along each axis, arcsec, with the factor cos(dec) in the first. A cell that is
 * not a number gives NaN.
 * @param named a number of arcsec for all rows; or the name of a column, or of one for each axis, separated by a comma
 * (see `withColumns`). The unit of a column is that of its unit or name, else arcsec.
 * @throws TableError if a column is missing, or its unit is not an angle
 */
export async function readPositionErrors(table: InputTable, named: string): Promise<Positions> {
  const { rows, columns } = table;
  const param = 'error_arcsec';
  const same = Number(named);
  if (!Number.isNaN(same)) {
    const errors = new Float64Array(rows).fill(same);
    return { ra: errors, dec: errors };
  }
  const places = namesIn(named).map(name => columnNamed(columns, name, param));
  if (places.length === 0 || places.length > 2)
    throw new TableError(`${param}= must be a number, the name of one column, or of two, separated by a comma`, param);
  const scales = places.map(place => errorUnit(columns[place]!));
  const errors = places.map(() => new Float64Array(rows));
  let first = 0;
  for await (const block of table.blocks(places)) {
    for (const [i, cells] of block.cells.entries())
      for (let row = 0; row < block.rows; row++) errors[i]![first + row] = numberIn(cells[row]!) * scales[i]!;
    first += block.rows;
  }
  const [ra, dec = ra] = errors;
  return { ra: ra!, dec: dec! };
}

function numberIn(cell: Cell): number {
  if (cell === null || typeof cell === 'boolean') return Number.NaN;
  if (typeof cell !== 'string') return Number(cell);
  return cell.length > MAX_NUMBER_CHARACTERS ? Number.NaN : decimal(cell.replace(MINUS, '-'));
}

/** Degrees in ICRS; NaN for a cell without a valid value. */
export interface Positions {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/**
 * Makes a function that converts the cells of a row's position to degrees in ICRS; NaN for an invalid position.
 * @throws TableError if a unit is not an angle
 */
export function positionReader(
  { columns }: DescribedTable,
  { ra, dec, frame }: Omit<PositionColumns, 'frameSource'>,
): (ra: Cell, dec: Cell) => readonly [ra: number, dec: number] {
  const readRa = readerOf(columns[ra]!, 'lon', frame.system !== 'GALACTIC');
  const readDec = readerOf(columns[dec]!, 'lat', false);
  const convert = toIcrs(frame);
  return (raCell, decCell) => convert(readRa(raCell), readDec(decCell));
}

export async function readPositions(
  table: InputTable,
  { ra, dec, frame }: Omit<PositionColumns, 'frameSource'>,
): Promise<Positions> {
  const positions = { ra: new Float64Array(table.rows), dec: new Float64Array(table.rows) };
  const isOne = ra === dec;
  const read = positionReader(table, { ra, dec, frame });
  let at = 0;
  for await (const { rows, cells } of table.blocks(isOne ? [ra] : [ra, dec])) {
    const [ras, decs = ras] = cells;
    for (let row = 0; row < rows; row++, at++) {
      const [raCell, decCell] = isOne ? halves(ras![row]!) : [ras![row]!, decs![row]!];
      [positions.ra[at], positions.dec[at]] = read(raCell, decCell);
    }
  }
  return positions;
}

/**
 * @param isRa whether sexagesimal texts without a unit are hours
 * @throws TableError if the unit is not an angle, because the numbers would be taken for wrong positions
 */
function readerOf(column: Column, axis: 'lon' | 'lat', isRa: boolean): (cell: Cell) => number {
  const { factor, stated } = positionUnit(column, axis);
  const degreesOf = (value: number) => {
    if (factor === undefined && !Number.isNaN(value)) throw contradicted(column, `the number ${value}`);
    return value * (factor ?? Number.NaN);
  };
  const read = (cell: Cell) => {
    if (cell === null || typeof cell === 'boolean') return Number.NaN;
    if (typeof cell !== 'string') return degreesOf(Number(cell));
    const plain = Number(cell);
    // Number() converts blanks to 0, too.
    if (plain !== 0 && !Number.isNaN(plain) && !OTHER_BASE.test(cell)) return degreesOf(plain);
    if (cell.length > MAX_NUMBER_CHARACTERS) return Number.NaN;
    const text = cell.replace(MINUS, '-');
    const [, number, mark] = MARKED.exec(text) ?? [];
    if (number !== undefined) return marked(decimal(number), /[hʰ]/i.test(mark!));
    return sexagesimal(text, isRa, stated) ?? degreesOf(decimal(text));
  };
  if (stated !== HOUR) return read;
  return cell => {
    const degrees = read(cell);
    // Degrees in a column of hours: a factor of 15 would turn them into other positions.
    if (Math.abs(degrees) > 24 * HOUR) throw contradicted(column, `${cell}, which is more than 24 hours`);
    return degrees;
  };
}

const contradicted = ({ name, unit = 'hours, by its name' }: Column, found: string) =>
  new TableError(
    `the unit of its column ${name.slice(0, 64)} is ${unit.slice(0, 64)}, but it holds ${found.slice(0, 64)}`,
  );

/**
 * A number with a decimal comma, such as `187,5`. Spreadsheets in German or French write it, with semicolons between
 * columns.
 */
const DECIMAL_COMMA = /^(\s*[+-]?\d+),(\d+(?:e[+-]?\d+)?\s*)$/i;

/** Hyphens, dashes and minus signs that programs write before negative numbers. */
const MINUS = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g;
/** A number with the exponent of Fortran, such as `1.2D+01`. */
const FORTRAN = /^(\s*[+-]?(?:\d+\.?\d*|\.\d+))[dq]([+-]?\d{1,3}\s*)$/i;
/** A number with its unit, such as `12.5°`, `12.5 deg` and `0.8h`. */
const MARKED = /^\s*([+-]?\s*[\d.,]+)\s*([°º˚]|d|deg|degrees?|h|hr|hours?|ʰ)\s*$/i;

/** The number in a text, perhaps with a decimal comma or the exponent of Fortran; NaN if it has none. */
const decimal = (text: string) =>
  numberOf(
    text
      .replace(/^\s*([+-])\s+/, '$1')
      .replace(DECIMAL_COMMA, '$1.$2')
      .replace(FORTRAN, '$1e$2'),
  );

/** Degrees of a number with a mark of its unit, such as `12.5h`; NaN for more than 24 hours. */
function marked(value: number, isHours: boolean): number {
  if (!isHours) return value;
  return Math.abs(value) > 24 ? Number.NaN : value * HOUR;
}

const SEXAGESIMAL =
  /^\s*([+-]?)\s*(\d{1,3})(\s*[hʰ:d°]\s*|\s+)(\d{1,2}(?:\.\d*(?=\s*[mᵐ'′]\s*$))?)(?:(?:\s*[mᵐ:'′]\s*|\s+)(\d{1,2}(?:\.\d*)?)\s*(?:s|ˢ|"|″|''|′′)?|\s*[mᵐ'′])?\s*$/i;

/**
 * Reads the degrees of a text like `12:30:49.42`, `12h30m49.42s` or `-39 15 20`; undefined for any other text. The
 * marks in the text decide whether it is in hours, else the column's unit, else the kind of column. Hours must be below
 * 24, unless the unit is hours.
 * @param stated the degrees of the column's unit, if it has one
 */
function sexagesimal(text: string, isRa: boolean, stated: number | undefined): number | undefined {
  const [, sign, whole, mark, minutes, seconds = '0'] = SEXAGESIMAL.exec(text) ?? [];
  if (whole === undefined || Number(minutes) >= 60 || Number(seconds) >= 60) return undefined;
  const value = Number(whole) + Number(minutes) / 60 + Number(seconds) / 3600;
  const ofMark = /[hʰ]/i.test(mark!) ? HOUR : /[d°]/i.test(mark!) ? 1 : undefined;
  const factor = ofMark ?? stated ?? (isRa ? HOUR : 1);
  if ((factor !== HOUR && factor !== 1) || (factor === HOUR && stated !== HOUR && value >= 24)) return undefined;
  return factor * (sign === '-' ? -value : value);
}

/** Splits a position in one text into its two parts: `187.7 12.39`, `12h30m49s +12d23m28s`, `12 30 49, 12 23 28`. */
function halves(cell: Cell): readonly [Cell, Cell] {
  if (typeof cell !== 'string' || cell.length > MAX_NUMBER_CHARACTERS) return [null, null];
  const text = cell.trim().replace(MINUS, '-');
  const split = /^([^,]+?)\s*,\s*([^,]+)$/.exec(text) ?? /^(.*?\S)\s+([+-].*)$/.exec(text);
  if (split) return [split[1]!, split[2]!];
  const words = text.split(/\s+/);
  const middle = words.length / 2;
  if (!Number.isInteger(middle)) return [null, null];
  return [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}

/**
 * The columns of a table. Coordinate columns in a frame other than ICRS are marked with the frame, even if it cannot be
 * converted.
 */
export function withFrames({ columns, frames }: InputTable, found: PositionColumns | undefined): Column[] {
  const isOther = found !== undefined && found.frame.system !== 'ICRS';
  return columns.map((column, place) => {
    const isPosition = found !== undefined && (place === found.ra || place === found.dec);
    const declared = frames?.get(place);
    const frame = isPosition ? (isOther ? describeFrame(found.frame) : 'ICRS') : declared && frameName(declared);
    return frame === undefined || frame === 'ICRS' ? column : { ...column, frame };
  });
}

/**
 * The table with marked columns. If its positions are in another frame, two columns with the positions in ICRS are
 * added, by these names, or the next ones that are free.
 */
export async function withIcrs(
  table: InputTable,
  icrsNames: { readonly ra: string; readonly dec: string },
): Promise<InputTable> {
  const { found, positions } = (await otherPositions(table)) ?? {};
  const marked = withFrames(table, found);
  const { csvRow: _, stored: __, ...plain } = table;
  if (!found) return { ...table, columns: marked };
  const names = new Set(table.columns.map(({ name }) => name));
  const added = (['ra', 'dec'] as const).map((of): Column => {
    const ucd = `pos.eq.${of}`;
    const description = `${of === 'ra' ? 'Right ascension' : 'Declination'} in ICRS, of positions in ${describeFrame(found.frame)}`;
    return { name: distinctName(icrsNames[of], names), type: 'float64', unit: 'deg', ucd, description };
  });
  const count = table.columns.length;
  return {
    ...plain,
    columns: [...marked, ...added],
    async *blocks(wanted) {
      let first = 0;
      for await (const block of table.blocks(wanted.filter(place => place < count))) {
        const own = [...block.cells];
        const part = (of: 'ra' | 'dec') =>
          Array.from(positions![of].subarray(first, first + block.rows), each => (Number.isNaN(each) ? null : each));
        const cells = wanted.map(place => (place < count ? own.shift()! : part(place === count ? 'ra' : 'dec')));
        first += block.rows;
        yield { rows: block.rows, cells };
      }
    },
  };
}

function frameName({ name, equinox }: DeclaredFrame): string {
  try {
    return describeFrame(frameOf(name, equinox));
  } catch {
    return `${name} ${equinox ?? ''}`.trim().slice(0, 64);
  }
}

/** The table's positions if they are in another frame that can be converted, else undefined. */
async function otherPositions(
  table: InputTable,
): Promise<{ readonly found: PositionColumns; readonly positions: Positions } | undefined> {
  try {
    const found = findPositions(table, {});
    return found.frame.system === 'ICRS' ? undefined : { found, positions: await readPositions(table, found) };
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
}
