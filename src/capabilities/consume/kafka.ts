/**
 * A Kafka consumer: reads messages of topics as a member of a consumer group, and commits offsets once the messages are
 * durable.
 */
import type { Consumer, MessagesStream } from '@platformatic/kafka';
import type { Log } from '../../core/base/log.ts';
import { withTimeout } from '../../core/base/timeout.ts';
import { connectionTo, isKafkaError, type KafkaCluster } from '../../core/config/kafka.ts';
import type { BatchLimits, Connection, Message } from './transport.ts';

export interface KafkaOptions extends KafkaCluster {
  readonly topics: readonly string[];
  readonly groupId: string;
  readonly sessionTimeoutSeconds: number;
  /** A name that makes the consumer a static member of the group: a new member of this name replaces it at once. */
  readonly groupInstanceId: string | null;
  readonly limits: BatchLimits;
  readonly log: Log;
  /** See `LOOK_MS`. */
  readonly lookMs?: number;
}

export interface KafkaMessage extends Message {
  readonly origin: { readonly topic: string; readonly partition: number; readonly offset: string };
}

/** How long a server delays its answer while there are no messages. */
const FETCH_WAIT_MS = 1000;
/** After this time without an answer to a fetch, the connection counts as dead, whatever the client reports. */
const STALLED_MS = 60_000;
const CLOSE_MS = 5000;
/** The interval between checks for topics and partitions that were added. The client never looks for them. */
const LOOK_MS = 60_000;
/** How long a rebalancing group waits for its members. */
const REBALANCE_MS = 120_000;
const MIN_FETCH_BYTES = 2 ** 20;
/**
 * The maximum number of consecutive refused commits. The broker refuses commits while the group rebalances; more
 * refusals mean another fault.
 */
const MAX_REFUSED_COMMITS = 10;
/** The protocol's codes for the two ends of a partition. */
const EARLIEST = -2n;
const LATEST = -1n;

/**
 * Joins the group. A group without an offset begins with the earliest available message.
 * @throws Error if the group cannot be joined; the signal's reason if the signal fires
 */
export async function connectKafka(options: KafkaOptions, signal: AbortSignal): Promise<Connection<KafkaMessage>> {
  const { CommittedConsumer } = await import('./committed_consumer.ts');
  signal.throwIfAborted();
  const sessionTimeout = Math.round(options.sessionTimeoutSeconds * 1000);
  const fetchBytes = Math.max(MIN_FETCH_BYTES, options.limits.bytes);
  const consumer = new CommittedConsumer({
    ...connectionTo(options),
    groupId: options.groupId,
    ...(options.groupInstanceId === null ? {} : { groupInstanceId: options.groupInstanceId }),
    autocommit: false,
    sessionTimeout,
    // The client requires a timeout of at least the session timeout.
    rebalanceTimeout: Math.max(REBALANCE_MS, sessionTimeout),
    heartbeatInterval: Math.min(3000, Math.round(sessionTimeout / 5)),
    maxWaitTime: FETCH_WAIT_MS,
    maxBytes: fetchBytes,
    maxBytesPerPartition: fetchBytes,
    highWaterMark: options.limits.messages,
    retries: 1,
  });
  const connection = new KafkaConnection(consumer, options, signal);
  const joining = connection.join();
  try {
    await unlessAborted(joining, signal);
    return connection;
  } catch (error) {
    // The connection is not closed while it is still joining. A stream of a closed client emits an error before a
    // listener can be added.
    const close = () => connection.close();
    await resolvesInTime(2 * CLOSE_MS, joining.then(close, close));
    throw error;
  }
}

class KafkaConnection implements Connection<KafkaMessage> {
  readonly #consumer: Consumer;
  readonly #options: KafkaOptions;
  readonly #signal: AbortSignal;
  #stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  #failure: unknown;
  #heardMs = performance.now();
  #refusedCommits = 0;
  /** The partitions of each topic when this member joined. */
  #partitions = new Map<string, number>();
  #look: NodeJS.Timeout | undefined;
  /** Interrupts `receive`. */
  #wake = () => {};

  constructor(consumer: Consumer, options: KafkaOptions, signal: AbortSignal) {
    this.#consumer = consumer;
    this.#options = options;
    this.#signal = signal;
    const fail = (error: unknown) => this.#fail(error);
    consumer.on('error', fail);
    // After such an error the client sends no further heartbeats.
    consumer.on('consumer:heartbeat:error', ({ error }) => fail(error));
    signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = () => this.#wake();

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  async join(): Promise<void> {
    this.#partitions = await this.#countPartitions();
    const stream = await this.#openStream([...this.#partitions.keys()]);
    this.#stream = stream;
    await this.#mendOffsets();
    stream.on('readable', () => this.#wake());
    const look = () => this.#requireSamePartitions().catch(error => this.#fail(error));
    this.#look = setInterval(look, this.#options.lookMs ?? LOOK_MS).unref();
  }

  get missingTopics(): readonly string[] {
    return this.#options.topics.filter(topic => !this.#partitions.has(topic));
  }

  /** @throws the client's error if no topic exists, or one cannot be looked for */
  async #countPartitions(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    let missing: unknown;
    // A request for several topics fails if one of them is missing.
    for (const topic of this.#options.topics) {
      try {
        const { topics } = await this.#consumer.metadata({ topics: [topic], forceUpdate: true });
        counts.set(topic, topics.get(topic)!.partitions.length);
      } catch (error) {
        // The client drops the protocol's code.
        if ((error as Error).message !== `Unknown topic ${topic}.`) throw error;
        missing = error;
      }
    }
    if (counts.size === 0) throw missing;
    return counts;
  }

  /** @throws Error if a topic or a partition was added or is gone: the group assigns them when a member joins again */
  async #requireSamePartitions(): Promise<void> {
    const counts = await this.#countPartitions();
    for (const topic of this.#options.topics) {
      const [count, was] = [counts, this.#partitions].map(each => each.get(topic) ?? 0);
      if (count !== was) throw new Error(`the topic ${topic} has ${count} partitions now, and had ${was}`);
    }
  }

  /**
   * Uses the callback, because a stream's listeners must be added in the same turn of the event loop: an error may come
   * in the next turn.
   */
  #openStream(topics: string[]): Promise<MessagesStream<Buffer, Buffer, Buffer, Buffer>> {
    return new Promise((resolve, reject) => {
      this.#consumer.consume({ topics, mode: 'committed', fallbackMode: 'earliest' }, (error, stream) => {
        if (!stream) return reject(error);
        stream.on('error', failure => this.#fail(failure));
        stream.on('close', () => this.#fail(new Error('the stream of messages ended')));
        stream.on('fetch', () => {
          this.#heardMs = performance.now();
        });
        resolve(stream);
      });
    });
  }

