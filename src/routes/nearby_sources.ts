/** GET /api/sources */
import { Rendered, toJson } from '@nearsky/astrotables/json';
import { sourcesParameters } from '../documents/parameters.ts';
import type { Handler } from '../http/exchange.ts';
import { readerOf } from '../http/read_parameters.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function nearbySources(service: Service): Handler {
  return async exchange => {
    const { search, budget } = exchange;
    const { catalogs: known, config, coordination, provenance } = service;
    const read = readerOf(search, sourcesParameters(known), known);
    const catalog = read('catalog');
    const [ra, dec, radiusArcsec, limit] = [read('ra'), read('dec'), read('radius_arcsec'), read('limit')];
    const client = exchange.client;
    const errorArcsec = read('error_arcsec');
    const { MATCH_PRIOR_COMPLETENESS: priorCompleteness, CROSSMATCH_PROPER_MOTION: areMoved } = config;
    const asked = { client, ra, dec, radiusArcsec, errorArcsec, priorCompleteness, areMoved, catalog, limit };
    const found = await coordination.ask('sources', asked, budget);
    const body = {
      // The thread that searches may know newer catalogs.
      provenance: { ...provenance, catalogs: found.releases },
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
