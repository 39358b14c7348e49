/** The catalogs' own sources at a position, for people at a terminal: an alert need not be there. */
import type { Ask } from '../../core/cli/asking.ts';
import { MAX_SOURCES_RADIUS_ARCSEC } from '../../core/contract/limits.ts';
import { searchedWords } from './near_words.js';
import { sourceLines } from './terminal_table.ts';

export const SOURCES_PATH = '/api/sources';
/** Returned instead of sources, if the service has no search for them. */
export const NOT_SEARCHED = `The catalogs were not searched, because the service has no ${SOURCES_PATH}.\n`;
const MAX_LISTED = 20;

/**
 * The nearest sources, and which catalogs were searched, or `NOT_SEARCHED`.
 * @param place degrees
 */
export async function sourcesThere(
  ask: Ask,
  { ra, dec }: { readonly ra: string; readonly dec: string },
  radiusArcsec: string,
): Promise<string> {
  const radius = Number(radiusArcsec) > MAX_SOURCES_RADIUS_ARCSEC ? `${MAX_SOURCES_RADIUS_ARCSEC}` : radiusArcsec;
  const search = { ra, dec, radius_arcsec: radius, limit: `${MAX_LISTED}` };
  const { status, body } = await ask({ path: SOURCES_PATH, search });
  if (status === 404) return NOT_SEARCHED;
  const answer = JSON.parse(Buffer.from(body).toString());
  if (status !== 200) return `The catalogs could not be searched: ${answer.message}\n`;
  const { count, sources, provenance } = answer;
  const { found, outcomes } = searchedWords(answer, `${radius} arcsec`);
  const listed = count > sources.length ? `, of which these are the nearest ${sources.length}` : '';
  return [
    `${found}${listed}\n`,
    ...[...outcomes].map(([outcome, names]) => `${outcome}: ${names.join(', ')}\n`),
    ...(sources.length > 0 ? [sourceLines(sources, provenance.crossmatch_radius_arcsec)] : []),
  ].join('');
}
