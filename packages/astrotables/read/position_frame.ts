/**
 * Decides the frame and the unit of position columns from everything that states them: the request, the names of the
 * columns, their units and UCDs, and the declarations of the file. Statements that contradict each other are an error
 * that names both.
 */
import type { Column } from '../columns.ts';
import { degreesIn, describeFrame, type Frame, FrameError, frameOf, GALACTIC, ICRS } from '../frames.ts';
import { type FrameKind, type NameHints, nameHints } from '../name_hints.ts';
import { type DeclaredFrame, type DescribedTable, TableError } from './input_table.ts';

/** How the frame of a table's positions was determined. A UCD counts as a declaration. */
export type FrameSource = 'request' | 'declaration' | 'column name' | 'default';

export interface KnownFrame {
  readonly frame: Frame;
  readonly frameSource: FrameSource;
}

/** A longitude and a latitude as indexes of columns; the same index twice if one column holds both. */
export type Pair = readonly [lon: number, lat: number];

export const UCDS = {
  ra: /^pos\.eq\.ra(?:;|$)|^pos_eq_ra(?:_main)?$/i,
  dec: /^pos\.eq\.dec(?:;|$)|^pos_eq_dec(?:_main)?$/i,
  lon: /^pos\.galactic\.lon(?:;|$)|^pos_gal_lon$/i,
  lat: /^pos\.galactic\.lat(?:;|$)|^pos_gal_lat$/i,
  other: /^pos\.(?:ecliptic|supergalactic|az|earth|bodyrc)\b|^pos_(?:ec|sg|az|supgal)_/i,
};

/** The statement of one source about the frame of the positions. */
interface Statement {
  /** The source, for messages: `the names RAB1950 and DEB1950 say`. */
  readonly by: string;
  readonly isGalactic: boolean;
  /** Undefined if any equatorial frame agrees with the statement. */
  readonly frame?: Frame;
}

const quoted = (name: string) => name.slice(0, 64);
const ADVICE = 'state their frame with frame=';

/**
 * The frame of the positions in two columns. The request takes precedence. Otherwise all statements must agree, except
 * that declarations about equatorial positions in general do not concern galactic columns, or columns that have a
 * declaration of their own.
 * @throws TableError for a contradiction, or a frame that cannot be converted
 */
export function frameOfPair(table: DescribedTable, pair: Pair, asked: string | undefined): KnownFrame {
  if (asked !== undefined) return { frame: known(() => frameOf(asked), 'frame'), frameSource: 'request' };
  const columns = pair.map(place => table.columns[place]!);
  const declared = ofColumns(table, pair);
  const ucds = ofUcds(columns);
  const names = ofNames(columns, declared !== undefined);
  agree(declared, ucds, names);
  if (declared) return { frame: declared.frame!, frameSource: 'declaration' };
  if (ucds?.isGalactic) return { frame: GALACTIC, frameSource: 'declaration' };
  if (names?.isGalactic) return { frame: GALACTIC, frameSource: 'column name' };
  const [first, second] = distinctFrames(table.declared ?? []);
  // Names such as RA_ICRS tell which of several declarations is meant.
  if (names?.frame && (second || names.frame.system !== 'ICRS' || !first))
    return { frame: names.frame, frameSource: names.frame.system === 'ICRS' ? 'default' : 'column name' };
  if (!first) return { frame: ICRS, frameSource: 'default' };
  agree(first, second, ucds, names);
  return { frame: first.frame!, frameSource: 'declaration' };
}

/** @throws TableError if two statements contradict each other */
function agree(...statements: readonly (Statement | undefined)[]): void {
  const all = statements.filter(each => each !== undefined);
  for (const [i, a] of all.entries())
    for (const b of all.slice(i + 1)) {
      if (a.isGalactic === b.isGalactic && (!a.frame || !b.frame || isClose(a.frame, b.frame))) continue;
      throw new TableError(`its positions are ${shown(a)} (${a.by}), but ${shown(b)} (${b.by}): ${ADVICE}`);
    }
}

const shown = ({ isGalactic, frame }: Statement) =>
  isGalactic ? 'GALACTIC' : frame ? describeFrame(frame) : 'equatorial';

/** ICRS and FK5 of J2000 differ by 25 mas, and names do not distinguish them. */
const isClose = (a: Frame, b: Frame) =>
  (isJ2000(a) && isJ2000(b)) || (a.system === b.system && a.equinox === b.equinox);
const isJ2000 = ({ system, equinox }: Frame) => system === 'ICRS' || (system === 'FK5' && equinox === 2000);

export function known(read: () => Frame, param?: 'frame'): Frame {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameError) throw new TableError(error.message, param);
    throw error;
  }
}

