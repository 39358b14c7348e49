/**
 * Publishes every recorded match, in the order of the journal. The position is stored after the brokers have
 * acknowledged the messages. However a publication ends, the next one therefore repeats some messages and omits none.
 */
import { Backoff } from '../../core/base/backoff.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { pause, withTimeout } from '../../core/base/timeout.ts';
import type { Store } from '../../core/store/store.ts';
import type { PublishedPosition } from '../../core/store/types.ts';
import { type JournalSource, readMatches } from '../streams/journal_matches.ts';
import type { MatchMessage } from '../streams/message.ts';
import type { Sink } from './kafka_sink.ts';
import type { Ledger } from './ledger.ts';

/** The interval between checks for new crossmatches. */
const POLL_MS = 20;
/**
 * The limits of a batch. By default, a broker accepts 1 MiB per partition, and all messages may go to one partition.
 * The number of objects has its own limit because most objects may have no match.
 */
const BATCH = { entries: 100, objects: 20_000, bytes: 3 << 18 };
/** The maximum number of messages that a killed publication repeats: those sent after the stored position. */
const REPEATED_MESSAGES = 10_000;
/** The intervals at which the position is stored: while messages are sent, and while entries have no messages. */
const STORE_MS = 250;
const STORE_IDLE_MS = 1000;
/** The interval between checks whether the publishing process has ended. */
const TURN_MS = 500;
const [FIRST_RETRY_MS, LONGEST_RETRY_MS] = [500, 30_000];
/** After the signal to stop, the time limit for sending, and also for storing the position. */
const STOP_MS = 2000;

export interface PublicationOptions extends JournalSource {
  /** Its name in the log: the topic of all matches, or see `publicationNames`. */
  readonly topic: string;
  /**
   * Where to begin, instead of at the end of the last publication: after this journal entry, or with crossmatches
   * recorded from now on.
   */
  readonly from?: number | 'now';
  readonly store: Store;
  readonly ledger: Ledger;
  readonly connect: () => Promise<Sink>;
  readonly log: Log;
}

/** Messages that are sent together. */
interface Batch {
  readonly messages: readonly MatchMessage[];
  /** The position of the publication when the messages are acknowledged. */
  readonly end: PublishedPosition;
  /** Whether there are further entries. */
  readonly isFull: boolean;
}

/** Another node publishes, or may be publishing. */
class TurnOver extends Error {}

export class Publication {
  readonly #options: PublicationOptions;
  readonly #backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS);
  /** The acknowledged position. */
  #position: PublishedPosition = { sequence: 0, objects: 0, messages: 0 };
  #stored = this.#position;
  #storedMs = Number.NEGATIVE_INFINITY;
  #storing: Promise<void> | undefined;
  #storeFailure: unknown;
  /** Whether this process was publishing before. */
  #hasBegun = false;

  constructor(options: PublicationOptions) {
    this.#options = options;
  }

  get topic(): string {
    return this.#options.topic;
  }

  /** The acknowledged position; undefined if this process has only waited for another one. */
  get position(): PublishedPosition | undefined {
    return this.#hasBegun ? this.#position : undefined;
  }

