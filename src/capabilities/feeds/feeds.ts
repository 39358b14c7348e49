/** GET /feeds/matches, /feeds/objects and /feeds/samples/:id */

import { createHash } from 'node:crypto';
import { memoized } from '../../core/base/memoized.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { DEFAULT_CREDIBLE_LEVEL } from '../../core/contract/limits.ts';
import type { Api } from '../../core/host.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import type { IncomingRequest } from '../../core/http/incoming.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { type Answer, bytesResponse, emptyResponse, isUnchanged } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { readRegistryEpochUs } from '../../core/store/registry.ts';
import { readLastRemoval } from '../../core/store/removals.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { keptInputs, withSample } from '../sample/kept.ts';
import { KeptStore } from '../sample/kept_store.ts';
import type { EventKind } from '../streams/event_test.ts';
import type { FollowedArea } from '../streams/followed_areas.ts';
import { type EventPosition, eventSelection } from '../streams/stream_events.ts';
import { readFollowed } from '../streams/streams.ts';
import { ATOM_TYPE, type AtomFeed, writeFeed } from './atom.ts';
import { FeedMemory } from './feed_memory.ts';
import { FEED_QUERY, type FeedEvents, type FeedSelection, isStart } from './feed_query.ts';
import { OBJECT_FEED_PARAMETERS, SAMPLE_FEED_PARAMETERS } from './parameters.ts';

/** How long a reader or a proxy may use a feed without a request. */
const MAX_AGE_SECONDS = 300;

/** A feed: which events it has, and the page that shows the same. */
interface Feed {
  readonly stream: EventKind;
  readonly selection: FeedSelection;
  /** Equal for feeds with equal events. */
  readonly key: string;
  readonly title: string;
  /** From the root of the service. */
  readonly page: string;
}

interface Page {
  readonly limit: number;
  readonly until: EventPosition | undefined;
}

const memoryOf = memoized((_service: Service) => new FeedMemory());

export const matchFeed = (service: Service, api: Api) => streamFeed('matches', service, api);
export const objectFeed = (service: Service, api: Api) => streamFeed('objects', service, api);

function streamFeed(stream: EventKind, service: Service, api: Api): Handler {
  return async exchange => {
    const { search } = exchange;
    const read = readerOf(search, OBJECT_FEED_PARAMETERS, service.catalogs);
    const filters = read('filters');
    const status = stream === 'objects' ? read('status') : undefined;
    const page = await pageOf(service, exchange, read('limit'), read('until'));
    const area = await areaOf(service, exchange);
    const selection = { filters: filters ?? undefined, status, region: area?.region, inputs: undefined };
    const key = `${stream} ${eventSelection(filters, area, status)?.key ?? ''}`;
    const chosen = [...filterTexts(exchange), ...(area ? [`in ${search.get('area')}`] : [])];
    const title = [`nearsky ${stream}`, ...chosen].join(', ');
    const shownOn = area ? `/area?${new URLSearchParams({ area: search.get('area')! })}` : '/recent';
    return await answerFeed(service, api, exchange, { stream, selection, key, title, page: shownOn }, page);
  };
}

async function areaOf(service: Service, exchange: Exchange): Promise<FollowedArea | undefined> {
  const text = exchange.search.get('area');
  if (text === undefined) return undefined;
  const read = () => readFollowed(exchange, service, DEFAULT_CREDIBLE_LEVEL, undefined);
  return await memoryOf(service).area(digestOf(text), read);
}

const NOT_FILTERS = ['limit', 'until', 'area'];

function filterTexts({ search, known }: Exchange): string[] {
  return [...search].flatMap(([name, value]) =>
    known?.has(name) && !NOT_FILTERS.includes(name) ? `${name} ${value}` : [],
  );
}

export function sampleFeed(service: Service, api: Api): Handler {
  const store = new KeptStore(service.config);
  return async exchange => {
    const read = readerOf(exchange.search, SAMPLE_FEED_PARAMETERS, service.catalogs);
    const page = await pageOf(service, exchange, read('limit'), read('until'));
    return await withSample(service, exchange, store, async kept => {
      const id = exchange.params.id!;
      const inputs = await memoryOf(service).inputs(id, () => keptInputs(service, exchange, kept));
      const selection = { filters: undefined, status: undefined, region: undefined, inputs };
      const { title } = kept.sample;
      const feed = { stream: 'objects', selection, key: `sample ${id}`, title, page: `/sample?kept=${id}` } as const;
      return await answerFeed(service, api, exchange, feed, page);
    });
  };
}

