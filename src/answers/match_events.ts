/** The stream of matches as server-sent events (docs/stream.md), in pages that the readers of a thread share. */
import type { Store } from '../store/store.ts';
import type { MatchSource, MatchSummary, StoredObject } from '../store/types.ts';
import {
  type JournalPosition,
  type JournalSource,
  type ObjectMatches,
  readMatches,
} from '../stream/journal_matches.ts';
import type { MatchMessage } from '../stream/message.ts';
import type { FollowedArea, FollowedAreas } from './followed_areas.ts';
import { MatchMessages } from './match_messages.ts';
import { matchTest } from './qualify.ts';
import type { FilterValues } from './queries.ts';
import type { SharedFragments } from './shared_fragments.ts';

/** The size limits of a page. Such a page is read in less than a millisecond, so queries can run between pages. */
const PAGE = { entries: 64, objects: 50, bytes: 16_384 };
/** The memory of the cached events, for readers that reach the same position later. */
const KEPT_BYTES = 8 * 2 ** 20;
/** The memory that an event or a page needs on top of its bytes: an estimate. */
const OBJECT_BYTES = 256;

/** A reader's position in the journal, and the number of matches of the next object that the reader already has. */
export interface EventPosition extends JournalPosition {
  readonly matches: number;
}

/** The id of an event, from the position after it: `SEQUENCE`, or `SEQUENCE.OBJECTS` or `SEQUENCE.OBJECTS.MATCHES`. */
export function eventId({ sequence, objects, matches }: EventPosition): string {
  if (matches > 0) return `${sequence}.${objects}.${matches}`;
  return objects > 0 ? `${sequence}.${objects}` : `${sequence}`;
}

const EVENT_ID = /^\d{1,15}(\.\d{1,15}){0,2}$/;

/** The position after the event with this id; undefined if the text is not an id. */
export function positionAfter(id: string): EventPosition | undefined {
  if (!EVENT_ID.test(id)) return undefined;
  const [sequence = 0, objects = 0, matches = 0] = id.split('.').map(Number);
  return { sequence, objects, matches };
}