  /** Publishes until the signal fires; resolves when no work is in progress. Failures are logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, ledger, topic } = this.#options;
    let isTurn = false;
    while (!signal.aborted) {
      try {
        isTurn ||= await this.#begin(signal);
        if (isTurn) await this.#publish(signal);
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof TurnOver) {
          log('publish_ended', { topic, reason: 'another node publishes, or may be publishing', ...this.#position });
          isTurn = false;
          await ledger.end().catch(() => {});
          continue;
        }
        const waitMs = this.#backoff.next();
        log('publish_failed', { topic, error: messageOf(error), retry_seconds: Math.round(waitMs / 100) / 10 });
        await pause(waitMs, signal);
      }
    }
    if (!isTurn) return;
    const ended = async () => {
      await this.#storing;
      await this.#store();
      await ledger.end();
    };
    await withTimeout(
      ended().catch(error => log('publish_failed', { topic, error: messageOf(error) })),
      STOP_MS,
    );
    log('publish_ended', { topic, ...this.#position });
  }

  /** Waits for the right to publish. Returns false if the signal fires first. */
  async #begin(signal: AbortSignal): Promise<boolean> {
    const { log, ledger, topic, from, store } = this.#options;
    let position = await ledger.begin();
    if (!position) log('publish_waits', { topic, reason: 'another process or node publishes to this topic' });
    while (!position && !signal.aborted) {
      await pause(TURN_MS, signal);
      position = await ledger.begin();
    }
    if (!position) return false;
    this.#stored = position;
    if (from !== undefined && !this.#hasBegun) {
      store.resetRead();
      position = { ...position, sequence: from === 'now' ? store.lastSequence() : from, objects: 0 };
    }
    this.#hasBegun = true;
    this.#position = position;
    log('publish_began', { topic, ...position });
    return true;
  }

  /** @throws any error; the position then includes all acknowledged messages */
  async #publish(signal: AbortSignal): Promise<void> {
    const sink = await this.#options.connect();
    try {
      let batch = this.#next(this.#position);
      while (!signal.aborted) {
        if (batch.messages.length > 0) {
          if (batch.end.messages - this.#stored.messages > REPEATED_MESSAGES) {
            await this.#storing;
            await this.#store();
          }
          if (!(await this.#options.ledger.holds())) throw new TurnOver();
          const sending = sink.send(batch.messages);
          const sent = withinStop(sending, signal);
          // Making the next batch may fail before this batch is sent.
          sent.catch(() => {});
          const following = batch.isFull ? this.#next(batch.end) : undefined;
          await sent;
          this.#backoff.reset();
          this.#position = batch.end;
          this.#storeWhenDue();
          batch = following ?? this.#next(this.#position);
        } else {
          this.#position = batch.end;
          this.#storeWhenDue();
          await pause(batch.isFull ? 0 : POLL_MS, signal);
          batch = this.#next(this.#position);
        }
      }
    } finally {
      await sink.close();
    }
  }

  #next(from: PublishedPosition): Batch {
    this.#options.store.resetRead();
    const { found, end, isFull } = readMatches(this.#options, from, BATCH);
    const messages = found.flatMap(object => object.messages);
    const sent = messages.reduce((sum, { topics }) => sum + (topics?.length ?? 1), 0);
    return { messages, end: { ...end, messages: from.messages + sent }, isFull };
  }

  /**
   * Stores the position, one write at a time. Publication does not wait for a write, which may wait for another
   * process.
   */
  #storeWhenDue(): void {
    if (this.#storeFailure !== undefined) {
      const failure = this.#storeFailure;
      this.#storeFailure = undefined;
      throw failure;
    }
    const hasMessages = this.#position.messages > this.#stored.messages;
    const waitMs = hasMessages ? STORE_MS : STORE_IDLE_MS;
    if (this.#storing || performance.now() - this.#storedMs < waitMs) return;
    this.#storing = this.#store()
      .catch(error => {
        this.#storeFailure = error;
      })
      .finally(() => {
        this.#storing = undefined;
      });
  }

  async #store(): Promise<void> {
    const position = this.#position;
    const { sequence, objects } = this.#stored;
    if (position.sequence === sequence && position.objects === objects) return;
    this.#storedMs = performance.now();
    if (!(await this.#options.ledger.store(position))) throw new TurnOver();
    this.#stored = position;
  }
}

/** Resolves like the promise, but rejects if it is still pending `STOP_MS` after the signal. */
async function withinStop(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => setTimeout(reject, STOP_MS, signal.reason).unref();
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  await Promise.race([promise, stopped]).finally(() => signal.removeEventListener('abort', stop));
}