async function pageOf(service: Service, exchange: Exchange, limit: number, until?: EventPosition): Promise<Page> {
  // Another node may have sent the id.
  if (until && service.coordination.state.hasLog && until.sequence > readNow(service, store => store.lastSequence()))
    await service.reachEntry(until.sequence, true, exchange.budget);
  return { limit, until };
}

/** @throws Unavailable */
function readNow<T>(service: Service, read: (store: StoreReader) => T): T {
  const found = service.read(store => [read(store)] as const);
  if (!found) throw new Unavailable(service.coordination.state.whyNoAnswer ?? 'the database cannot be read');
  return found[0];
}

async function answerFeed(service: Service, api: Api, exchange: Exchange, feed: Feed, page: Page): Promise<Answer> {
  const { config, catalogs } = service;
  const { request, path, search, known } = exchange;
  const found = await findEvents(service, exchange, feed, page);
  const base = baseUrl(request, config);
  const address: AtomFeed['address'] = other => {
    const asked = new URLSearchParams([...search].filter(([name]) => known?.has(name)));
    if (other === 'first') asked.delete('until');
    else if (other) asked.set('until', other.until);
    return `${base}${path}${asked.size > 0 ? `?${asked}` : ''}`;
  };
  const memory = memoryOf(service);
  const place = digestOf(address());
  const caching = (etag: string) => {
    const seconds = memory.seenSeconds(place, etag, Math.floor(Date.now() / 1000));
    const headers = {
      ETag: etag,
      'Last-Modified': new Date(seconds * 1000).toUTCString(),
      'Cache-Control': `max-age=${MAX_AGE_SECONDS}`,
    };
    return { headers, isKnown: isKnownTo(request, etag, seconds) };
  };
  const before = memory.etagOf(found, place);
  if (before !== undefined) {
    const { headers, isKnown } = caching(before);
    if (isKnown) return emptyResponse(304, headers);
  }
  const text = writeFeed({
    ...feed,
    ...found,
    limit: page.limit,
    isFirst: page.until === undefined,
    name: `${readNow(service, store => store.archive)} ${feed.key}`,
    base,
    address,
    catalogs,
    hasPages: api.hasPages,
    imported: config.PUBLISH_IMPORTED,
    version: config.APP_VERSION,
  });
  const etag = `"${digestOf(text)}"`;
  memory.setEtag(found, place, etag);
  const { headers, isKnown } = caching(etag);
  return isKnown ? emptyResponse(304, headers) : bytesResponse(ATOM_TYPE, Buffer.from(text), headers);
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Whether the client has the version. An ETag overrides a time (RFC 9110, section 13.1.3). */
const isKnownTo = (request: IncomingRequest, etag: string, seconds: number) =>
  request.headers.has('If-None-Match')
    ? isUnchanged(request, etag)
    : Date.parse(request.headers.get('If-Modified-Since') ?? '') >= seconds * 1000;

/** The newest events of a feed come from the memory, as far as the journal has not grown. */
async function findEvents(service: Service, exchange: Exchange, feed: Feed, page: Page): Promise<FeedEvents> {
  const { limit, until } = page;
  const memory = memoryOf(service);
  const { fragments } = service;
  const { last, state } = readNow(service, store => ({
    last: store.lastSequence(),
    state: {
      archive: store.archive,
      lastRemoval: readLastRemoval(store.databases),
      fragments,
      registry: feed.selection.inputs ? readRegistryEpochUs(store.databases) : null,
    },
  }));
  const known = until ? undefined : memory.get(feed.key, state);
  if (known && known.last === last && (known.events.length >= limit || isStart(known.examinedTo))) return known;
  const found: FeedEvents[] = [];
  const { stream, selection } = feed;
  const { store, config } = service;
  const query = {
    kind: FEED_QUERY,
    store,
    stream,
    imported: config.PUBLISH_IMPORTED,
    selection,
    until,
    limit,
    known,
    found,
  };
  await service.queries.run(query, exchange);
  const [events] = found;
  return until ? events! : memory.set(feed.key, state, events!);
}