export function converted({ name, equinox, obstime }: DeclaredFrame): Frame {
  const frame = known(() => frameOf(name, equinox));
  return obstime === undefined ? frame : { ...frame, obstime };
}

const statementOf = (declared: DeclaredFrame, by: string): Statement => {
  const frame = converted(declared);
  return { by: declared.by ?? by, frame, isGalactic: frame.system === 'GALACTIC' };
};

function ofColumns({ columns, frames }: DescribedTable, pair: Pair): Statement | undefined {
  const [lon, lat] = pair.map(place => {
    const declared = frames?.get(place);
    return declared && statementOf(declared, `declared for the column ${quoted(columns[place]!.name)}`);
  });
  agree(lon, lat);
  return lon ?? lat;
}

/** The declarations that differ from the first one, after it. */
function distinctFrames(declared: readonly DeclaredFrame[]): Statement[] {
  const all = declared.map(each => statementOf(each, 'declared in the file'));
  return all.filter((each, i) => i === 0 || describeFrame(each.frame!) !== describeFrame(all[0]!.frame!));
}

function ofUcds(columns: readonly Column[]): Statement | undefined {
  const [lon = '', lat = ''] = columns.map(({ ucd }) => ucd);
  const other = [lon, lat].find(ucd => UCDS.other.test(ucd));
  if (other !== undefined)
    throw new TableError(
      `its positions have the UCD ${quoted(other)}, which is neither equatorial nor galactic: send positions in one of these, or ${ADVICE}`,
    );
  const by = `the UCDs ${quoted(lon)} and ${quoted(lat)}`;
  if (UCDS.lon.test(lon) && UCDS.lat.test(lat)) return { by, isGalactic: true };
  return UCDS.ra.test(lon) && UCDS.dec.test(lat) ? { by, isGalactic: false } : undefined;
}

/** @param isDeclared whether the file declares the frame of the columns, which settles years that may be epochs */
function ofNames(columns: readonly Column[], isDeclared: boolean): Statement | undefined {
  const isOne = columns[0] === columns[1];
  const both = columns.map(({ name }) => nameHints(name));
  const isSure = both.every(({ isWeak }) => !isWeak) || (!isOne && both[0]!.kind === both[1]!.kind);
  const [lon, lat] = columns.map(({ name }, at) => {
    const hints = both[at]!;
    if (hints.isWeak && !isSure) return undefined;
    const axis = (['lon', 'lat'] as const)[at]!;
    if (!isOne && hints.axis !== undefined && hints.axis !== axis)
      throw new TableError(
        `its column ${quoted(name)} is a ${LONG_NAME[hints.axis]} by its name, but ${axis === 'lon' ? 'ra' : 'dec'}= makes it the ${LONG_NAME[axis]}`,
        axis === 'lon' ? 'ra' : 'dec',
      );
    return ofName(name, hints, isDeclared);
  });
  agree(lon, lat);
  const found = lon && lat ? { ...lon, frame: lon.frame ?? lat.frame } : (lon ?? lat);
  if (!found) return undefined;
  const { frame, ...others } = found;
  const by = `by the name ${quoted(columns[0]!.name)}${isOne ? '' : ` or ${quoted(columns[1]!.name)}`}`;
  return { ...others, by, ...(frame && { frame }) };
}

const LONG_NAME = { lon: 'longitude or right ascension', lat: 'latitude or declination' };
const CONVERTED: readonly (FrameKind | undefined)[] = ['equatorial', 'galactic', 'unknown', undefined];

function ofName(name: string, hints: NameHints, isDeclared: boolean): Statement | undefined {
  const { kind, otherKind } = hints;
  const by = `by the name ${quoted(name)}`;
  if (otherKind !== undefined)
    throw new TableError(`the name of its column ${quoted(name)} says both ${kind} and ${otherKind}: ${ADVICE}`);
  if (!CONVERTED.includes(kind))
    throw new TableError(
      `its column ${quoted(name)} is ${kind} by its name, which is not converted: send equatorial or galactic positions, or ${ADVICE}`,
    );
  if (kind === undefined || kind === 'unknown') return undefined;
  if (kind === 'galactic') return { by, isGalactic: true };
  const frame = equatorialFrameOf(name, hints, isDeclared);
  return { by, isGalactic: false, ...(frame && { frame }) };
}

/** From this year on, a year without a letter is more likely an epoch than an equinox. */
const FIRST_EPOCH = 1984;
const J2000 = 2000;

/**
 * The equatorial frame that a name states. `J2000` counts as ICRS, because VizieR uses it for positions in ICRS.
 * @throws TableError if a year in it may be an equinox or an epoch
 */
