/** GET /api/sources */

import { Rendered, toJson } from '@nearsky/astrotables/json';
import { formatAsked } from '../../core/http/answer_query.ts';
import type { Handler } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { answerList } from '../tables/answer_list.ts';
import { sourceTable } from '../tables/source_table.ts';
import { SOURCES } from './channel.ts';
import { sourcesParameters } from './parameters.ts';

export function nearbySources(service: Service): Handler {
  return async exchange => {
    const { search, budget } = exchange;
    const { catalogs: known, config, coordination, provenance } = service;
    const read = readerOf(search, sourcesParameters(known), known);
    const catalog = read('catalog');
    formatAsked(exchange);
    const [ra, dec, radiusArcsec, limit] = [read('ra'), read('dec'), read('radius_arcsec'), read('limit')];
    const client = exchange.client;
    const errorArcsec = read('error_arcsec');
    const { MATCH_PRIOR_COMPLETENESS: priorCompleteness } = config;
    const asked = { client, ra, dec, radiusArcsec, errorArcsec, priorCompleteness, catalog, limit };
    const found = await coordination.ask(SOURCES, asked, budget);
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
    const all = known.all.filter(({ name }) => (catalog ?? name) === name);
    const answer = await answerList(exchange, config, toJson(body), 'sources', () => sourceTable(all));
    const outcomes = found.outcomes.map(({ catalog_name, outcome }) => `${catalog_name}=${outcome}`).join(', ');
    return { ...answer, headers: { ...answer.headers, 'X-Catalog-Outcomes': outcomes } };
  };
}
