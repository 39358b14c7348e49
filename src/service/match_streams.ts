/**
 * The clients that read the stream of matches on one thread. Each has a place in the journal and reads on from there,
 * a page when the page before is out: a slow client falls behind, and holds one page of memory. Clients at one place
 * share the page. A new generation wakes them, and they take short turns, after each of which the queries have at least
 * as long.
 */
import type { StreamClient, StreamedBody } from '../answers/body.ts';
import { type EventPosition, type Events, eventId, MatchEvents } from '../answers/match_events.ts';
import type { FilterValues } from '../answers/queries.ts';
import type { SharedFragments } from '../answers/shared_fragments.ts';
import { ClientAdmission, type ClientSlots, type Leave } from '../base/client_admission.ts';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { Unavailable } from '../base/refusal.ts';
import type { Config } from '../config/config.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Store } from '../store/store.ts';
import type { Coordination } from './coordination.ts';

/** The parts that are written in one turn. A turn in which the database is read ends at once. */
const TURN_PARTS = 4;
/** The shortest pause after a turn, which else is as long as the turn. */
const PAUSE_MS = 1;
/** The shortest time between two wakings: many small commits go out in one write. */
const WAKE_MS = 100;
/** A client that was sent nothing for this time gets a sign of life, with its place in the journal. */
const QUIET_MS = 15_000;
/** The interval of looking for such clients. */
const LOOK_MS = 1000;
/** The time after which a client comes again when the stream has ended: a random one, so that not all come at once. */
const [MIN_RETRY_MS, MAX_RETRY_MS] = [1000, 5000];

export interface MatchStreamsOptions {
  readonly config: Config;
  readonly coordination: Coordination;
  /** @throws StoreError */
  readonly store: () => Store;
  readonly fragments: () => SharedFragments;
  readonly metrics: ThreadMetrics;
  readonly log: Log;
  /** See `QUIET_MS`. */
  readonly quietMs?: number;
}

/** A client. */
interface Reader {
  position: EventPosition;
  /** Undefined where the client wants all matches. */
  readonly filters: FilterValues | undefined;
  client: StreamClient | undefined;
  readonly leave: Leave;
  /** Whether the last part that was written to the client is not out yet. */
  isWriting: boolean;
  /** When something was last written to the client, by `performance.now()`. */
  writtenMs: number;
}

export class MatchStreams {
  readonly #options: MatchStreamsOptions;
  readonly #slots: ClientSlots;
  readonly #readers = new Set<Reader>();
  /** The readers that have something to do, the next one first. */
  readonly #ready = new Set<Reader>();
  #events: MatchEvents | undefined;
  /** Looks for quiet clients while there are any. */
  #look: ReturnType<typeof setInterval> | undefined;
  #wake: ReturnType<typeof setTimeout> | undefined;
  /** The next turn, while a client has something to do; and how long the last one took. */
  #turn: ReturnType<typeof setTimeout> | undefined;
  #turnMs = 0;
  #isClosed = false;

  constructor(options: MatchStreamsOptions) {
    this.#options = options;
    const isFull = 'too many clients, or too many streams of this client, read the stream of matches';
    this.#slots = new ClientAdmission().slots({ slots: options.config.NEARSKY_MAX_STREAMS, isFull });
    options.coordination.onGeneration = () => {
      if (this.#readers.size > 0) this.#wake ??= setTimeout(() => this.#wakeAll(), WAKE_MS);
    };
  }

  /**
   * The newest entry of the journal.
   * @throws Unavailable when it cannot be read now
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
   * The matches after a position that meet every filter, for as long as the client stays.
   * @param name the name by which the client's share of the streams is counted
   * @throws Unavailable when there are too many streams, or the client has half of them
   */
  open(position: EventPosition, filters: FilterValues | null, name: string): StreamedBody {
    if (this.#isClosed) throw new Unavailable('the service is stopping');
    const reader: Reader = {
      position,
      leave: this.#enter(name),
      // Their order says nothing, and those that are equal share what is found for them.
      filters: filters?.toSorted(),
      client: undefined,
      isWriting: false,
      writtenMs: 0,
    };
    return {
      begin: client => this.#begin(reader, client),
      written: () => {
        reader.isWriting = false;
        this.#queue(reader);
      },
      gone: () => this.#forget(reader),
    };
  }

  /** Ends all of them, now and from now on. */
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
      this.#options.metrics.add('streamsRefused', 1);
      throw error;
    }
  }

  #begin(reader: Reader, client: StreamClient): void {
    reader.client = client;
    this.#readers.add(reader);
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
    this.#readers.delete(reader);
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

  /** Whether there is something in the journal that the reader has not seen. */
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
    const reads = this.#events?.reads;
    let parts = 0;
    // A reader that is queued anew comes again when all others have had their turn.
    for (const reader of this.#ready) {
      this.#ready.delete(reader);
      try {
        this.#step(reader);
      } catch (error) {
        this.#options.log('stream_failed', { position: eventId(reader.position), error: messageOf(error) });
        this.#end(reader);
      }
      if (++parts === TURN_PARTS || this.#events?.reads !== reads) break;
    }
    // The sockets are written to when this function has returned.
    queueMicrotask(() => {
      this.#turnMs = performance.now() - beganMs;
      this.#turn = undefined;
      if (this.#ready.size > 0) this.#turnSoon();
    });
  }

  /** Sends a client the next events, or a sign of life where there was nothing for it for long. */
  #step(reader: Reader): void {
    const events = this.#nextEvents(reader);
    if (events && events.count > 0) {
      this.#options.metrics.add('streamEvents', events.count);
      this.#write(reader, events.bytes);
    } else if (this.#isQuiet(reader)) {
      this.#write(reader, Buffer.from(`: nothing else yet\nid: ${eventId(reader.position)}\n\n`));
    } else if (events) this.#queue(reader);
  }

  /** Moves a reader on by a page. */
  #nextEvents(reader: Reader): Events | undefined {
    if (!this.#isBehind(reader)) return undefined;
    const { config, store, fragments } = this.#options;
    // The catalogs may have changed.
    if (this.#events?.fragments !== fragments())
      this.#events = new MatchEvents(store(), fragments(), config.PUBLISH_IMPORTED);
    const page = this.#events.after(reader.position);
    if (!page) return undefined;
    reader.position = page.end;
    return reader.filters ? this.#events.filtered(page, reader.filters) : page;
  }

  #write(reader: Reader, bytes: Uint8Array<ArrayBuffer>): void {
    reader.isWriting = true;
    reader.writtenMs = performance.now();
    reader.client!.write(bytes);
  }
}