function equatorialFrameOf(name: string, { system, equinox, isEpoch }: NameHints, isDeclared: boolean) {
  if (system === 'icrs') return ICRS;
  const [, letter = '', digits = ''] = /^([bj]?)(.*)$/.exec(equinox ?? '')!;
  const year = Number(digits);
  if (system !== undefined) return known(() => frameOf(system, isEpoch ? '' : (equinox ?? '')));
  if (equinox === undefined) return undefined;
  if (year === J2000 && letter !== 'b') return ICRS;
  const isOld = letter === 'b' || year < FIRST_EPOCH;
  if (!isEpoch && isOld) return known(() => frameOf(letter === '' ? `b${digits}` : equinox));
  if (year > J2000 && (isEpoch || letter === '')) return undefined;
  if (isDeclared) return undefined;
  throw new TableError(
    `the year ${digits} in the name of its column ${quoted(name)} may be an equinox or an epoch: ${ADVICE}`,
  );
}

/** The units of VizieR's sexagesimal texts. */
const SEXAGESIMAL_UNIT = /^["']?([hd]):?m:?s["']?$/;
/** Degrees. */
export const HOUR = 15;

export interface AngleUnit {
  /** Degrees per unit, for numbers; undefined if the unit is one of sexagesimal texts. */
  readonly factor: number | undefined;
  /** Degrees per unit, for sexagesimal texts; undefined if nothing states the unit. */
  readonly stated: number | undefined;
}

/**
 * The unit of a position's column, by its unit and by its name.
 * @throws TableError if they contradict each other, or the unit is not an angle
 */
export function positionUnit(column: Column, axis: 'lon' | 'lat'): AngleUnit {
  const { name, unit } = statedUnit(column);
  if (unit === '') return { factor: 1, stated: undefined };
  const { factor, mark } = unitIn(name, unit, 'degrees');
  if (axis === 'lat' && factor === HOUR)
    throw new TableError(`its column ${quoted(name)} is a ${LONG_NAME.lat} in hours: send degrees`);
  return { factor: mark === undefined ? factor : undefined, stated: factor };
}

/**
 * The arcsec in a unit of an error's column, by its unit and by its name; arcsec by default.
 * @throws TableError if they contradict each other, or the unit is not an angle
 */
export function errorUnit(column: Column): number {
  const hints = nameHints(column.name);
  // In `e_RAdeg` the unit may be of RA, and `rad` may stand for a radius.
  const isUnsure = !hints.isNoted && (hints.axis !== undefined || hints.units.includes('rad'));
  if (column.unit?.trim() && isUnsure) return ARCSEC_PER_DEGREE * unitIn(column.name, column.unit, 'arcsec').factor;
  if (isUnsure && hints.axis === undefined)
    throw new TableError(
      `the name of its column ${quoted(column.name)} may say radians or a radius: give the column a unit`,
      'error_arcsec',
    );
  const { name, unit } = statedUnit(column, 'error_arcsec');
  return ARCSEC_PER_DEGREE * unitIn(name, unit || 'arcsec', 'arcsec', 'error_arcsec').factor;
}

const ARCSEC_PER_DEGREE = 3600;

function statedUnit(column: Column, param?: 'error_arcsec') {
  const { name, unit = '' } = column;
  const units = [...new Set([unit.trim(), ...nameHints(name).units])].filter(each => each !== '');
  const [first = '', ...others] = units;
  const other = others.find(each => !isSameUnit(each, first));
  if (other === undefined) return { name, unit: first };
  throw new TableError(
    `the unit of its column ${quoted(name)} is ${quoted(first)}, but its name says ${quoted(other)}: rename the column, or correct its unit`,
    param,
  );
}

function sexagesimalFactor(unit: string): number | undefined {
  const [, mark] = SEXAGESIMAL_UNIT.exec(unit.trim().toLowerCase()) ?? [];
  return mark === undefined ? undefined : mark === 'h' ? HOUR : 1;
}

const factorOf = (unit: string) => sexagesimalFactor(unit) ?? degreesIn(unit);

const isSameUnit = (a: string, b: string) => factorOf(a) === factorOf(b) && (factorOf(a) !== undefined || a === b);

function unitIn(name: string, unit: string, usual: string, param?: 'error_arcsec') {
  const mark = sexagesimalFactor(unit);
  const factor = mark ?? degreesIn(unit);
  if (factor !== undefined) return { factor, mark };
  throw new TableError(
    `the unit of its column ${quoted(name)} is ${quoted(unit)}, which is not a known unit of angles: send ${usual}`,
    param,
  );
}