/** Events as they are sent. */
export interface Events {
  readonly count: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface MatchEvent {
  readonly id: string;
  readonly message: Omit<MatchMessage, 'value'>;
  /** A slice of the page's bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The events from one position to another. */
export interface EventPage extends Events {
  readonly begin: EventPosition;
  readonly end: EventPosition;
  readonly events: readonly MatchEvent[];
  /** The events of each selection that has any, by its key. */
  readonly selected: Map<string, Events>;
  /** The events in each area, as `FollowedAreas` finds them; and the version of the areas then. */
  places: ReadonlyMap<string, readonly number[]>;
  placesVersion: number;
}

/** The events that a reader wants: those that meet every filter and whose objects are in the area. */
export interface EventSelection {
  readonly filters: FilterValues | undefined;
  readonly area: FollowedArea | undefined;
  /** Equal for equal selections. */
  readonly key: string;
}

/** Undefined if it is every event. */
export function eventSelection(filters: FilterValues | null, area?: FollowedArea): EventSelection | undefined {
  if (!filters && !area) return undefined;
  // The order of filters does not matter.
  const sorted = filters?.toSorted();
  return { filters: sorted, area, key: JSON.stringify([area?.digest, sorted]) };
}

/** A stored match: the object, the index of the match within the object, and the object's sources. */
type StoredMatch = readonly [StoredObject, number, readonly MatchSource[]];

const BLANK_LINE = Buffer.from('\n\n');
const NO_EVENTS: Events = { count: 0, bytes: new Uint8Array(0) };
const NO_PLACES: ReadonlyMap<string, readonly number[]> = new Map();
/** The memory of an event's place in an area. */
const PLACE_BYTES = 8;

export class MatchEvents {
  readonly fragments: SharedFragments;
  readonly #source: JournalSource & { readonly store: Store };
  /**
   * Pages by the id before their first event; the least recently used page is first. Pages never become outdated,
   * because the journal only grows.
   */
  readonly #pages = new Map<string, EventPage>();
  #keptBytes = 0;
  readonly #areas: FollowedAreas;
  /** The matches of the last page that was filtered, by the index of the event. */
  #stored: { readonly page: EventPage; readonly matches: Map<number, StoredMatch> } | undefined;
  #reads = 0;

  /** @param imported whether to include the matches of imports */
  constructor(store: Store, fragments: SharedFragments, imported: boolean, areas: FollowedAreas) {
    this.#areas = areas;
    this.fragments = fragments;
    this.#source = { store, matches: new MatchMessages(store, fragments), imported };
  }

  /** The number of reads of events from the database. A read takes far longer than a cached page. */
  get reads(): number {
    return this.#reads;
  }

  /** The events after a position, possibly none; undefined if the journal ends there. */
  after(position: EventPosition): EventPage | undefined {
    const id = eventId(position);
    const kept = this.#pages.get(id);
    const page = kept ?? this.#restAfter(position, id) ?? this.#read(position);
    if (!page) return undefined;
    if (kept) this.#pages.delete(id);
    else this.#keptBytes += memoryOf(page);
    this.#pages.set(id, page);
    this.#forgetOld();
    return page;
  }

  /** The selected events of a page, as last returned by `after`. */
  selected(page: EventPage, { filters, area, key }: EventSelection): Events {
    const kept = page.selected.get(key);
    if (kept) return kept;
    const inside = area ? this.#placesOn(page).get(area.digest) : page.events.keys();
    if (!inside) return NO_EVENTS;
    const found = filters ? this.#meeting(page, inside, filters) : Array.from(inside, i => page.events[i]!);
    const selected = { count: found.length, bytes: Buffer.concat(found.map(({ bytes }) => bytes)) };
    page.selected.set(key, selected);
    this.#keptBytes += memoryOf(selected);
    this.#forgetOld();
    return selected;
  }

  /** The events of a page in each area; all areas are looked up at once. */
  #placesOn(page: EventPage): EventPage['places'] {
    const { version } = this.#areas;
    if (page.placesVersion !== version) {
      this.#keptBytes -= placeBytes(page);
      page.places = this.#areas.placesOf(page.events.map(({ message }) => message.position));
      page.placesVersion = version;
      this.#keptBytes += placeBytes(page);
    }
    return page.places;
  }

  #meeting(page: EventPage, at: Iterable<number>, filters: FilterValues): readonly MatchEvent[] {
    const test = matchTest(filters, this.fragments.settings.catalogs);
    if (this.#stored?.page !== page) {
      this.#stored = { page, matches: new Map() };
      this.#reads++;
    }
    const { matches } = this.#stored;
    return Array.from(at).flatMap(i => {
      const event = page.events[i]!;
      let stored = matches.get(i);
      if (!stored) matches.set(i, (stored = this.#matchOf(event)));
      const [object, index, sources] = stored;
      return test(object, object.matches[index]!, sources[index]) ? [event] : [];
    });
  }

  /**
   * The rest of a cached page, for a reader that stopped within the page. After its end the reader uses the same pages
   * as others.
   */
  #restAfter(position: EventPosition, id: string): EventPage | undefined {
    for (const { begin, end, events } of this.#pages.values()) {
      if (begin.sequence > position.sequence || position.sequence > end.sequence) continue;
      const at = events.findIndex(event => event.id === id);
      if (at >= 0 && at + 1 < events.length) return pageOf(position, end, events.slice(at + 1));
    }
    return undefined;
  }

  #read(position: EventPosition): EventPage | undefined {
    this.#reads++;
    this.#source.store.resetRead();
    const { found, end } = readMatches(this.#source, position, PAGE);
    if (end === position) return undefined;
    const events = found.flatMap(eventsOf).slice(position.matches);
    return pageOf(position, { ...end, matches: 0 }, events);
  }

  #matchOf({ message: { diaObjectId, matchVersion, catalogName } }: MatchEvent): StoredMatch {
    const { store } = this.#source;
    const object = store.getObject(diaObjectId)!;
    const isIt = (match: MatchSummary) => match.matchVersion === matchVersion && match.catalogName === catalogName;
    return [object, object.matches.findIndex(isIt), store.getSources(diaObjectId)];
  }

  #forgetOld(): void {
    for (const [id, page] of this.#pages) {
      // The newest page is in use.
      if (this.#keptBytes <= KEPT_BYTES || this.#pages.size === 1) return;
      this.#pages.delete(id);
      for (const events of [page, ...page.selected.values()]) this.#keptBytes -= memoryOf(events);
      this.#keptBytes -= placeBytes(page);
    }
  }
}

const placeBytes = ({ places }: EventPage) =>
  PLACE_BYTES * places.values().reduce((sum, { length }) => sum + length, 0);
const memoryOf = ({ bytes, count }: Events) => bytes.length + OBJECT_BYTES * (1 + count);

/** Makes a page of events; the events become slices of its bytes. */
function pageOf(begin: EventPosition, end: EventPosition, found: readonly MatchEvent[]): EventPage {
  const bytes = Buffer.concat(found.map(event => event.bytes));
  let at = 0;
  const events = found.map(event => ({ ...event, bytes: bytes.subarray(at, (at += event.bytes.length)) }));
  return { begin, end, events, count: events.length, bytes, selected: new Map(), places: NO_PLACES, placesVersion: 0 };
}

function eventsOf({ messages, begin, end }: ObjectMatches): MatchEvent[] {
  return messages.map(({ value, ...message }, i) => {
    const id = eventId(i + 1 < messages.length ? { ...begin, matches: i + 1 } : { ...end, matches: 0 });
    return { id, message, bytes: Buffer.concat([Buffer.from(`id: ${id}\ndata: `), value, BLANK_LINE]) };
  });
}
