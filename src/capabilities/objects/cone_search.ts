/** GET /api/cone */

import { toJson } from '@nearsky/astrotables/json';
import { type CONE_CURSOR, type CursorOf, coneCursor } from '../../core/answers/cursor.ts';
import type { Config } from '../../core/config/config.ts';
import { ANY_NUMBER, DETAIL, radiusKind } from '../../core/documents/kinds.ts';
import { answering } from '../../core/http/answer_query.ts';
import { readCursor, requestedState, requireUnchanged, withoutCursor } from '../../core/http/cursor.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { optional, type Search } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { CONE } from './cone_answer.ts';
import { lookupQuery } from './lookup_request.ts';
import { coneParameters } from './parameters.ts';
import type { ConeQuery, CountQuery, LookupQuery } from './queries.ts';

const ECHOED = ['ra', 'dec', 'radius_arcsec', 'cursor'];

export const coneSearch = answering(parse);

/** Parses the request; the contract defines the order of the checks (docs/contract.md, Cone). */
function parse({ search }: Exchange, service: Service): ConeQuery | CountQuery | LookupQuery {
  const { config, catalogs } = service;
  const read = readerOf(search, coneParameters(config), catalogs);
  const filters = read('filters');
  const response = read('response');
  const at = read('at');
  const token = search.get('cursor');
  const sent = echo(search);
  const circle = () => ({ ra: read('ra'), dec: read('dec'), radiusArcsec: read('radius_arcsec') });
  if (response === 'count') {
    if (token !== undefined) throw withoutCursor('count');
    const input = { kind: 'position', sent, ...circle() } as const;
    const detail = read('detail');
    read('page_size');
    return lookupQuery([input], { detail, filters, response, at }, config);
  }
  const walk =
    token === undefined
      ? { ...circle(), detail: read('detail'), asOfUs: service.asOfUs, after: null, state: requestedState(at) }
      : furtherPage(search, config, token, at);
  return { kind: CONE, sent, ...walk, filters, pageSize: read('page_size') };
}

/** The request's circle or cursor as it was sent: JSON text. */
function echo(search: Search): string {
  let members = '';
  for (const name of ECHOED) {
    const text = search.get(name);
    if (text !== undefined) members += `${members === '' ? '' : ', '}"${name}": ${toJson(text)}`;
  }
  return `{${members}}`;
}

type Walk = Omit<ConeQuery, 'kind' | 'sent' | 'filters' | 'pageSize'>;

function furtherPage(search: Search, config: Config, token: string, at: number | undefined): Walk {
  const cursor = readCursor(coneCursor(radiusKind(config)), token);
  checkUnchanged(search, cursor);
  const { ra, dec, radiusArcsec, detail, asOfUs, timeUs, diaObjectId, archive } = cursor;
  const state = requestedState(at, cursor.at);
  return { ra, dec, radiusArcsec, detail, asOfUs, after: { timeUs, diaObjectId, archive }, state };
}

function checkUnchanged(search: Search, { ra, dec, radiusArcsec, detail }: CursorOf<typeof CONE_CURSOR>): void {
  for (const [name, pinned] of Object.entries({ ra, dec, radius_arcsec: radiusArcsec }))
    requireUnchanged(search, name, optional(search, name, ANY_NUMBER), pinned);
  requireUnchanged(search, 'detail', optional(search, 'detail', DETAIL), detail);
}
