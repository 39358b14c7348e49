/** GET /api/sources */
import { Rendered, toJson } from '../base/json_text.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { named, number } from '../contract/kind.ts';
import { DEFAULT_SOURCES_LIMIT, MAX_SOURCES_RADIUS_ARCSEC, SOURCES_LIMIT_RANGE } from '../contract/limits.ts';
import { clientOf } from '../http/client_address.ts';
import type { Handler } from '../http/exchange.ts';
import { DECLINATION, digits, optional, RIGHT_ASCENSION, required, type Search } from '../http/params.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

const RADIUS = number({ min: 0, max: MAX_SOURCES_RADIUS_ARCSEC, aboveMin: true });
const LIMIT = digits(SOURCES_LIMIT_RANGE);

export function nearbySources(service: Service): Handler {
  return async exchange => {
    const { search, budget } = exchange;
    const { catalogs: known, config, coordination, provenance } = service;
    const catalogs = catalogsOf(search, known);
    const ra = required(search, 'ra', RIGHT_ASCENSION);
    const dec = required(search, 'dec', DECLINATION);
    const radiusArcsec = required(search, 'radius_arcsec', RADIUS);
    const limit = optional(search, 'limit', LIMIT) ?? DEFAULT_SOURCES_LIMIT;
    const client = clientOf(exchange, config);
    const found = await coordination.ask('sources', { client, ra, dec, radiusArcsec, catalogs, limit }, budget);
    const body = {
      provenance,
      ra,
      dec,
      radius_arcsec: radiusArcsec,
      count: found.count,
      truncated: found.count > limit,
      catalogs: new Rendered(found.catalogs),
      sources: new Rendered(found.sources),
    };
    return jsonResponse(200, toJson(body));
  };
}

/** Every catalog where the request names none. */
function catalogsOf(search: Search, { all }: Catalogs): string[] {
  const name = optional(search, 'catalog', named(all));
  return name === undefined ? all.map(({ name }) => name) : [name];
}
