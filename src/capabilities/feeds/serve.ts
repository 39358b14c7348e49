/** Atom feeds. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { errors, header, ignoredHeader } from '../../core/documents/openapi/general.ts';
import { documentedParameters, type OperationObject } from '../../core/documents/openapi/parameters.ts';
import { caching } from '../../core/documents/openapi/responses.ts';
import { type Schemas, text } from '../../core/documents/openapi/schema.ts';
import type { Parameters } from '../../core/documents/parameters.ts';
import type { Operations } from '../../core/host.ts';
import { matchFeed, objectFeed, sampleFeed } from './feeds.ts';
import { MATCH_FEED_PARAMETERS, OBJECT_FEED_PARAMETERS, SAMPLE_FEED_PARAMETERS } from './parameters.ts';

const cached: Schemas = {
  ...caching,
  'Last-Modified': header(text('When this thread first saw this version, for `If-Modified-Since`.'), true),
};

const PAGES =
  'Entries have the UUIDs of the messages on Kafka, and a link into the stream after them. `next` (RFC 5005) leads to older entries. ' +
  'A poll without news gets 304 (`If-None-Match`, `If-Modified-Since`). If much must be examined, a feed may be short: its subtitle says so, and `next` goes on.';

function document(summary: string, about: string, parameters: Parameters, ...further: readonly number[]) {
  return (_config: Config, catalogs: Catalogs): OperationObject => ({
    summary,
    description: `${about} ${PAGES}`,
    parameters: documentedParameters(parameters, catalogs),
    responses: {
      200: {
        description: 'The feed.',
        headers: { ...ignoredHeader, ...cached },
        content: { 'application/atom+xml': { schema: text('An Atom feed (RFC 4287).', { format: 'binary' }) } },
      },
      304: { description: 'The feed has not changed.', headers: cached },
      ...errors([400, ...further, 405, 503]),
    },
  });
}

export const operations: Operations = [
  {
    name: 'get_match_feed',
    method: 'GET',
    path: '/feeds/matches',
    document: document(
      'The newest matches as an Atom feed, for feed readers.',
      'An entry for each event of `/api/stream/matches` with these filters and this area, given as text.',
      MATCH_FEED_PARAMETERS,
    ),
    handler: matchFeed,
  },
  {
    name: 'get_object_feed',
    method: 'GET',
    path: '/feeds/objects',
    document: document(
      'The newest changes of objects as an Atom feed, for feed readers.',
      'An entry for each event of `/api/stream/objects` with these filters, this status and this area, given as text.',
      OBJECT_FEED_PARAMETERS,
    ),
    handler: objectFeed,
  },
  {
    name: 'get_sample_feed',
    method: 'GET',
    path: '/feeds/samples/:id',
    document: document(
      'The newest changes of the objects of a kept sample as an Atom feed.',
      'An entry for each event of `/api/stream/objects` about an object of the sample: one of its ids, or one within the radius of a position or a name.',
      SAMPLE_FEED_PARAMETERS,
      404,
    ),
    handler: sampleFeed,
  },
];
