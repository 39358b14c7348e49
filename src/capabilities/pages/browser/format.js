/** Numbers, positions and times as text for people. */
import { separationText } from '../../objects/near_words.js';
import { positionOf, vectorOf } from './projection.js';

/** @param {number} ra degrees @param {number} [digits] of the seconds */
export function sexagesimalRa(ra, digits = 2) {
  const [hours, minutes, seconds] = sixties((ra % 360) / 15, digits);
  // Values that round up to 24 hours become 0.
  return `${hours === '24' ? '00' : hours}ʰ${minutes}ᵐ${seconds}ˢ`;
}

/** @param {number} dec degrees @param {number} [digits] of the seconds */
export function sexagesimalDec(dec, digits = 1) {
  const [degrees, minutes, seconds] = sixties(Math.abs(dec), digits);
  return `${dec < 0 ? '−' : '+'}${degrees}°${minutes}′${seconds}″`;
}

/** @param {number} value @param {number} digits @returns {string[]} */
function sixties(value, digits) {
  const scale = 10 ** digits;
  // Rounded once, as a whole, so that the seconds never show 60.
  const units = Math.round(value * 3600 * scale);
  const parts = [Math.floor(units / (3600 * scale)), Math.floor(units / (60 * scale)) % 60];
  const seconds = ((units % (60 * scale)) / scale).toFixed(digits);
  return [...parts.map(part => `${part}`.padStart(2, '0')), seconds.padStart(digits ? digits + 3 : 2, '0')];
}

/** @param {number} ra @param {number} dec degrees */
export function degrees(ra, dec) {
  return `${ra.toFixed(6)} ${dec < 0 ? '−' : '+'}${Math.abs(dec).toFixed(6)}`;
}

/**
 * A position in the usual form, which every tool can read.
 * @param {number} ra
 * @param {number} dec degrees
 */
export function sexagesimal(ra, dec) {
  const plain = (/** @type {string} */ text) =>
    text
      .replace(/[ʰᵐ°′]/g, ':')
      .replace(/[ˢ″]/g, '')
      .replace('−', '-');
  return `${plain(sexagesimalRa(ra))} ${plain(sexagesimalDec(dec))}`;
}

/**
 * Rows of the matrix from ICRS to Galactic (ESA, The Hipparcos and Tycho Catalogues, 1997, volume 1, section 1.5.3).
 */
const GALACTIC = [
  [-0.0548755604, -0.8734370902, -0.4838350155],
  [0.4941094279, -0.44482963, 0.7469822445],
  [-0.867666149, -0.1980763734, 0.4559837762],
];

/**
 * The ICRS position of galactic coordinates.
 * @param {number} l
 * @param {number} b degrees
 */
export function fromGalactic(l, b) {
  const vector = vectorOf(l, b);
  return positionOf([0, 1, 2].map(i => vector.reduce((sum, each, k) => sum + each * (GALACTIC[k]?.[i] ?? 0), 0)));
}

/** Galactic longitude and latitude, degrees. @param {number} ra @param {number} dec degrees */
export function galactic(ra, dec) {
  const vector = vectorOf(ra, dec);
  const turned = GALACTIC.map(row => row.reduce((sum, each, i) => sum + each * (vector[i] ?? 0), 0));
  const { ra: l, dec: b } = positionOf(turned);
  return { l, b };
}

/** Modified Julian Date, UTC. @param {string} iso a time as the API writes it @param {number} [digits] */
export function mjd(iso, digits = 5) {
  return (Date.parse(iso) / 86_400_000 + 40_587).toFixed(digits);
}

/**
 * A right ascension without trailing zero parts: `4h`, `4h08m`, `4h08m12s`.
 * @param {number} ra degrees
 */
export function hours(ra) {
  const seconds = Math.round((((ra % 360) + 360) % 360) * 240) % 86_400;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (/** @type {number} */ value) => `${value}`.padStart(2, '0');
  return `${h}h${m || s ? `${two(m)}m` : ''}${s ? `${two(s)}s` : ''}`;
}

/**
 * Decimals with a typographic minus.
 * @param {number} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? '−' : ''}${text}`;
}

/**
 * A value with its error. The two significant digits of the error set the decimals of the value.
 * @param {number} value
 * @param {number | undefined} error standard error; undefined if unknown
 * @param {number} [digits] decimals without an error
 * @param {number} [most] the maximum number of decimals
 */
export function measured(value, error, digits = 2, most = 6) {
  if (error === undefined || !(error > 0) || !Number.isFinite(error)) return fixed(value, digits);
  const places = Math.max(0, Math.min(most, 1 - Math.floor(Math.log10(error))));
  // An error below the last decimal must not be shown as 0.
  return `${fixed(value, places)} ± ${fixed(Math.max(error, 10 ** -places), places)}`;
}

/**
 * The time since an event, in one unit.
 * @param {number} seconds
 */
export function ago(seconds) {
  const units = /** @type {const} */ ([
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]);
  const [length, unit] = units.find(([each]) => seconds >= 2 * each) ?? [1, 'second'];
  return counted(Math.max(0, Math.floor(seconds / length)), unit);
}

/** @param {number | null | undefined} arcsec @param {number} [radius] that the text must not seem to lie within */
export function arcsec(arcsec, radius) {
  return arcsec === null || arcsec === undefined ? '–' : `${separationText(arcsec, radius)}″`;
}

/** @param {string | null | undefined} iso a time as the API writes it */
export function time(iso) {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC` : '–';
}

/** @param {number} value */
export function count(value) {
  return `${value}`.replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/**
 * A count with its noun in the singular or plural.
 * @param {number} value
 * @param {string} one
 * @param {string} [many]
 */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/**
 * A value of the catalog, with its original digits.
 * @param {unknown} value
 * @returns {string}
 */
export function payloadText(value) {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return `[${value.map(payloadText).join(', ')}]`;
  if (typeof value !== 'object') return `${value}`;
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}: ${payloadText(each)}`)
    .join(', ')}}`;
}

/** The decimals that a number is shown with if its error is not among the columns, by its unit. @type {Readonly<Record<string, number>>} */
const DECIMALS = { deg: 7, arcsec: 3, mas: 2, mag: 3, 'mas.yr**-1': 2 };
/** The significant digits of other numbers. */
const SIGNIFICANT = 6;

/**
 * A number as it is shown: its last digit is the second that its error changes. Integers stay as they are.
 * @param {string} text @param {string | undefined} unit @param {number} error NaN if unknown
 */
export function rounded(text, unit, error) {
  const value = Number(text);
  if (!/[.e]/i.test(text) || !Number.isFinite(value)) return text;
  const inError = error > 0 ? Math.max(0, 1 - Math.floor(Math.log10(error))) : undefined;
  const decimals = inError ?? (unit === undefined ? undefined : DECIMALS[unit]);
  const short =
    decimals === undefined || decimals > 15 ? `${Number(value.toPrecision(SIGNIFICANT))}` : value.toFixed(decimals);
  return short.length < text.length ? short : text;
}
