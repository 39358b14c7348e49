/** GET /api/cone */
import { type CONE_CURSOR, type CursorOf, coneCursor } from '../answers/cursor.ts';
import type { ConeQuery, Query } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import type { Config } from '../config/config.ts';
import { defaultConePageSize } from '../config/limits.ts';
import { answerQuery } from '../http/answer_query.ts';
import { readCursor, withoutCursor } from '../http/cursor.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Handler } from '../http/exchange.ts';
import { parseFilters } from '../http/filters.ts';
import {
  ANY_NUMBER,
  DECLINATION,
  DETAIL,
  optional,
  parseDetail,
  parsePageSize,
  parseResponse,
  RIGHT_ASCENSION,
  radiusKind,
  required,
  type Search,
} from '../http/params.ts';
import { lookupQuery } from '../http/shared_params.ts';
import type { Service } from '../service/service.ts';

const ECHOED = ['ra', 'dec', 'radius_arcsec', 'cursor'];

export function coneSearch(service: Service): Handler {
  return exchange => answerQuery(service, exchange, parse(exchange.search, service));
}

/** The order of the checks is the contract's (docs/contract.md, Cone). */
function parse(search: Search, service: Service): Query {
  const { config, catalogs } = service;
  const filters = parseFilters(search, catalogs);
  const response = parseResponse(search);
  const token = search.get('cursor');
  const sent = echo(search);
  if (response === 'count') {
    if (token !== undefined) throw withoutCursor('count');
    const { detail, ...circle } = circleOf(search, config);
    return lookupQuery([{ kind: 'position', sent, ...circle }], { detail, filters, response }, config);
  }
  const walk =
    token === undefined
      ? { ...circleOf(search, config), asOfUs: service.asOfUs, after: null }
      : furtherPage(search, config, token);
  const pageSize = parsePageSize(search, defaultConePageSize(config), config.API_MAX_OBJECTS_PER_REQUEST);
  return { kind: 'cone', sent, ...walk, filters, pageSize };
}

/** The circle or the page as it was sent: JSON text. */
function echo(search: Search): string {
  let members = '';
  for (const name of ECHOED) {
    const text = search.get(name);
    if (text !== undefined) members += `${members === '' ? '' : ', '}"${name}": ${toJson(text)}`;
  }
  return `{${members}}`;
}

function circleOf(search: Search, config: Config) {
  return {
    ra: required(search, 'ra', RIGHT_ASCENSION),
    dec: required(search, 'dec', DECLINATION),
    radiusArcsec: required(search, 'radius_arcsec', radiusKind(config)),
    detail: parseDetail(search),
  };
}

type Walk = Omit<ConeQuery, 'kind' | 'sent' | 'filters' | 'pageSize'>;

function furtherPage(search: Search, config: Config, token: string): Walk {
  const cursor = readCursor(coneCursor(radiusKind(config)), token);
  checkUnchanged(search, cursor);
  const { ra, dec, radiusArcsec, detail, asOfUs, timeUs, diaObjectId, archive } = cursor;
  return { ra, dec, radiusArcsec, detail, asOfUs, after: { timeUs, diaObjectId, archive } };
}

/** Parameters that the cursor fixes may be repeated, but not changed. */
function checkUnchanged(search: Search, cursor: CursorOf<typeof CONE_CURSOR>): void {
  const pinned = [
    ['ra', cursor.ra],
    ['dec', cursor.dec],
    ['radius_arcsec', cursor.radiusArcsec],
  ] as const;
  for (const [name, value] of pinned) {
    if ((optional(search, name, ANY_NUMBER) ?? value) !== value)
      throw invalidParameter(name, `${value}, as in the cursor`, search.get(name)!);
  }
  const detail = optional(search, 'detail', DETAIL) ?? cursor.detail;
  if (detail !== cursor.detail) throw invalidParameter('detail', `${cursor.detail}, as in the cursor`, detail);
}
