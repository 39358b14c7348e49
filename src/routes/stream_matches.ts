/** GET /api/stream/matches: server-sent events. */
import { type EventPosition, positionAfter } from '../answers/match_events.ts';
import { STREAM_PARAMETERS } from '../documents/parameters.ts';
import { clientOf } from '../http/client_address.ts';
import { invalidParameter } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import { readerOf } from '../http/read_parameters.ts';
import { eventResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

const LAST_EVENT_ID = 'Last-Event-ID';

/** The order of the checks is the contract's (docs/contract.md, Stream of matches). */
export function streamMatches(service: Service): Handler {
  return exchange => {
    const read = readerOf(exchange.search, STREAM_PARAMETERS, service.catalogs);
    const filters = read('filters');
    const lastSequence = service.matchStreams.lastSequence();
    const position = positionOf(exchange, read('from'), lastSequence);
    return eventResponse(service.matchStreams.open(position, filters, clientOf(exchange, service.config)));
  };
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
