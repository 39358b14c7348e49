import { Backoff } from '../../core/base/backoff.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { pause } from '../../core/base/timeout.ts';
import { nowUs } from '../../core/base/times.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import { addOutcome, type Ingester, noOutcomes } from '../ingest/ingester.ts';
import { type Normalised, rejected } from '../ingest/normalise.ts';
import type { Connection, Feed, Message } from './transport.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 60_000;

interface ConsumerOptions<M extends Message> {
  readonly broker: BrokerName;
  readonly feed: Feed<M>;
  readonly ingester: Ingester;
  readonly log: Log;
}

function emptyMessage({ isTombstone = false }: Message): Normalised {
  return rejected(isTombstone ? 'a tombstone: the message has no value' : 'the message is empty');
}

/**
 * Brings one broker's live messages into the store: it receives a batch, stores it, and acknowledges it once it is
 * durable. After any failure the consumer reconnects. The broker resends messages that were not acknowledged; at worst
 * they are duplicates.
 */
export class BrokerConsumer<M extends Message = Message> {
  readonly #options: ConsumerOptions<M>;
  readonly #backoff = new Backoff(FIRST_RETRY_MS, MAX_RETRY_MS);
  #connected = false;
  #missingTopics: readonly string[] = [];
  #failures = 0;

  constructor(options: ConsumerOptions<M>) {
    this.#options = options;
  }

  /** Whether there is a connection, the topics that the broker lacks, and the number of failed or lost connections. */
  get state(): { readonly connected: boolean; readonly missingTopics: readonly string[]; readonly failures: number } {
    return { connected: this.#connected, missingTopics: this.#missingTopics, failures: this.#failures };
  }

  /**
   * Consumes until the signal fires. Then it finishes the current batch, unless it would have to wait. Never rejects.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { broker, feed, log } = this.#options;
    while (!stop.aborted) {
      const error = await this.#session(stop);
      if (error === undefined) continue;
      if (stop.aborted) {
        log('consume_unfinished', { broker, error: messageOf(error) });
        break;
      }
      this.#failures++;
      const waitMs = Math.round(this.#backoff.next());
      log('consume_failed', { broker, error: messageOf(error), next_attempt_in_s: waitMs / 1000 });
      await pause(waitMs, stop);
    }
    await feed.close();
  }

  /** Runs one connection until it ends. Resolves to the error that ended it, or to nothing after the signal. */
  async #session(stop: AbortSignal): Promise<unknown> {
    const { broker, log } = this.#options;
    let connection: Connection<M> | undefined;
    try {
      connection = await this.#options.feed.connect(stop);
      if (stop.aborted) return undefined;
      this.#connected = true;
      log('consume_connected', { broker });
      this.#missingTopics = connection.missingTopics ?? [];
      if (this.#missingTopics.length > 0) log('consume_topics_missing', { broker, topics: this.#missingTopics });
      while (!stop.aborted) await this.#batch(connection, stop);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      this.#connected = false;
      this.#missingTopics = [];
      await connection?.close();
    }
  }

  async #batch(connection: Connection<M>, stop: AbortSignal): Promise<void> {
    const messages = await connection.receive();
    if (messages.length === 0) return;
    const isEmpty = ({ bytes }: M) => bytes.length === 0;
    const held = messages.filter(message => !isEmpty(message));
    const normalised = (await this.#options.feed.normalise(held, nowUs(), stop)).values();
    const outcomes = noOutcomes();
    for (const message of messages) {
      const outcome = isEmpty(message) ? emptyMessage(message) : normalised.next().value!;
      addOutcome(outcomes, outcome, message.origin, message.bytes);
    }
    await this.#options.ingester.store(outcomes);
    await connection.acknowledge(messages);
    this.#backoff.reset();
  }
}
