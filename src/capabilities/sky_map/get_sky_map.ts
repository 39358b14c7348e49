/** GET /api/sky-map */

import { MAX_MAP_CELLS, MAX_MAP_RADIUS_DEG } from '../../core/contract/limits.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { Handler } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { emptyResponse, isUnchanged, jsonResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { cellsInDisc, type Disc } from './cells.ts';
import { SKY_MAP } from './channel.ts';
import { SKY_MAP_PARAMETERS } from './parameters.ts';

const DISC = ['ra', 'dec', 'radius_deg'];
/** How long a browser may cache the answer. */
const MAX_AGE_SECONDS = 5;

export function skyMap(service: Service): Handler {
  return async exchange => {
    const { request, search, budget } = exchange;
    const read = readerOf(search, SKY_MAP_PARAMETERS, service.catalogs);
    const layer = read('layer');
    const resolution = read('resolution');
    const disc = DISC.some(name => search.has(name))
      ? { ra: read('ra'), dec: read('dec'), radiusDeg: read('radius_deg') }
      : null;
    checkCells(resolution, disc);
    const isPartial = read('partial');
    const client = exchange.client;
    const query = { client, layer, resolution, disc, isPartial, provenance: service.provenance };
    const { body, digest, isWhole } = await service.coordination.ask(SKY_MAP, query, budget);
    if (!isWhole) return jsonResponse(200, body, { 'Cache-Control': 'no-store' });
    const caching = { ETag: `"${digest}"`, 'Cache-Control': `max-age=${MAX_AGE_SECONDS}` };
    if (isUnchanged(request, caching.ETag)) return emptyResponse(304, caching);
    return jsonResponse(200, body, caching);
  };
}

function checkCells(resolution: number, disc: Disc | null): void {
  const fits = (finer: number) => cellsInDisc(finer, disc?.radiusDeg ?? MAX_MAP_RADIUS_DEG) <= MAX_MAP_CELLS;
  if (fits(resolution)) return;
  let finest = resolution - 1;
  while (!fits(finest)) finest--;
  const where = disc ? 'in so large a disc' : 'without a disc (ra, dec, radius_deg)';
  throw invalidParameter('resolution', `at most ${finest} ${where}`, resolution);
}
