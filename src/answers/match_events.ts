/** The stream of matches as server-sent events (docs/stream.md), in pages that the readers of a thread share. */
import type { Store } from '../store/store.ts';
import type { MatchSource, StoredObject } from '../store/types.ts';
import {
  type JournalPosition,
  type JournalSource,
  type ObjectMatches,
  readMatches,
} from '../stream/journal_matches.ts';
import type { MatchMessage } from '../stream/message.ts';
import type { MatchTest } from './qualify.ts';

/** The bounds of a page, which is read and written in about a millisecond. */
const PAGE = { entries: 64, objects: 100, bytes: 32_768 };
/** Pages that are kept for the readers that come to them next. */
const MAX_PAGES = 64;

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

/** The position after the event with this id; undefined where the text is no id. */
export function positionAfter(id: string): EventPosition | undefined {
  if (!EVENT_ID.test(id)) return undefined;
  const [sequence = 0, objects = 0, matches = 0] = id.split('.').map(Number);
  return { sequence, objects, matches };
}

/** Events that come one after another. */
export interface EventPage {
  readonly events: readonly MatchEvent[];
  /** All of them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The position after them. */
  readonly end: EventPosition;
}

export class MatchEvent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #message: MatchMessage;
  #stored: readonly [StoredObject, number, readonly MatchSource[]] | undefined;

  constructor(id: string, message: MatchMessage) {
    this.bytes = Buffer.concat([Buffer.from(`id: ${id}\ndata: `), message.value, BLANK_LINE]);
    this.#message = message;
  }

  meets(test: MatchTest, store: Store): boolean {
    const [object, at, sources] = (this.#stored ??= this.#read(store));
    return test(object, object.matches[at]!, sources[at]);
  }

  /** The object, the place of the match among its matches, and the sources of these. */
  #read(store: Store): readonly [StoredObject, number, readonly MatchSource[]] {
    const { diaObjectId, matchVersion, catalogName } = this.#message;
    const object = store.getObject(diaObjectId)!;
    const at = object.matches.findIndex(
      match => match.matchVersion === matchVersion && match.catalogName === catalogName,
    );
    return [object, at, store.getSources(diaObjectId)];
  }
}

const BLANK_LINE = Buffer.from('\n\n');

export class MatchEvents {
  readonly #source: JournalSource & { readonly store: Store };
  /** The pages by the id before their first event. The journal only grows, so that a page never becomes wrong. */
  readonly #pages = new Map<string, EventPage>();

  constructor(source: JournalSource & { readonly store: Store }) {
    this.#source = source;
  }

  /** The events after a position, which may be none; undefined where the journal ends there. */
  after(position: EventPosition): EventPage | undefined {
    const id = eventId(position);
    const kept = this.#pages.get(id);
    if (kept) return kept;
    this.#source.store.resetRead();
    const { found, end } = readMatches(this.#source, position, PAGE);
    if (end === position) return undefined;
    const events = found.flatMap(eventsOf).slice(position.matches);
    const page = { events, bytes: Buffer.concat(events.map(({ bytes }) => bytes)), end: { ...end, matches: 0 } };
    if (this.#pages.size === MAX_PAGES) this.#pages.delete(this.#pages.keys().next().value!);
    this.#pages.set(id, page);
    return page;
  }

  /** The events of a page whose matches pass a test. */
  filtered({ events }: EventPage, test: MatchTest): readonly MatchEvent[] {
    return events.filter(event => event.meets(test, this.#source.store));
  }
}

function eventsOf({ messages, begin, end }: ObjectMatches): MatchEvent[] {
  return messages.map((message, i) => {
    const position = i + 1 < messages.length ? { ...begin, matches: i + 1 } : { ...end, matches: 0 };
    return new MatchEvent(eventId(position), message);
  });
}
