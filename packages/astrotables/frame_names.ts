/** Recognises frames by the names of columns. */
import { type Frame, frameOf, GALACTIC } from './frames.ts';

/** Pairs of names in lower case, the most certain pair first. */
export const GALACTIC_NAMES: readonly (readonly [lon: string, lat: string])[] = [
  ['glon', 'glat'],
  ['_glon', '_glat'],
  ['gal_lon', 'gal_lat'],
  ['gal_long', 'gal_lat'],
  ['gal_l', 'gal_b'],
  ['l_gal', 'b_gal'],
  ['gallon', 'gallat'],
  ['lii', 'bii'],
  ['galactic_l', 'galactic_b'],
  ['galactic_longitude', 'galactic_latitude'],
  ['l', 'b'],
];

/**
 * The frame that the names of two columns state: `GLON` and `l` are galactic, `RAB1950` is FK4 of B1950, `RAJ1975` FK5
 * of J1975; undefined if they state none. `J2000` in a name states none either, because VizieR uses it for positions in
 * ICRS.
 */
export function frameOfNames(lon: string, lat: string): Frame | undefined {
  const names = [lon, lat].map(name => name.trim().toLowerCase());
  const ends = names.map(name => name.split('.').at(-1)!);
  if (GALACTIC_NAMES.some(pair => ends.every((end, i) => end === pair[i]))) return GALACTIC;
  const equinoxes = names.map(name => /[bj](?:18|19|20)\d\d(?:\.\d+)?/.exec(name)?.[0]);
  const [equinox, other] = equinoxes;
  if (equinox === undefined || equinox !== other || equinox === 'j2000') return undefined;
  return frameOf(equinox);
}
