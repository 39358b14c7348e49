/** POST /api/area */
import { createHash } from 'node:crypto';
import { areaReadLast } from '../answers/area.ts';
import type { AreaQuery } from '../answers/queries.ts';
import { Budget } from '../base/budget.ts';
import { isGzip } from '../base/bytes.ts';
import { Unavailable } from '../base/refusal.ts';
import { Semaphore } from '../base/semaphore.ts';
import { AREA_RESPONSES, DEFAULT_RESPONSE } from '../contract/enums.ts';
import { DEFAULT_CREDIBLE_LEVEL, MAX_AREA_BYTES } from '../contract/limits.ts';
import { answerQuery, tableFormatOf } from '../http/answer_query.ts';
import { decodeAreaCursor, invalidCursor, withoutCursor } from '../http/cursor.ts';
import { ApiError, missingParameter } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { readBytes } from '../http/json_body.ts';
import { type Bounds, checkName, optionalNumber } from '../http/params.ts';
import { parseSelection, walkedTimeField } from '../http/selection_params.ts';
import { WalkTables } from '../http/walk_table.ts';
import type { Service } from '../service/service.ts';
import { PackedArea } from '../vo/packed_area.ts';

const LEVEL_BOUNDS: Bounds = { min: 0, max: 1, aboveMin: true };
const DIGEST_CHARACTERS = 22;

/** The time to unpack and read a map of one order, which may have gigabytes: a connection is given up after 60 s without a byte. */
const MAP_SECONDS = 55;

export function searchArea(service: Service): Handler {
  const tables = new WalkTables(service);
  const answer = (exchange: Exchange, query: AreaQuery) =>
    query.response === 'table' ? tables.answer(query, tableFormatOf(exchange)) : answerQuery(service, exchange, query);
  // An area takes many times its bytes once it is unpacked.
  const unpacking = new Semaphore(1);
  let isReadingMap = false;
  const answerMap = async (exchange: Exchange, query: AreaQuery, packed: PackedArea) => {
    if (isReadingMap) throw new Unavailable('another map of probability is being read');
    isReadingMap = true;
    try {
      const budget = new Budget(MAP_SECONDS);
      const map = await packed.readMap(() => budget.spent);
      exchange.budget = new Budget(service.config.API_REQUEST_BUDGET_SECONDS);
      return await answer(exchange, { ...query, area: map });
    } finally {
      isReadingMap = false;
    }
  };
  return async exchange => {
    const query = await parse(exchange, service);
    exchange.asked = { area: query.digest };
    const read = areaReadLast(query.digest);
    if (read) return await answer(exchange, { ...query, area: read });
    if (!(query.area instanceof Uint8Array && isGzip(query.area))) return await answer(exchange, query);
    const packed = await PackedArea.open(query.area);
    try {
      if (packed.isMap) return await answerMap(exchange, query, packed);
      return await unpacking.run(1, async () => await answer(exchange, { ...query, area: await packed.readAll() }));
    } finally {
      packed.close();
    }
  };
}

/** The order of the checks is the contract's (docs/contract.md, Areas). */
async function parse(exchange: Exchange, service: Service): Promise<AreaQuery> {
  const { config, catalogs, queries } = service;
  const { search, budget } = exchange;
  const selection = parseSelection(search, config, catalogs);
  const response = checkName('response', AREA_RESPONSES, search.get('response') ?? DEFAULT_RESPONSE);
  const level = optionalNumber(search, 'level', LEVEL_BOUNDS) ?? DEFAULT_CREDIBLE_LEVEL;
  const token = search.get('cursor');
  if (token !== undefined && response !== 'objects') throw withoutCursor(response);
  const cursor = token === undefined ? undefined : decodeAreaCursor(token);
  const timeField = walkedTimeField(search, selection, cursor?.timeField);
  queries.requireRoom(budget);
  const area = await areaOf(exchange);
  const digest = createHash('sha256').update(`${level}\n`).update(area).digest('base64url').slice(0, DIGEST_CHARACTERS);
  if (cursor && cursor.digest !== digest)
    throw invalidCursor('the area or its level is another than that of the page before');
  // A count has no pages, and so no time at which it began.
  const asOfUs = response === 'count' ? Number.POSITIVE_INFINITY : (cursor?.asOfUs ?? service.asOfUs);
  return { kind: 'area', response, ...selection, timeField, area, level, digest, asOfUs, after: cursor ?? null };
}

/** The parameter or the body. */
async function areaOf({ request, search, budget }: Exchange): Promise<Uint8Array> {
  const body = await readBytes(request, budget, MAX_AREA_BYTES);
  const text = search.get('area');
  if (text === undefined && body.length === 0)
    throw missingParameter('area', 'it as the body, or area=CIRCLE 10 -20 1');
  if (text === undefined) return body;
  if (body.length === 0) return new TextEncoder().encode(text);
  const message = 'Cannot search two areas at once: leave out the parameter area, or the body';
  throw new ApiError('invalid_parameter', message, { param: 'area' });
}
