/** Streams of events over HTTP. */

import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { AREA_BODY, MAX_FOLLOWED_POSITIONS, STREAM_PATH } from '../../core/contract/limits.ts';
import { errors, header, ignoredHeader } from '../../core/documents/openapi/general.ts';
import { documentedParameters, type OperationObject } from '../../core/documents/openapi/parameters.ts';
import { text } from '../../core/documents/openapi/schema.ts';
import { STREAM_PARAMETERS } from '../../core/documents/parameters.ts';
import type { BodyLimits, Operations } from '../../core/host.ts';
import { areaBody } from '../areas/area_body.ts';
import { OBJECT_STREAM_PARAMETERS } from './parameters.ts';
import { streamMatches, streamObjects } from './streams.ts';

export { limits } from './limits.ts';

const RESUMED =
  'a client that reconnects with the last id as `Last-Event-ID` misses no event and gets none twice. If there are no events, a comment ' +
  'or an id is sent every 15 s. Clients that do not read are disconnected.';

function matches(_config: Config, catalogs: Catalogs): OperationObject {
  return {
    summary: 'Matches as they are recorded, as an endless stream of server-sent events.',
    description:
      'One event for each match of each crossmatch, in the order of recording. The data is a `PublishedMatch` without spaces. The id is the ' +
      `position in the journal: ${RESUMED} With filters, only ` +
      'matches are sent that meet every match filter, and whose object meets every reliability filter. With `area`, given as text, only objects in the area.',
    parameters: documentedParameters(STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

function objects(_config: Config, catalogs: Catalogs): OperationObject {
  return {
    summary:
      'Objects as they are stored and crossmatched, with or without matches, as an endless stream of server-sent events.',
    description:
      'One event for each change: `stored`, when an object is delivered for the first time, `crossmatched`, for each of its crossmatches, and `removed`, when the operator removes it. Further deliveries are not events. ' +
      `The data is the object after the change, with the matches of that crossmatch only. The id is the position in the journal: ${RESUMED} ` +
      'Only objects are sent that meet every reliability filter and, if there are match filters, have a match that meets them all. With `area`, given as text, only objects in the area.',
    parameters: documentedParameters(OBJECT_STREAM_PARAMETERS, catalogs),
    responses: eventResponses,
  };
}

function inArea(config: Config) {
  return {
    description:
      'The same events as for GET, for objects in an area only. The area is the body, whatever its Content-Type, or the parameter `area`, in any form that `/api/area` accepts. ' +
      `With \`radius_arcsec\` the body is a table of at most ${MAX_FOLLOWED_POSITIONS} positions, in any format that \`/api/crossmatch\` accepts. ` +
      `At most ${config.NEARSKY_MAX_STREAM_AREAS} streams may follow an area, half of them for one client. To reconnect, a client sends the area again, with the last id as \`Last-Event-ID\`.`,
    requestBody: areaBody('An area in any of these forms, or a table of positions.'),
  };
}

export const operations: Operations = [
  { name: 'stream_matches', method: 'GET', path: '/api/stream/matches', document: matches, handler: streamMatches },
  {
    name: 'stream_matches_in_area',
    method: 'POST',
    path: '/api/stream/matches',
    metric: 'stream_matches',
    document: (config, catalogs) => ({
      ...matches(config, catalogs),
      summary: 'Matches of the objects in an area as they are recorded, as an endless stream of server-sent events.',
      ...inArea(config),
    }),
    handler: streamMatches,
  },
  { name: 'stream_objects', method: 'GET', path: '/api/stream/objects', document: objects, handler: streamObjects },
  {
    name: 'stream_objects_in_area',
    method: 'POST',
    path: '/api/stream/objects',
    metric: 'stream_objects',
    document: (config, catalogs) => ({
      ...objects(config, catalogs),
      summary: 'Objects in an area as they are stored and crossmatched, as an endless stream of server-sent events.',
      ...inArea(config),
    }),
    handler: streamObjects,
  },
];

export const bodies = (): readonly BodyLimits[] => [{ path: STREAM_PATH, ...AREA_BODY }];

export const eventResponses = {
  200: {
    description: 'The events.',
    headers: {
      ...ignoredHeader,
      'Cache-Control': header(text('`no-store`.'), true),
      'X-Accel-Buffering': header(text('`no`: nginx passes each event on at once.'), true),
    },
    content: { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } },
  },
  ...errors([400, 405, 503]),
};
