/** GET /api/sources */
import { toJson } from '../base/json_text.ts';
import { CATALOGS, type CatalogName } from '../contract/catalogs.ts';
import { DEFAULT_SOURCES_LIMIT, MAX_SOURCES_RADIUS_ARCSEC, SOURCES_LIMIT_RANGE } from '../contract/limits.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Handler } from '../http/exchange.ts';
import {
  type Bounds,
  checkBounds,
  checkName,
  DEC_BOUNDS,
  RA_BOUNDS,
  requiredNumber,
  type Search,
} from '../http/params.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

const RADIUS_BOUNDS: Bounds = { min: 0, max: MAX_SOURCES_RADIUS_ARCSEC, aboveMin: true };

export function nearbySources({ coordination, provenance }: Service): Handler {
  return async ({ search, budget }) => {
    const catalogs = catalogsOf(search);
    const ra = requiredNumber(search, 'ra', RA_BOUNDS);
    const dec = requiredNumber(search, 'dec', DEC_BOUNDS);
    const radiusArcsec = requiredNumber(search, 'radius_arcsec', RADIUS_BOUNDS);
    const limit = limitOf(search);
    const found = await coordination.ask('sources', { ra, dec, radiusArcsec, catalogs, limit }, budget);
    const asked = toJson({ provenance, ra, dec, radius_arcsec: radiusArcsec });
    return jsonResponse(200, `${asked.slice(0, -1)}, ${found.slice(1)}`);
  };
}

/** Every catalog where the request names none. */
function catalogsOf(search: Search): CatalogName[] {
  const name = search.get('catalog');
  return name === undefined ? CATALOGS.map(({ name }) => name) : [checkName('catalog', CATALOGS, name)];
}

function limitOf(search: Search): number {
  const text = search.get('limit');
  if (text === undefined) return DEFAULT_SOURCES_LIMIT;
  if (!/^\d+$/.test(text.trim())) throw invalidParameter('limit', 'an integer', text);
  return checkBounds('limit', Number(text), SOURCES_LIMIT_RANGE);
}
