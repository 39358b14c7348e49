/** The streams of matches and of objects as server-sent events (docs/stream.md), in pages that the readers of a thread share. */

import type { FilterValues } from '../../core/answers/queries.ts';
import type { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { readLastRemoval } from '../../core/store/removals.ts';
import type { StoredStatus } from '../../core/store/status.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { type EventConditions, type EventKind, eventTest, type WithSources, withSources } from './event_test.ts';
import type { FollowedArea, FollowedAreas } from './followed_areas.ts';
import { type JournalPosition, type JournalSource, type ObjectMatches, readMatches } from './journal_matches.ts';
import { MatchMessages } from './match_messages.ts';
import type { MatchMessage } from './message.ts';
import { ObjectMessages } from './object_messages.ts';

/** The size limits of a page. Reading such a page takes less than a millisecond, so queries can run between pages. */
const PAGE = { entries: 64, objects: 50, bytes: 16_384 };
/** The memory for cached events, which serve readers that reach the same position later. */
const KEPT_BYTES = 8 * 2 ** 20;
/** The estimated memory of an event or a page in addition to its bytes. */
const OBJECT_BYTES = 256;

/** A reader's position in the journal, and how many matches of the next object the reader already has. */
export interface EventPosition extends JournalPosition {
  readonly matches: number;
}

/** The id of an event, from the position after it: `SEQUENCE`, `SEQUENCE.OBJECTS` or `SEQUENCE.OBJECTS.MATCHES`. */
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

/** Events, in the form in which they are sent. */
export interface Events {
  readonly count: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One event. Its bytes are a part of the page's bytes. */
interface StreamEvent extends Events {
  readonly id: string;
  readonly message: Omit<MatchMessage, 'value'>;
}

/** The events between two positions. */
export interface EventPage extends Events {
  readonly begin: EventPosition;
  readonly end: EventPosition;
  readonly events: readonly StreamEvent[];
  /** The events of each selection with filters or a status, by the selection's key, without empty ones. */
  readonly selected: Map<string, Events>;
  /** The events in each area, as found by `FollowedAreas`, and its version at that time. */
  places: ReadonlyMap<string, readonly number[]>;
  placesVersion: number;
}

/** The events that a reader wants: those that meet every filter, and whose objects are in the area. */
export interface EventSelection extends EventConditions {
  readonly area: FollowedArea | undefined;
  /** Equal for equal selections. */
  readonly key: string;
}

/** Undefined to select every event. */
export function eventSelection(
  filters: FilterValues | null,
  area?: FollowedArea,
  status?: StoredStatus,
): EventSelection | undefined {
  if (!filters && !area && !status) return undefined;
  // Sorted, because the order of filters does not matter.
  const sorted = filters?.toSorted();
  return { filters: sorted, area, status, key: JSON.stringify([area?.digest, sorted, status]) };
}

const BLANK_LINE = Buffer.from('\n\n');
const NO_PLACES: ReadonlyMap<string, readonly number[]> = new Map();
/** The memory of an event's entry in an area. */
const PLACE_BYTES = 8;

export class StreamEvents {
  readonly fragments: SharedFragments;
  readonly #source: JournalSource & { readonly store: StoreReader };
  /**
   * The pages, by the id before their first event, with the least recently used page first. Only a removal makes pages
   * outdated, because the journal only grows.
   */
  readonly #pages = new Map<string, EventPage>();
  /** The journal entry of the last removal before the pages were read. */
  #lastRemoval = 0;
  #keptBytes = 0;
  readonly #areas: FollowedAreas;
  readonly #kind: EventKind;
  /** The objects of the page that was filtered last. */
  #stored: { readonly page: EventPage; readonly objects: Map<bigint, WithSources | undefined> } | undefined;
  #reads = 0;

  /** @param imported whether to include the matches of imported objects */
  constructor(
    store: StoreReader,
    fragments: SharedFragments,
    imported: boolean,
    areas: FollowedAreas,
    kind: EventKind = 'matches',
  ) {
    this.#areas = areas;
    this.#kind = kind;
    this.fragments = fragments;
    this.#source =
      kind === 'matches'
        ? { store, matches: new MatchMessages(store, fragments), imported }
        : {
            store,
            matches: new ObjectMessages(store, fragments),
            imported,
            entries: (...after) => store.changesAfter(...after),
          };
  }

  /** How often events were read from the database. A read takes far longer than using a cached page. */
  get reads(): number {
    return this.#reads;
  }

  /** The events after a position, possibly none. Undefined if the journal ends there. */
  after(position: EventPosition): EventPage | undefined {
    this.#forgetRemoved();
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

  /** Selects events of a page, which must be the one that `after` returned last. Returns them in parts. */
  selected(page: EventPage, selection: EventSelection): readonly Events[] {
    const { filters, status, area, key } = selection;
    const kept = page.selected.get(key);
    if (kept) return [kept];
    const inside = area ? this.#placesOn(page).get(area.digest) : page.events.keys();
    if (!inside) return [];
    if (!filters && !status) return Array.from(inside, i => page.events[i]!);
    const selected = joined(this.#meeting(page, inside, selection));
    page.selected.set(key, selected);
    this.#keptBytes += memoryOf(selected);
    this.#forgetOld();
    return [selected];
  }

  /** The events of a page in each area. All areas are searched at once. */
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

  #meeting(page: EventPage, at: Iterable<number>, selection: EventSelection): readonly StreamEvent[] {
    const meets = eventTest(this.#kind, selection, this.fragments.settings.catalogs);
    if (this.#stored?.page !== page) {
      this.#stored = { page, objects: new Map() };
      this.#reads++;
    }
    return Array.from(at, i => page.events[i]!).filter(({ message }) =>
      meets(message, this.#objectOf(message.diaObjectId)),
    );
  }

  #objectOf(diaObjectId: bigint): WithSources | undefined {
    const { objects } = this.#stored!;
    if (!objects.has(diaObjectId)) objects.set(diaObjectId, withSources(this.#source.store, diaObjectId));
    return objects.get(diaObjectId);
  }

  /**
   * The rest of a cached page, for a reader whose position is within the page. After that, the reader uses the same
   * pages as others.
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
    const { found, end } = readMatches(this.#source, position, PAGE);
    if (end === position) return undefined;
    const [first] = found;
    // The reader may have some matches of an object that was removed since. Then the first found object is another one.
    const isSame = first?.begin.sequence === position.sequence && first.begin.objects === position.objects;
    const events = found.flatMap(eventsOf).slice(isSame ? position.matches : 0);
    return pageOf(position, { ...end, matches: 0 }, events);
  }

  /** Makes all committed changes visible. Drops the pages if objects were removed since. */
  #forgetRemoved(): void {
    const { store } = this.#source;
    store.resetRead();
    const last = readLastRemoval(store.databases);
    if (last === this.#lastRemoval) return;
    this.#lastRemoval = last;
    this.#pages.clear();
    this.#keptBytes = 0;
  }

  #forgetOld(): void {
    for (const [id, page] of this.#pages) {
      // The newest page is in use, so it stays.
      if (this.#keptBytes <= KEPT_BYTES || this.#pages.size === 1) return;
      this.#pages.delete(id);
      for (const events of [page, ...page.selected.values()]) this.#keptBytes -= memoryOf(events);
      this.#keptBytes -= placeBytes(page);
    }
  }
}

/** The events of all parts; a single part is not copied, so that clients share it. */
export function joined(parts: readonly Events[]): Events {
  if (parts.length === 1) return parts[0]!;
  return {
    count: parts.reduce((sum, { count }) => sum + count, 0),
    bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
  };
}

const placeBytes = ({ places }: EventPage) =>
  PLACE_BYTES * places.values().reduce((sum, { length }) => sum + length, 0);
const memoryOf = ({ bytes, count }: Events) => bytes.length + OBJECT_BYTES * (1 + count);

/** Makes a page of events. Each event is a slice of the page's bytes. */
function pageOf(begin: EventPosition, end: EventPosition, found: readonly StreamEvent[]): EventPage {
  const bytes = Buffer.concat(found.map(event => event.bytes));
  let at = 0;
  const events = found.map(event => ({ ...event, bytes: bytes.subarray(at, (at += event.bytes.length)) }));
  return { begin, end, events, count: events.length, bytes, selected: new Map(), places: NO_PLACES, placesVersion: 0 };
}

/** The positions after each of the events. */
export const positionsOf = ({ messages, begin, end }: ObjectMatches): EventPosition[] =>
  messages.map((_, i) => (i + 1 < messages.length ? { ...begin, matches: i + 1 } : { ...end, matches: 0 }));

function eventsOf(found: ObjectMatches): StreamEvent[] {
  const positions = positionsOf(found);
  return found.messages.map(({ value, ...message }, i) => {
    const id = eventId(positions[i]!);
    return { id, message, count: 1, bytes: Buffer.concat([Buffer.from(`id: ${id}\ndata: `), value, BLANK_LINE]) };
  });
}
