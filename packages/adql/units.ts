/** Conversion between units in the spelling of VOUnits 1.0: `deg`, `mas.yr**-1`, `mas/yr`. */

import { degreesIn } from '@nearsky/astrotables/frames';

/** For each unit, the base unit of its dimension and the factor between them. */
const UNITS: Readonly<Record<string, readonly [base: string, factor: number]>> = {
  arcsec: ['arcsec', 1],
  arcmin: ['arcsec', 60],
  deg: ['arcsec', 3600],
  hourangle: ['arcsec', 54_000],
  rad: ['arcsec', 648_000 / Math.PI],
  s: ['s', 1],
  min: ['s', 60],
  h: ['s', 3600],
  d: ['s', 86_400],
  a: ['s', 31_557_600],
  yr: ['s', 31_557_600],
  m: ['m', 1],
  AU: ['m', 149_597_870_700],
  au: ['m', 149_597_870_700],
  pc: ['m', (149_597_870_700 * 648_000) / Math.PI],
  lyr: ['m', 9_460_730_472_580_800],
  Jy: ['Jy', 1],
  mag: ['mag', 1],
  Hz: ['Hz', 1],
  eV: ['J', 1.602176634e-19],
  J: ['J', 1],
  erg: ['J', 1e-7],
  W: ['W', 1],
  g: ['g', 1],
  K: ['K', 1],
  ct: ['ct', 1],
  count: ['ct', 1],
  photon: ['photon', 1],
  ph: ['photon', 1],
  adu: ['adu', 1],
  pix: ['pix', 1],
  pixel: ['pix', 1],
  '%': ['', 0.01],
};
/** In VOUnits, `mas` is a separate unit. */
const PREFIXED: Readonly<Record<string, string>> = { as: 'arcsec' };
const PREFIXES: Readonly<Record<string, number>> = {
  p: 1e-12,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  c: 1e-2,
  d: 1e-1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
};

interface Unit {
  /** The power of each base unit. */
  readonly powers: ReadonlyMap<string, number>;
  readonly factor: number;
}

/** The factor that converts one unit to another; undefined if they are incompatible. */
export function conversion(from: string, to: string): number | undefined {
  const [a, b] = [unitOf(from), unitOf(to)];
  if (!a || !b) return undefined;
  const bases = new Set([...a.powers.keys(), ...b.powers.keys()]);
  for (const base of bases) if ((a.powers.get(base) ?? 0) !== (b.powers.get(base) ?? 0)) return undefined;
  return a.factor / b.factor;
}

/** Whether a unit is known, and is not the degree. */
export function isOtherThanDegrees(unit: string): boolean {
  const degrees = degreesIn(unit);
  return degrees === undefined ? unitOf(unit) !== undefined : degrees !== 1;
}

/** Undefined if the unit is unknown. */
function unitOf(text: string): Unit | undefined {
  const powers = new Map<string, number>();
  let factor = 1;
  const parts = [...text.trim().matchAll(/(^|[./ *])([A-Za-z%]+)(?:\*\*|\^)?([+-]?\d+)?(?=$|[./ *])/g)];
  if (parts.map(([part]) => part).join('') !== text.trim()) return undefined;
  for (const [, sign, name, exponent = '1'] of parts) {
    const simple = simpleUnit(name!);
    if (!simple) return undefined;
    const power = Number(exponent) * (sign === '/' ? -1 : 1);
    powers.set(simple[0], (powers.get(simple[0]) ?? 0) + power);
    factor *= simple[1] ** power;
  }
  return { powers, factor };
}

function simpleUnit(name: string): readonly [base: string, factor: number] | undefined {
  if (Object.hasOwn(UNITS, name)) return UNITS[name];
  const rest = name.slice(1);
  const unit = Object.hasOwn(PREFIXED, rest) ? PREFIXED[rest]! : rest;
  const [prefix, known] = [PREFIXES[name[0]!], Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined];
  return prefix !== undefined && known ? [known[0], known[1] * prefix] : undefined;
}
