/** GET and POST /api/stream/matches and /api/stream/objects: server-sent events. */

import { setImmediate } from 'node:timers/promises';
import { memoized } from '../../core/base/memoized.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { eventResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { SentArea } from '../areas/sent_area.ts';
import { readArea } from '../catalogs/read_area.ts';
import { FOLLOW_AREA } from './area_slots.ts';
import { EventStreams } from './event_streams.ts';
import type { EventKind } from './event_test.ts';
import type { FollowedArea } from './followed_areas.ts';
import { OBJECT_STREAM_PARAMETERS } from './parameters.ts';
import { type EventPosition, eventSelection, positionAfter } from './stream_events.ts';

const LAST_EVENT_ID = 'Last-Event-ID';

export const streamMatches = (service: Service) => streamOf('matches', service);
export const streamObjects = (service: Service) => streamOf('objects', service);

/** The clients of both streams share their limits. */
const eventStreamsOf = memoized((service: Service) => {
  const { config, coordination, metrics, log } = service;
  const [store, fragments, count] = [() => service.store, () => service.fragments, service.count.bind(service)];
  const streams = new EventStreams({ config, coordination, metrics, log, store, fragments, count });
  service.onStop(() => streams.close());
  return streams;
});

/** The order of the checks is the contract's (docs/contract.md, Stream of matches). */
function streamOf(kind: EventKind, service: Service): Handler {
  const eventStreams = eventStreamsOf(service);
  return exchange => {
    const { catalogs, coordination } = service;
    const { method, search } = exchange;
    const read = readerOf(search, OBJECT_STREAM_PARAMETERS, catalogs);
    const filters = read('filters');
    const status = kind === 'objects' ? read('status') : undefined;
    const lastSequence = eventStreams.lastSequence();
    // Another node may have sent the id.
    const mayBeFurther = coordination.state.hasLog;
    const position = positionOf(exchange, read('from'), lastSequence, mayBeFurther);
    const [level, radiusArcsec] = [read('level'), read('radius_arcsec')];
    const hasArea = method === 'POST' || ['area', 'level', 'radius_arcsec'].some(name => search.has(name));
    const answer = (area?: FollowedArea, leave?: () => void) => {
      const selection = eventSelection(filters, area, status);
      return eventResponse(eventStreams.open(kind, position, selection, exchange.client, leave));
    };
    const inArea = async () => {
      const area = await readFollowed(exchange, service, level, radiusArcsec);
      const asked = { client: exchange.client, bytes: area.region.byteLength };
      const slot = await coordination.ask(FOLLOW_AREA, asked, exchange.budget);
      const leave = () => coordination.release(FOLLOW_AREA, slot);
      try {
        return answer(area, leave);
      } catch (error) {
        leave();
        throw error;
      }
    };
    const begin = () => (hasArea ? inArea() : answer());
    if (position.sequence <= lastSequence) return begin();
    return service.reachEntry(position.sequence, true, exchange.budget).then(begin);
  };
}

/** Reads the area of a request. @throws ApiError, AreaError, TooExpensive, Unavailable */
export async function readFollowed(
  exchange: Exchange,
  service: Service,
  level: number,
  radiusArcsec: number | undefined,
): Promise<FollowedArea> {
  service.queries.requireRoom(exchange);
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

/** The time after which one stream lets others continue. */
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
 * @param mayBeFurther whether an id may be after the last entry
 */
function positionOf({ request }: Exchange, asked: string, lastSequence: number, mayBeFurther: boolean): EventPosition {
  const lastId = request.headers.get(LAST_EVENT_ID) || undefined;
  const from = lastId ?? asked;
  if (lastId === undefined && from === 'now') return { sequence: lastSequence, objects: 0, matches: 0 };
  if (lastId === undefined && from === 'beginning') return { sequence: 0, objects: 0, matches: 0 };
  const position = positionAfter(from);
  if (position && (mayBeFurther || position.sequence <= lastSequence)) return position;
  const [param, others] = lastId === undefined ? ['from', 'now, beginning or '] : [LAST_EVENT_ID, ''];
  const why = `${others}the id of an event that this service has sent, whose first number is at most ${lastSequence}`;
  throw invalidParameter(param, why, from);
}
