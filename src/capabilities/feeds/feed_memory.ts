/** Remembers what a thread found for feeds, so that a poll examines only what is new since the last one. */
import { BoundedCache } from '@nearsky/astrotables/bounded_cache';
import type { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { setRecent } from '../../core/base/lru.ts';
import type { LookupInput } from '../objects/queries.ts';
import type { FollowedArea } from '../streams/followed_areas.ts';
import type { FeedEvents } from './feed_query.ts';
import { MAX_ENTRIES } from './parameters.ts';

/** The memory for events, and for an event or a feed in addition to its bytes, about. */
const MAX_BYTES = 8 * 2 ** 20;
const OBJECT_BYTES = 512;
const MAX_VERSIONS = 1000;
/** The maximum number of kept samples whose inputs are remembered. Each has 10,000 at most. */
const MAX_SAMPLES = 16;
/** The maximum number of areas that are remembered. The text of each has 16 KB at most. */
const MAX_AREAS = 100;

/** The events of a feed depend on its selection, the journal, and this. */
export interface FeedState {
  readonly archive: string;
  /** The journal entry of the last removal: what was found before may have been removed. */
  readonly lastRemoval: number;
  readonly fragments: SharedFragments;
  /** The snapshot of the registry that names of a sample were looked up in. */
  readonly registry: number | null;
}

interface Remembered {
  readonly state: FeedState;
  readonly found: FeedEvents;
}

export class FeedMemory {
  /** By the selection. */
  readonly #remembered = new BoundedCache<Remembered>(MAX_BYTES);
  /** The inputs of kept samples by id, the least recently used first. */
  readonly #inputs = new Map<string, readonly LookupInput[]>();
  /** By the digest of the text, the least recently used first. Reading one may take 30 ms. */
  readonly #areas = new Map<string, FollowedArea>();
  /** The last document that was written of what was found: the digest of its address, and its ETag. */
  readonly #documents = new WeakMap<FeedEvents, { readonly place: string; readonly etag: string }>();
  /** By the digest of the address, the least recently used first. An address itself may have 16 KB. */
  readonly #versions = new Map<string, { readonly etag: string; readonly seconds: number }>();

  get(key: string, state: FeedState): FeedEvents | undefined {
    const remembered = this.#remembered.get(key);
    if (!remembered) return undefined;
    const names = Object.keys(state) as (keyof FeedState)[];
    return names.every(name => remembered.state[name] === state[name]) ? remembered.found : undefined;
  }

  /** Returns what is remembered: at most `MAX_ENTRIES` events. */
  set(key: string, state: FeedState, { events: all, ...rest }: FeedEvents): FeedEvents {
    const events = all.slice(0, MAX_ENTRIES);
    const found = { ...rest, events, ...(events.length < all.length && { examinedTo: events.at(-1)!.begin }) };
    const own = OBJECT_BYTES + key.length;
    const bytes = events.reduce((sum, { message }) => sum + message.value.length + OBJECT_BYTES, own);
    this.#remembered.set(key, { state, found }, bytes);
    return found;
  }

  /** The inputs of a kept sample, which never changes. @param read reads them if they are not remembered */
  inputs(sample: string, read: () => Promise<readonly LookupInput[]>): Promise<readonly LookupInput[]> {
    return recalled(this.#inputs, sample, MAX_SAMPLES, read);
  }

  /** @param read reads the area if it is not remembered */
  area(digest: string, read: () => Promise<FollowedArea>): Promise<FollowedArea> {
    return recalled(this.#areas, digest, MAX_AREAS, read);
  }

  /** The ETag of a document, if it was written before; it then need not be written to know that it is unchanged. */
  etagOf(found: FeedEvents, place: string): string | undefined {
    const document = this.#documents.get(found);
    return document?.place === place ? document.etag : undefined;
  }

  setEtag(found: FeedEvents, place: string, etag: string): void {
    this.#documents.set(found, { place, etag });
  }

  /** When a version of a document was first seen, seconds since 1970. */
  seenSeconds(place: string, etag: string, nowSeconds: number): number {
    const before = this.#versions.get(place);
    // Two versions never have the same time.
    const seconds = before?.etag === etag ? before.seconds : Math.max(nowSeconds, (before?.seconds ?? 0) + 1);
    setRecent(this.#versions, place, { etag, seconds }, MAX_VERSIONS);
    return seconds;
  }
}

async function recalled<T>(map: Map<string, T>, key: string, most: number, read: () => Promise<T>): Promise<T> {
  const value = map.get(key) ?? (await read());
  setRecent(map, key, value, most);
  return value;
}
