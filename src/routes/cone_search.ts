/** GET /api/cone */

import { toJson } from '@nearsky/astrotables/json';
import { type CONE_CURSOR, type CursorOf, coneCursor } from '../answers/cursor.ts';
import type { ConeQuery, Query } from '../answers/queries.ts';
import type { Config } from '../config/config.ts';
import { ANY_NUMBER, DETAIL, radiusKind } from '../documents/kinds.ts';
import { coneParameters } from '../documents/parameters.ts';
import { answering } from '../http/answer_query.ts';
import { readCursor, requestedState, withoutCursor } from '../http/cursor.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { lookupQuery } from '../http/lookup_request.ts';
import { optional, type Search } from '../http/params.ts';
import { readerOf } from '../http/read_parameters.ts';
import type { Service } from '../service/service.ts';

const ECHOED = ['ra', 'dec', 'radius_arcsec', 'cursor'];

export const coneSearch = answering(parse);

/** Parses the request; the contract defines the order of the checks (docs/contract.md, Cone). */
function parse({ search }: Exchange, service: Service): Query {
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
    return lookupQuery([input], { detail: read('detail'), filters, response, at }, config);
  }
  const walk =
    token === undefined
      ? { ...circle(), detail: read('detail'), asOfUs: service.asOfUs, after: null, state: requestedState(at) }
      : furtherPage(search, config, token, at);
  return { kind: 'cone', sent, ...walk, filters, pageSize: read('page_size') };
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

/** Checks parameters that the cursor fixes: they may be repeated, but not changed. */
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
