/**
 * Finds the newest events of a stream that a feed selects, by reading the journal backwards. They have the ids and the
 * data of the stream.
 */
import { separationArcsec } from '@nearsky/sky-index';
import type { Region } from '@nearsky/sky-index/areas';
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { type Circle, type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import type { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { removalsAfter } from '../../core/store/removals.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { REMOVED_VERSION, type SkyPosition } from '../../core/store/types.ts';
import type { LookupInput } from '../objects/queries.ts';
import { findName } from '../objects/search.ts';
import {
  type EventConditions,
  type EventKind,
  eventTest,
  type WithSources,
  withSources,
} from '../streams/event_test.ts';
import { type ObjectMatches, readMatches } from '../streams/journal_matches.ts';
import { MatchMessages } from '../streams/match_messages.ts';
import type { MatchMessage, MessageReader } from '../streams/message.ts';
import { ObjectMessages } from '../streams/object_messages.ts';
import { type EventPosition, positionsOf } from '../streams/stream_events.ts';

/** Changes that are examined between two looks at the clock. */
const CHUNK = 50;
/** The maximum number of changes that one request examines. */
const MAX_EXAMINED = 200_000;

/** An event of a stream. */
export interface FeedEvent {
  /** The position before the event, and the one after it, which is the event's id in the stream. */
  readonly begin: EventPosition;
  readonly end: EventPosition;
  readonly message: MatchMessage;
  /** When the change was made. */
  readonly timeUs: number;
}

/** The newest events that a feed selects. */
export interface FeedEvents {
  /** The newest first. */
  readonly events: readonly FeedEvent[];
  /** The last journal entry that was examined. */
  readonly last: number;
  /** No earlier event was examined. */
  readonly examinedTo: EventPosition;
  /** The names of the sample that have no position now. */
  readonly unplaced: number;
}

export interface FeedSelection extends EventConditions {
  readonly region: Region | undefined;
  /** The inputs whose objects are followed; undefined for all objects. */
  readonly inputs: readonly LookupInput[] | undefined;
}

export interface FeedQuery extends Query {
  readonly kind: QueryKind<FeedQuery>;
  readonly store: StoreReader;
  readonly stream: EventKind;
  /** Whether to include the matches of imported objects. */
  readonly imported: boolean;
  readonly selection: FeedSelection;
  /** No later event is wanted; undefined for the newest. */
  readonly until: EventPosition | undefined;
  readonly limit: number;
  /** The result of an earlier query with the same selection. */
  readonly known: FeedEvents | undefined;
  /** Receives the result. */
  readonly found: FeedEvents[];
}

export const FEED_QUERY = queryKind<FeedQuery>({
  name: 'feed',
  answer: findEvents,
  objects: () => Number.POSITIVE_INFINITY,
  listed: ({ limit }) => limit,
});

/** Fields of a message that filters do not read. */
const UNUSED = { catalogName: '', ingestTimeUs: 0, position: null };

const START: EventPosition = { sequence: 0, objects: 0, matches: 0 };
const atEntry = (sequence: number): EventPosition => ({ ...START, sequence });

/** The order of the journal: negative if `a` is before `b`. */
const order = (a: EventPosition, b: EventPosition): number =>
  a.sequence - b.sequence || a.objects - b.objects || a.matches - b.matches;

export const isStart = (position: EventPosition): boolean => order(position, START) === 0;

function* findEvents(query: FeedQuery, context: QueryContext): Steps {
  const { store, until, known, limit, found } = query;
  const last = store.lastSequence();
  const { followed, unplaced } = yield* followedOf(query.selection.inputs, context);
  const about = { last, unplaced };
  const reader = new BackwardReader(query, context, followed);
  if (until) {
    const from = until.sequence < last ? until : atEntry(last);
    found.push({ ...about, ...(yield* reader.read(from, START, limit)) });
    return;
  }
  const fresh = yield* reader.read(atEntry(last), known ? atEntry(known.last) : START, limit);
  if (!known || order(fresh.examinedTo, atEntry(known.last)) > 0) {
    found.push({ ...about, ...fresh });
    return;
  }
  const events = [...fresh.events, ...known.events];
  const older = yield* reader.read(known.examinedTo, START, limit - events.length);
  found.push({ ...about, events: [...events, ...older.events], examinedTo: older.examinedTo });
}

/** A test whether the feed follows an object; undefined if it follows all. */
type Followed = ((diaObjectId: bigint, position: SkyPosition | null) => boolean) | undefined;

function* followedOf(
  inputs: FeedSelection['inputs'],
  context: QueryContext,
): InSteps<{ readonly followed: Followed; readonly unplaced: number }> {
  if (!inputs) return { followed: undefined, unplaced: 0 };
  let unplaced = 0;
  const ids = new Set<bigint>();
  const circles: Circle[] = [];
  for (const input of inputs) {
    if (context.clock.due) yield;
    if (input.kind === 'id') ids.add(input.diaObjectId);
    else if (input.kind === 'position') circles.push(input);
    else if (input.kind === 'tns') {
      const { circle } = yield* findName(context, input);
      if (circle) circles.push(circle);
      else unplaced++;
    }
  }
  const followed: Followed = (diaObjectId, position) =>
    ids.has(diaObjectId) || (position !== null && circles.some(circle => isWithin(circle, position)));
  return { followed, unplaced };
}

function isWithin({ ra, dec, radiusArcsec }: Circle, position: SkyPosition): boolean {
  if (Math.abs(dec - position.dec) * 3600 > 2 * radiusArcsec) return false;
  return separationArcsec(ra, dec, position.ra, position.dec) <= radiusArcsec;
}

type Read = Pick<FeedEvents, 'events' | 'examinedTo'>;

class BackwardReader {
  readonly #query: FeedQuery;
  readonly #context: QueryContext;
  readonly #followed: Followed;
  readonly #messages: MessageReader;
  readonly #meets: ReturnType<typeof eventTest> | undefined;
  readonly #view = new ObjectView();
  readonly #lateMs: number;
  #examined = 0;

  constructor(query: FeedQuery, context: QueryContext, followed: Followed) {
    const { store, stream, selection } = query;
    const fragments: SharedFragments = context.fragments;
    this.#query = query;
    this.#context = context;
    this.#followed = followed;
    const inner = new (stream === 'matches' ? MatchMessages : ObjectMessages)(store, fragments);
    this.#messages = {
      messages: (...change) => (this.#isWanted(...change) ? inner.messages(...change) : []),
    };
    if (selection.filters || selection.status) this.#meets = eventTest(stream, selection, fragments.settings.catalogs);
    this.#lateMs = context.clock.halfLeftMs;
  }

  get #isLate(): boolean {
    return this.#examined >= MAX_EXAMINED || this.#context.clock.isPast(this.#lateMs);
  }

  /** Tests the object before its messages are written, which takes longer. */
  #isWanted(...[diaObjectId, version, removed]: Parameters<MessageReader['messages']>): boolean {
    const { store, stream } = this.#query;
    // A removed object meets no filter.
    if (removed) return !this.#meets && this.#isInPlace(diaObjectId, removed.position);
    const view = this.#view;
    if (!store.readObject(diaObjectId, view) || !this.#isInPlace(diaObjectId, view.position)) return false;
    if (stream === 'matches' && !view.hasStoredMatches) return false;
    if (!this.#meets || version === undefined) return true;
    const of = withSources(store, diaObjectId);
    if (stream === 'objects') return this.#meets({ ...UNUSED, diaObjectId, matchVersion: version }, of);
    const found = of?.[0].matches.filter(({ matchVersion }) => matchVersion === version) ?? [];
    return found.some(match => this.#meets!({ ...UNUSED, diaObjectId, ...match }, of));
  }

  #isInPlace(diaObjectId: bigint, position: SkyPosition | null): boolean {
    const { region } = this.#query.selection;
    if (this.#followed && !this.#followed(diaObjectId, position)) return false;
    return !region || (position !== null && region.contains(position.ra, position.dec));
  }

  /**
   * The newest events up to a position, at most `limit`. It stops early if it takes too long.
   * @param stop the position after an entry, at which it also stops
   */
  *read(from: EventPosition, stop: EventPosition, limit: number): InSteps<Read> {
    const { clock } = this.#context;
    const { store, stream, imported } = this.#query;
    const events: FeedEvent[] = [];
    let at = from;
    while (order(at, stop) > 0 && events.length < limit && !this.#isLate) {
      if (clock.due) yield;
      const isWhole = at.objects === 0 && at.matches === 0;
      const before = isWhole ? at.sequence - 1 : at.sequence;
      const [entry] = stream === 'matches' ? store.crossmatchesAfter(before, 1) : store.changesAfter(before, 1);
      if (!entry) return { events, examinedTo: START };
      const source = { store, matches: this.#messages, imported, entries: () => [entry] };
      // An id that no stream has may be beyond the entry.
      let high = isWhole ? entry.ids.length : Math.min(at.objects + Math.sign(at.matches), entry.ids.length);
      if (entry.isImport && !imported) high = 0;
      while (high > 0 && events.length < limit && !this.#isLate) {
        if (clock.due) yield;
        const low = Math.max(0, high - CHUNK);
        const begin = { sequence: before, objects: low };
        const limits = { entries: 1, objects: high - low, bytes: Number.POSITIVE_INFINITY };
        const piece = readMatches(source, begin, limits).found.toReversed();
        for (const event of piece.flatMap(each => this.#eventsOf(each, before)))
          if (order(event.end, from) <= 0 && events.length < limit) events.push(event);
        this.#examined += high - low;
        high = low;
        at = { ...begin, matches: 0 };
      }
      if (high === 0) at = atEntry(before);
    }
    const last = events.at(-1);
    return { events, examinedTo: events.length === limit && last ? last.begin : at };
  }

  /** The events of an object's change that meet the filters, the newest first. @param before the entry before it */
  #eventsOf(found: ObjectMatches, before: number): FeedEvent[] {
    const of = withSources(this.#query.store, found.messages[0]!.diaObjectId);
    const ends = positionsOf(found);
    return found.messages
      .map((message, i) => ({
        begin: i === 0 ? { ...found.begin, matches: 0 } : ends[i - 1]!,
        end: ends[i]!,
        message,
        timeUs: this.#timeOf(message, of, before),
      }))
      .filter(({ message }) => this.#meets?.(message, of) ?? true)
      .reverse();
  }

  #timeOf({ matchVersion, ingestTimeUs }: MatchMessage, of: WithSources | undefined, before: number): number {
    // The removals after an entry end with the one of the next entry.
    if (matchVersion === REMOVED_VERSION) return [...removalsAfter(this.#query.store.databases, before)].at(-1)!.timeUs;
    const record = of?.[0].records.find(each => each.matchVersion === matchVersion);
    return record?.crossmatchedAtUs ?? ingestTimeUs;
  }
}