  /**
   * Moves the group from an offset whose message was deleted to the earliest available message. Otherwise fetching
   * would always fail, because the client does not handle deleted offsets.
   */
  async #mendOffsets(): Promise<void> {
    const assigned = this.#consumer.assignments ?? [];
    if (assigned.length === 0) return;
    const topics = assigned.map(({ topic }) => topic);
    const committed = await this.#consumer.listCommittedOffsets({ topics: assigned });
    const earliest = await this.#consumer.listOffsets({ topics, timestamp: EARLIEST });
    const latest = await this.#consumer.listOffsets({ topics, timestamp: LATEST });
    const expired = assigned.flatMap(({ topic, partitions }) =>
      partitions.flatMap(partition => {
        const was = committed.get(topic)?.[partition] ?? -1n;
        const offset = earliest.get(topic)?.[partition] ?? 0n;
        const isKept = was >= offset && was <= (latest.get(topic)?.[partition] ?? was);
        return was < 0n || isKept ? [] : [{ topic, partition, was, offset, leaderEpoch: -1 }];
      }),
    );
    if (expired.length === 0) return;
    await this.#consumer.commit({ offsets: expired.map(({ was: _, ...offset }) => offset) });
    const lost = expired.map(({ topic, partition, was, offset }) => `${topic} ${partition}: ${was} to ${offset}`);
    throw new Error(`the broker deleted messages before they were read; continuing after them: ${lost.join(', ')}`);
  }

  async receive(): Promise<readonly KafkaMessage[]> {
    const { limits } = this.#options;
    const messages: KafkaMessage[] = [];
    let bytes = 0;
    let untilMs = Number.POSITIVE_INFINITY;
    while (messages.length < limits.messages && bytes < limits.bytes) {
      if (this.#failure !== undefined) throw this.#failure;
      const message = this.#stream!.read();
      if (message) {
        if (messages.length === 0) untilMs = performance.now() + limits.seconds * 1000;
        const { topic, partition, offset, value } = message;
        const origin = { topic, partition, offset: `${offset}` };
        messages.push({ origin, bytes: value ?? new Uint8Array(0), isTombstone: !value });
        bytes += value?.length ?? 0;
        continue;
      }
      if (this.#signal.aborted || performance.now() >= untilMs) break;
      await this.#waitUntil(untilMs);
    }
    return messages;
  }

  /** Waits until there is something to read, an error occurs, or `timeMs` is reached. */
  async #waitUntil(timeMs: number): Promise<void> {
    // A member without partitions fetches nothing.
    const hasPartitions = (this.#consumer.assignments ?? []).some(({ partitions }) => partitions.length > 0);
    if (!hasPartitions) this.#heardMs = performance.now();
    const stalledMs = this.#heardMs + STALLED_MS;
    if (performance.now() > stalledMs) throw new Error(`no answer for ${STALLED_MS / 1000} s`);
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, Math.max(1, Math.min(timeMs, stalledMs) - performance.now()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async acknowledge(messages: readonly KafkaMessage[]): Promise<void> {
    const next = new Map<string, { topic: string; partition: number; offset: bigint; leaderEpoch: number }>();
    for (const { origin } of messages) {
      const { topic, partition, offset } = origin;
      next.set(`${topic} ${partition}`, { topic, partition, offset: BigInt(offset) + 1n, leaderEpoch: -1 });
    }
    try {
      await this.#consumer.commit({ offsets: [...next.values()] });
      this.#refusedCommits = 0;
    } catch (error) {
      // The group is rebalancing. These messages are already stored; the next owner of their partition may read them
      // again.
      if (!isKafkaError(error, 'needsRejoin', true) || ++this.#refusedCommits > MAX_REFUSED_COMMITS) throw error;
      this.#options.log('consume_commit_refused', { group: this.#options.groupId, messages: messages.length });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#look);
    this.#signal.removeEventListener('abort', this.#onAbort);
    const { Base } = await import('@platformatic/kafka');
    // Leaves the group, so that another member need not wait until the session expires. If leaving fails, only the
    // connections are closed.
    const left = await resolvesInTime(CLOSE_MS, this.#consumer.close(true));
    if (!left) await resolvesInTime(CLOSE_MS, Base.prototype.close.call(this.#consumer) as Promise<void>);
  }
}

/** Whether the promise resolves within `milliseconds`. */
async function resolvesInTime(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const done = promise.then(
    () => true,
    () => false,
  );
  return (await withTimeout(done, milliseconds)) ?? false;
}

/** Resolves like the promise, or rejects with the signal's reason if the signal fires first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop));
}
