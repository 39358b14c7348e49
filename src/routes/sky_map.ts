/** GET /api/sky-map */
import { DEFAULT_MAP_LAYER, MAP_LAYERS } from '../contract/enums.ts';
import { flag, named, number } from '../contract/kind.ts';
import { DEFAULT_MAP_RESOLUTION, MAP_RESOLUTION_RANGE, MAX_MAP_CELLS, MAX_MAP_RADIUS_DEG } from '../contract/limits.ts';
import { clientOf } from '../http/client_address.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Handler } from '../http/exchange.ts';
import { DECLINATION, digits, optional, RIGHT_ASCENSION, required, type Search } from '../http/params.ts';
import { emptyResponse, isUnchanged, jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';
import { cellsInDisc, type Disc } from '../sky_map/cells.ts';

const LAYER = named(MAP_LAYERS);
const RESOLUTION = digits(MAP_RESOLUTION_RANGE);
const RADIUS = number({ min: 0, max: MAX_MAP_RADIUS_DEG, aboveMin: true });
const PARTIAL = { ...flag(), must: 'one of true, false' };
const DISC = ['ra', 'dec', 'radius_deg'];
/** The time for which a browser need not ask again. */
const MAX_AGE_SECONDS = 5;

export function skyMap(service: Service): Handler {
  return async exchange => {
    const { request, search, budget } = exchange;
    const layer = optional(search, 'layer', LAYER) ?? DEFAULT_MAP_LAYER;
    const resolution = optional(search, 'resolution', RESOLUTION) ?? DEFAULT_MAP_RESOLUTION;
    const disc = DISC.some(name => search.has(name)) ? discOf(search) : null;
    checkCells(resolution, disc);
    const isPartial = optional(search, 'partial', PARTIAL) ?? false;
    const client = clientOf(exchange, service.config);
    const query = { client, layer, resolution, disc, isPartial, provenance: service.provenance };
    const { body, digest, isWhole } = await service.coordination.ask('skyMap', query, budget);
    if (!isWhole) return jsonResponse(200, body, { 'Cache-Control': 'no-store' });
    const caching = { ETag: `"${digest}"`, 'Cache-Control': `max-age=${MAX_AGE_SECONDS}` };
    if (isUnchanged(request, caching.ETag)) return emptyResponse(304, caching);
    return jsonResponse(200, body, caching);
  };
}

function discOf(search: Search): Disc {
  return {
    ra: required(search, 'ra', RIGHT_ASCENSION),
    dec: required(search, 'dec', DECLINATION),
    radiusDeg: required(search, 'radius_deg', RADIUS),
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
