/**
 * Reads the frame from the keywords RADESYS, EQUINOX and EPOCH of FITS, wherever programs copy them: headers, the
 * metadata of ECSV and Parquet, parameters of VOTables and keywords of IPAC tables.
 */
import type { DeclaredFrame } from './input_table.ts';

/** `EPOCH` is the old name of EQUINOX, RADECSYS that of RADESYS (FITS standard 4.0, section 8.3). */
export const FRAME_KEYWORDS: readonly string[] = ['RADESYS', 'RADECSYS', 'EQUINOX', 'EPOCH'];
/** From this year on, an equinox means FK5 if the file names no system (FITS standard 4.0, section 8.3). */
const FIRST_FK5 = 1984;
const J2000 = 2000;

/**
 * The frame that the keywords declare; none if they do not occur.
 * @param found keywords and their values. Others are ignored, as is `epoch` in lower case, which is a date elsewhere
 */
export function framesOfKeywords(found: Iterable<readonly [keyword: string, value: string]>): DeclaredFrame[] {
  const values = new Map<string, string>();
  for (const [keyword, value] of found) {
    const name = keyword.toUpperCase();
    if (name !== 'EPOCH' || keyword === name) values.set(name, value.trim());
  }
  const [radesys, radecsys, stated, epoch] = FRAME_KEYWORDS.map(keyword => values.get(keyword) || undefined);
  const system = radesys ?? radecsys;
  const equinox = stated ?? equinoxOf(epoch, system);
  if (system === undefined && equinox === undefined) return [];
  const by = [
    ...(system === undefined ? [] : [`RADESYS=${system}`]),
    ...(equinox === undefined ? [] : [`${stated === undefined ? 'EPOCH' : 'EQUINOX'}=${equinox}`]),
  ].join(', ');
  const [, letter = '', year] = /^([bj]?)\s*(.*)$/i.exec(equinox ?? '')!;
  if (stated === undefined && system === undefined && Number(year) >= FIRST_FK5 && Number(year) < J2000)
    return [{ name: `of EPOCH=${equinox}, an equinox or a date of observation,`, by }];
  const isFk4 = letter === '' ? Number(year) < FIRST_FK5 : /b/i.test(letter);
  const name = system ?? (isFk4 ? 'FK4' : 'FK5');
  return [{ name, by, ...(equinox !== undefined && { equinox: `${letter}${Number(year)}` }) }];
}

/** EPOCH as an equinox. A later year is the date of the observation, and so is any year beside ICRS. */
function equinoxOf(epoch: string | undefined, system: string | undefined): string | undefined {
  const year = Number(epoch?.replace(/^[bj]\s*/i, ''));
  const isEquinox = year <= J2000 && (system === undefined || /^fk[45]$/i.test(system));
  return isEquinox ? epoch : undefined;
}
