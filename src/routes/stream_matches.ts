/** GET and POST /api/stream/matches: server-sent events. */
import { setImmediate } from 'node:timers/promises';
import type { FollowedArea } from '../answers/followed_areas.ts';
import { type EventPosition, eventSelection, positionAfter } from '../answers/match_events.ts';
import type { FilterValues } from '../answers/queries.ts';
import { STREAM_PARAMETERS } from '../documents/parameters.ts';
import { clientOf } from '../http/client_address.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { readerOf } from '../http/read_parameters.ts';
import { type Answer, eventResponse } from '../http/respond.ts';
import { SentArea } from '../http/sent_area.ts';
import type { Service } from '../service/service.ts';
import { readArea } from '../vo/areas.ts';

const LAST_EVENT_ID = 'Last-Event-ID';

interface Asked {
  readonly position: EventPosition;
  readonly filters: FilterValues | null;
  readonly level: number;
  readonly radiusArcsec: number | undefined;
}

/** The order of the checks is the contract's (docs/contract.md, Stream of matches). */
export function streamMatches(service: Service): Handler {
  return exchange => {
    const { config, catalogs, matchStreams } = service;
    const { method, search } = exchange;
    const read = readerOf(search, STREAM_PARAMETERS, catalogs);
    const filters = read('filters');
    const lastSequence = matchStreams.lastSequence();
    const position = positionOf(exchange, read('from'), lastSequence);
    const asked = { position, filters, level: read('level'), radiusArcsec: read('radius_arcsec') };
    const hasArea = method === 'POST' || ['area', 'level', 'radius_arcsec'].some(name => search.has(name));
    if (hasArea) return streamInArea(exchange, service, asked);
    return eventResponse(matchStreams.open(position, eventSelection(filters), clientOf(exchange, config)));
  };
}

async function streamInArea(exchange: Exchange, service: Service, asked: Asked): Promise<Answer> {
  const { config, matchStreams, coordination } = service;
  const area = await readFollowed(exchange, service, asked);
  const client = clientOf(exchange, config);
  const slot = await coordination.ask('followArea', { client, bytes: area.region.byteLength }, exchange.budget);
  const leave = () => coordination.leaveArea(slot);
  try {
    return eventResponse(matchStreams.open(asked.position, eventSelection(asked.filters, area), client, leave));
  } catch (error) {
    leave();
    throw error;
  }
}

async function readFollowed(
  exchange: Exchange,
  service: Service,
  { level, radiusArcsec }: Asked,
): Promise<FollowedArea> {
  service.queries.requireRoom(exchange.budget);
  const sent = new SentArea(exchange, service);
  try {
    const digest = await sent.receive(level, radiusArcsec);
    exchange.asked = { area: digest };
    if (radiusArcsec !== undefined) return { digest, region: await sent.discs(radiusArcsec) };
    const content = await sent.content(level);
    const { area } = 'kind' in content ? content : await inParts(readArea(content, level));
    return { digest, region: area.withoutLevels() };
  } finally {
    sent.remove();
  }
}

/** The time after which others have their turn. */
const PART_MS = 2;

async function inParts<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (let beganMs = performance.now(); ; ) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - beganMs < PART_MS) continue;
    await setImmediate();
    beganMs = performance.now();
  }
}

/**
 * The position at which the stream starts. The `Last-Event-ID` header takes precedence, because a client that
 * reconnects repeats its original address.
 */
function positionOf({ request }: Exchange, asked: string, lastSequence: number): EventPosition {
  const lastId = request.headers.get(LAST_EVENT_ID) || undefined;
  const from = lastId ?? asked;
  if (lastId === undefined && from === 'now') return { sequence: lastSequence, objects: 0, matches: 0 };
  if (lastId === undefined && from === 'beginning') return { sequence: 0, objects: 0, matches: 0 };
  const position = positionAfter(from);
  if (position && position.sequence <= lastSequence) return position;
  const [param, others] = lastId === undefined ? ['from', 'now, beginning or '] : [LAST_EVENT_ID, ''];
  const why = `${others}the id of an event that this service has sent, whose first number is at most ${lastSequence}`;
  throw invalidParameter(param, why, from);
}
