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
  /** The events that meet filters, by the JSON text of the filters. */
  readonly filtered: Map<string, Events>;
}

/** A stored match: the object, the index of the match within the object, and the object's sources. */
type StoredMatch = readonly [StoredObject, number, readonly MatchSource[]];

const BLANK_LINE = Buffer.from('\n\n');

export class MatchEvents {
  readonly fragments: SharedFragments;
  readonly #source: JournalSource & { readonly store: Store };
  /**
   * Pages by the id before their first event; the least recently used page is first. Pages never become outdated,
   * because the journal only grows.
   */
  readonly #pages = new Map<string, EventPage>();
  #keptBytes = 0;
  /** The matches of the last page that was filtered. */
  #stored: { readonly page: EventPage; readonly matches: readonly StoredMatch[] } | undefined;
  #reads = 0;

  /** @param imported whether to include the matches of imports */
  constructor(store: Store, fragments: SharedFragments, imported: boolean) {
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

  /** The events of a page (as last returned by `after`) that meet every filter. */
  filtered(page: EventPage, filters: FilterValues): Events {
    const key = JSON.stringify(filters);
    const kept = page.filtered.get(key);
    if (kept) return kept;
    const test = matchTest(filters, this.fragments.settings.catalogs);
    if (this.#stored?.page !== page) this.#stored = { page, matches: this.#matchesOf(page) };
    const found = this.#stored.matches.map(([object, at, sources]) => test(object, object.matches[at]!, sources[at]));
    const events = page.events.filter((_, i) => found[i]);
    const filtered = { count: events.length, bytes: Buffer.concat(events.map(({ bytes }) => bytes)) };
    page.filtered.set(key, filtered);
    this.#keptBytes += memoryOf(filtered);
    this.#forgetOld();
    return filtered;
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

  #matchesOf({ events }: EventPage): readonly StoredMatch[] {
    this.#reads++;
    const { store } = this.#source;
    return events.map(({ message: { diaObjectId, matchVersion, catalogName } }) => {
      const object = store.getObject(diaObjectId)!;
      const isIt = (match: MatchSummary) => match.matchVersion === matchVersion && match.catalogName === catalogName;
      return [object, object.matches.findIndex(isIt), store.getSources(diaObjectId)];
    });
  }

  #forgetOld(): void {
    for (const [id, page] of this.#pages) {
      // The newest page is in use.
      if (this.#keptBytes <= KEPT_BYTES || this.#pages.size === 1) return;
      this.#pages.delete(id);
      for (const events of [page, ...page.filtered.values()]) this.#keptBytes -= memoryOf(events);
    }
  }
}

const memoryOf = ({ bytes, count }: Events) => bytes.length + OBJECT_BYTES * (1 + count);

/** Makes a page of events; the events become slices of its bytes. */
function pageOf(begin: EventPosition, end: EventPosition, found: readonly MatchEvent[]): EventPage {
  const bytes = Buffer.concat(found.map(event => event.bytes));
  let at = 0;
  const events = found.map(event => ({ ...event, bytes: bytes.subarray(at, (at += event.bytes.length)) }));
  return { begin, end, events, count: events.length, bytes, filtered: new Map() };
}

function eventsOf({ messages, begin, end }: ObjectMatches): MatchEvent[] {
  return messages.map(({ value, ...message }, i) => {
    const id = eventId(i + 1 < messages.length ? { ...begin, matches: i + 1 } : { ...end, matches: 0 });
    return { id, message, bytes: Buffer.concat([Buffer.from(`id: ${id}\ndata: `), value, BLANK_LINE]) };
  });
}
