/**
 * Serves the clients of both streams, matches and objects, on one thread. Each client has a position in the journal,
 * and gets the next page after the previous one was sent. A slow client therefore falls behind, but holds only one page
 * of memory. Clients at the same position share a page. A new generation wakes the clients. They take short turns;
 * between turns, queries get at least as much time as the turns took.
 */
import type { StreamClient, StreamedBody } from '../../core/answers/body.ts';
import type { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { ClientAdmission, type ClientSlots, type Leave } from '../../core/base/client_admission.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { Config } from '../../core/config/config.ts';
import type { ThreadMetrics } from '../../core/metrics/thread_metrics.ts';
import type { Coordination } from '../../core/service/coordination.ts';
import type { Service } from '../../core/service/service.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { EVENTS, REFUSED } from './counters.ts';
import type { EventKind } from './event_test.ts';
import { FollowedAreas } from './followed_areas.ts';
import { streamSettings } from './settings.ts';
import {
  type EventPosition,
  type EventSelection,
  type Events,
  eventId,
  joined,
  StreamEvents,
} from './stream_events.ts';

/** The maximum number of parts written in one turn. A turn that reads the database ends after that read. */
const TURN_PARTS = 4;
/**
 * The maximum number of cached pages from which a client gets events in one step, and the number of bytes after which
 * the step ends.
 */
const STEP_PAGES = 64;
const AREA_BYTES = 16_384;
/** The minimum pause after a turn. A longer turn is followed by a pause of its own length. */
const PAUSE_MS = 1;
/** The minimum time between two wake-ups, so that one write sends several small commits. */
const WAKE_MS = 100;
/** After this time without events, a client gets a keep-alive event with its position in the journal. */
const QUIET_MS = 15_000;
/** The interval between checks for such clients. */
const LOOK_MS = 1000;
/**
 * The time after which a client reconnects when its stream has ended. It is random, so that clients do not all
 * reconnect at the same time.
 */
const [MIN_RETRY_MS, MAX_RETRY_MS] = [1000, 5000];

interface EventStreamsOptions {
  readonly config: Config;
  readonly coordination: Coordination;
  /** @throws StoreError */
  readonly store: () => StoreReader;
  readonly fragments: () => SharedFragments;
  readonly metrics: ThreadMetrics;
  readonly count: Service['count'];
  readonly log: Log;
  /** See `QUIET_MS`. */
  readonly quietMs?: number;
}

/** A client. */
interface Reader {
  position: EventPosition;
  readonly kind: EventKind;
  /** Undefined if the client wants every event. */
  readonly selection: EventSelection | undefined;
  client: StreamClient | undefined;
  readonly leave: () => void;
  /** Whether the last part written to the client is still being sent. */
  isWriting: boolean;
  /** The time of the last write to the client, by `performance.now()`. */
  writtenMs: number;
}

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #slots: ClientSlots;
  readonly #readers = new Set<Reader>();
  /** The readers that have work to do, in the order of their turns. */
  readonly #ready = new Set<Reader>();
  readonly #areas = new FollowedAreas();
  /** The shared pages by kind of events. */
  readonly #events = new Map<EventKind, StreamEvents>();
  /** The timer that checks for quiet clients, while there are clients. */
  #look: ReturnType<typeof setInterval> | undefined;
  #wake: ReturnType<typeof setTimeout> | undefined;
  /** The timer of the next turn, while any client has work to do; and the duration of the last turn. */
  #turn: ReturnType<typeof setTimeout> | undefined;
  #turnMs = 0;
  #isClosed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    const isFull = 'too many clients, or too many streams of this client, read streams';
    this.#slots = new ClientAdmission().slots({ slots: streamSettings.of(options.config).NEARSKY_MAX_STREAMS, isFull });
    options.coordination.onGeneration = () => {
      if (this.#readers.size > 0) this.#wake ??= setTimeout(() => this.#wakeAll(), WAKE_MS);
    };
  }

  /**
   * The newest entry of the journal.
   * @throws Unavailable if it cannot be read now
   */
  lastSequence(): number {
    const { coordination, store } = this.#options;
    const why = coordination.state.whyNoAnswer;
    if (why !== undefined) throw new Unavailable(why);
    if (!coordination.generation) throw new Unavailable('the index is not ready');
    store().resetRead();
    return store().lastSequence();
  }

  /**
   * Streams the selected events after a position, for as long as the client stays.
   * @param name the name under which the stream counts against the client's share
   * @param onEnd called when the stream ends
   * @throws Unavailable if there are too many streams, or this client has half of the maximum
   */
  open(
    kind: EventKind,
    position: EventPosition,
    selection: EventSelection | undefined,
    name: string,
    onEnd: () => void = () => {},
  ): StreamedBody {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const leave = this.#enter(name);
    const reader: Reader = {
      kind,
      position,
      leave: () => {
        leave();
        onEnd();
      },
      selection,
      client: undefined,
      isWriting: false,
      writtenMs: 0,
    };
    return {
      isEndless: true,
      begin: client => this.#begin(reader, client),
      written: () => {
        reader.isWriting = false;
        this.#queue(reader);
      },
      gone: () => this.#forget(reader),
    };
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#wake);
    clearTimeout(this.#turn);
    for (const reader of this.#readers) this.#end(reader);
  }

  #enter(name: string): Leave {
    try {
      return this.#slots.enterNow(name);
    } catch (error) {
      this.#options.count(REFUSED);
      throw error;
    }
  }

  #begin(reader: Reader, client: StreamClient): void {
    reader.client = client;
    this.#readers.add(reader);
    if (reader.selection?.area) this.#areas.add(reader.selection.area);
    this.#options.metrics.set('streams', this.#readers.size);
    this.#look ??= setInterval(() => this.#wakeAll(), LOOK_MS);
    const retryMs = Math.round(MIN_RETRY_MS + Math.random() * (MAX_RETRY_MS - MIN_RETRY_MS));
    this.#write(reader, Buffer.from(`retry: ${retryMs}\nid: ${eventId(reader.position)}\n\n`));
  }

  #end(reader: Reader): void {
    this.#forget(reader);
    reader.client?.end();
  }

  #forget(reader: Reader): void {
    reader.leave();
    if (this.#readers.delete(reader) && reader.selection?.area) this.#areas.delete(reader.selection.area);
    this.#ready.delete(reader);
    this.#options.metrics.set('streams', this.#readers.size);
    if (this.#readers.size > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }

  #wakeAll(): void {
    this.#wake = undefined;
    for (const reader of this.#readers) this.#queue(reader);
  }

  #queue(reader: Reader): void {
    if (reader.isWriting || !this.#readers.has(reader) || !(this.#isBehind(reader) || this.#isQuiet(reader))) return;
    this.#ready.add(reader);
    this.#turnSoon();
  }

  /** Whether the journal has entries that the reader has not seen. */
  #isBehind({ position }: Reader): boolean {
    const { generation, state } = this.#options.coordination;
    return generation !== undefined && position.sequence < generation.sequence && !state.whyNoAnswer;
  }

  #isQuiet({ writtenMs }: Reader): boolean {
    const { quietMs = QUIET_MS } = this.#options;
    return performance.now() - writtenMs >= quietMs;
  }

  #turnSoon(): void {
    this.#turn ??= setTimeout(() => this.#takeTurn(), Math.max(PAUSE_MS, this.#turnMs));
  }

  #takeTurn(): void {
    const beganMs = performance.now();
    const reads = this.#reads;
    let parts = 0;
    // A reader that is queued again takes its next turn after all others.
    for (const reader of this.#ready) {
      this.#ready.delete(reader);
      try {
        this.#step(reader);
      } catch (error) {
        this.#options.log('stream_failed', { position: eventId(reader.position), error: messageOf(error) });
        this.#end(reader);
      }
      if (++parts === TURN_PARTS || this.#reads !== reads) break;
    }
    // The runtime writes to the sockets only after this function has returned.
    queueMicrotask(() => {
      this.#turnMs = performance.now() - beganMs;
      this.#turn = undefined;
      if (this.#ready.size > 0) this.#turnSoon();
    });
  }

  /** Sends a client the next events, or a keep-alive event if the client has had no events for a long time. */
  #step(reader: Reader): void {
    if (!this.#hasFilters(reader)) {
      this.#end(reader);
      return;
    }
    const events = this.#nextEvents(reader);
    if (events && events.count > 0) {
      this.#options.count(EVENTS, events.count);
      this.#write(reader, events.bytes);
    } else if (this.#isQuiet(reader)) {
      this.#write(reader, Buffer.from(`: nothing else yet\nid: ${eventId(reader.position)}\n\n`));
    } else if (events) this.#queue(reader);
  }

  /**
   * Whether the filters of a reader still exist: its catalog may have been removed, or described anew. When the client
   * reconnects, the filter is refused by name; otherwise the reader would pass over events.
   */
  #hasFilters({ selection }: Reader): boolean {
    const { filters } = this.#options.fragments().settings.catalogs;
    return selection?.filters?.every(([name]) => filters.has(name)) ?? true;
  }

  /** How often the database was read. */
  get #reads(): number {
    return this.#events.values().reduce((sum, { reads }) => sum + reads, 0);
  }

  /** Advances a reader by one page, or over several cached pages that have few or no events for it. */
  #nextEvents(reader: Reader): Events | undefined {
    const { config, store, fragments } = this.#options;
    let events = this.#events.get(reader.kind);
    // The catalogs may have changed.
    if (events?.fragments !== fragments()) {
      events = new StreamEvents(store(), fragments(), config.PUBLISH_IMPORTED, this.#areas, reader.kind);
      this.#events.set(reader.kind, events);
    }
    const { reads } = events;
    const { selection } = reader;
    const begin = reader.position;
    const found: Events[] = [];
    let bytes = 0;
    for (let pages = 0; pages < STEP_PAGES && this.#isBehind(reader); pages++) {
      const page = events.after(reader.position);
      if (!page) break;
      reader.position = page.end;
      if (!selection) return page;
      for (const part of events.selected(page, selection)) {
        if (part.count > 0) found.push(part);
        bytes += part.bytes.length;
      }
      // Clients in areas get few events of a page. Others get one page at a time, which they share.
      const isEnough = bytes > 0 && (!selection.area || bytes >= AREA_BYTES);
      if (isEnough || events.reads !== reads) break;
    }
    return reader.position === begin ? undefined : joined(found);
  }

  #write(reader: Reader, bytes: Uint8Array<ArrayBuffer>): void {
    reader.isWriting = true;
    reader.writtenMs = performance.now();
    reader.client!.write(bytes);
  }
}
