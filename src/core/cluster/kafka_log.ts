/** Uses a topic of one partition as the log: Kafka stores the records, and gives each its position. */
import type { Consumer, Producer } from '@platformatic/kafka';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { pause, withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import { connectionTo, isKafkaError, saslFrom } from '../config/kafka.ts';
import { ClockAhead, StoreError } from '../store/store_error.ts';
import { KafkaElection } from './election.ts';
import { type LogTopic, MOST_AHEAD_MS, SETTINGS, whyUnsafe } from './kafka_settings.ts';
import { type LogEntry, type LogRead, LostPlace, lostPlace, type RecordLog } from './record_log.ts';

/**
 * Reads the shared log's options from the settings and the environment; undefined if no log is configured.
 * @throws ConfigError if one of the credentials is missing
 */
export function logSettings(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): LogTopic | undefined {
  const { NEARSKY_LOG: topic, NEARSKY_LOG_TLS: tls, NEARSKY_LOG_SASL_MECHANISM: mechanism } = config;
  return topic ? { ...topic, tls, ...saslFrom(environment, 'NEARSKY_LOG', mechanism, 'use the log') } : undefined;
}

interface KafkaLogOptions extends LogTopic {
  readonly log: Log;
}

/** The time for which a server holds back its answer while there are no records. */
const FETCH_WAIT_MS = 500;
const FETCH_BYTES = 2 ** 22;
export const RETRIES = 3;
/** The pause after a failure to send, and the time for which sending a record is retried. */
const SEND_AGAIN_MS = 250;
const APPEND_MS = 120_000;
/** The time limit for sending, longer than the requests and their retries can take. */
const SEND_MS = 60_000;
const CLOSE_MS = 2000;
/** The maximum bytes of the records that are sent at once. */
const SEND_BYTES = 900_000;
const PARTITION = 0;
/** The protocol's numbers. */
const [EARLIEST, LATEST] = [-2n, -1n];
const NO_EPOCH = -1;
const READ_UNCOMMITTED = 0;
const TOPIC_RESOURCE = 2;

type Client = typeof import('@platformatic/kafka');
type Bytes = Consumer<Buffer, Buffer, Buffer, Buffer>;
type Fetched = Awaited<ReturnType<Bytes['fetch']>>;
type Bounds = Omit<LogRead, 'entries'>;

interface Waiting {
  readonly id: string;
  readonly record: Uint8Array;
  readonly timeUs: number;
  readonly sent: PromiseWithResolvers<void>;
  /** The time after which a failed send is not retried. */
  readonly untilMs: number;
}

/**
 * Opens the log of a topic that exists; to be closed.
 * @throws StoreError when the topic or its servers are set in a way that could lose records; errors of the connection
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const client = await import('@platformatic/kafka');
  const log = new KafkaLog(client, options);
  try {
    await log.begin();
    await requireSafe(client, options, await log.replicas());
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

export class KafkaLog implements RecordLog {
  readonly #client: Client;
  readonly #options: KafkaLogOptions;
  readonly #consumer: Bytes;
  #producer: Producer<Buffer, Buffer, Buffer, Buffer> | undefined;
  #waiting: Waiting[] = [];
  #isSending = false;
  readonly #closing = new AbortController();
  #sending = Promise.resolve();
  #topicId = '';
  #clusterId = '';
  #mustRefresh = false;
  /** Whether the last attempt to send failed. */
  #isFailing = false;
  readonly #elections = new Set<KafkaElection>();
  /** The position after the last record read, and the leader's epoch when that record was written. */
  #after = { position: 0, epoch: NO_EPOCH };
  #bounds: Bounds | undefined;

  constructor(client: Client, options: KafkaLogOptions) {
    this.#client = client;
    this.#options = options;
    this.#consumer = new client.Consumer({ ...connectionTo(options), groupId: 'nearsky', retries: 1 });
    this.#consumer.on('error', () => {});
    this.#consumer.topics.track(options.topic);
  }

  /** Finds the topic that currently has the name. */
  async begin(): Promise<void> {
    const { id, topic } = await this.#metadata();
    [this.#clusterId, this.#topicId] = [id, topic.id];
  }

  /** The number of servers that should have each partition of the topic, and the number of servers. */
  async replicas(): Promise<{ readonly partitions: readonly (readonly number[])[]; readonly servers: number }> {
    const { topic, servers } = await this.#metadata();
    return { partitions: topic.partitions.map(({ replicas }) => replicas), servers };
  }

  async identity(): Promise<string> {
    return `${this.#clusterId}/${this.#topicId}`;
  }

  append(id: string, record: Uint8Array, timeUs: number): Promise<void> {
    const sent = Promise.withResolvers<void>();
    this.#waiting.push({ id, record, timeUs, sent, untilMs: performance.now() + APPEND_MS });
    if (!this.#isSending) this.#sending = this.#sendAll();
    return sent.promise;
  }

  /**
   * Sends the waiting records, one batch at a time. A failed batch is sent again, because the server that led the topic
   * may have died. The records may then be in the log twice.
   */
  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        await this.#send(batch);
        for (const { sent } of batch) sent.resolve();
        this.#isFailing = false;
      } catch (error) {
        // After a failure, the producer's sequence numbers may differ from those that the server expects.
        await this.#closeProducer();
        if (error instanceof LostPlace) {
          for (const { sent } of [...batch, ...this.#waiting.splice(0)]) sent.reject(error);
          continue;
        }
        if (isKafkaError(error, 'apiId', 'INVALID_TIMESTAMP')) {
          for (const { sent } of batch) sent.reject(clockAhead(error));
          this.resign();
          continue;
        }
        if (!this.#isFailing)
          this.#options.log('append_failed', { error: messageOf(error), retry_seconds: APPEND_MS / 1000 });
        this.#isFailing = true;
        const nowMs = this.#closing.signal.aborted ? Number.POSITIVE_INFINITY : performance.now();
        for (const { sent, untilMs } of batch) if (untilMs <= nowMs) sent.reject(error);
        this.#waiting.unshift(...batch.filter(({ untilMs }) => untilMs > nowMs));
        await pause(SEND_AGAIN_MS, this.#closing.signal);
      }
    }
    this.#isSending = false;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    const tooMany = this.#waiting.findIndex(({ record }, i) => (bytes += record.length) > SEND_BYTES && i > 0);
    return this.#waiting.splice(0, tooMany === -1 ? this.#waiting.length : tooMany);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    // Producers send to a topic by name, and another topic may have that name now.
    this.#mustRefresh = true;
    await this.#requireSameTopic();
    this.#producer ??= this.#newProducer();
    const messages = batch.map(({ id, record, timeUs }) => ({
      topic: this.#options.topic,
      partition: PARTITION,
      timestamp: BigInt(Math.floor(timeUs / 1000)),
      key: Buffer.from(id),
      value: Buffer.from(record.buffer, record.byteOffset, record.byteLength),
    }));
    const sent = this.#producer.send({ messages }).then(() => true);
    if (!(await withTimeout(sent, SEND_MS))) throw new Error(`no answer from Kafka for ${SEND_MS / 1000} s`);
  }

  #newProducer(): Producer<Buffer, Buffer, Buffer, Buffer> {
    // An idempotent producer waits for all in-sync replicas.
    const producer = new this.#client.Producer<Buffer, Buffer, Buffer, Buffer>({
      ...connectionTo(this.#options),
      idempotent: true,
      retries: RETRIES,
    });
    // An error also rejects the call that it concerns. Without a listener, it would crash the process.
    producer.on('error', () => {});
    return producer;
  }

  async read(from: number): Promise<LogRead> {
    let response: Fetched;
    try {
      response = await this.#fetch(from);
    } catch (error) {
      this.#mustRefresh = true;
      if (isKafkaError(error, 'apiId', 'OFFSET_OUT_OF_RANGE'))
        return { entries: [], ...(this.#bounds = await this.#listBounds()) };
      await this.#requireSameTopic();
      throw error;
    }
    const entries = this.#taken(response, from);
    // A server omits a partition that has no new records.
    const { first, end } = (this.#bounds ??= await this.#listBounds());
    // A server that has just become the leader may show fewer records than the previous leader. A position beyond all
    // of its records would be an error.
    return { entries, first, end: Math.max(from, end) };
  }

  async #fetch(from: number): Promise<Fetched> {
    const { topic } = await this.#metadata();
    const partition = {
      partition: PARTITION,
      currentLeaderEpoch: NO_EPOCH,
      lastFetchedEpoch: this.#after.position === from ? this.#after.epoch : NO_EPOCH,
      fetchOffset: BigInt(from),
      partitionMaxBytes: FETCH_BYTES,
    };
    return await this.#consumer.fetch({
      node: topic.partitions[PARTITION]!.leader,
      maxWaitTime: FETCH_WAIT_MS,
      minBytes: 1,
      maxBytes: FETCH_BYTES,
      // No transaction ever writes to the log.
      isolationLevel: READ_UNCOMMITTED,
      topics: [{ topicId: this.#topicId, partitions: [partition] }],
    });
  }

  /** The entries of an answer, from a position on. Also stores the bounds that the answer reports. */
  #taken({ responses }: Fetched, from: number): LogEntry[] {
    const partition = responses[0]?.partitions[0];
    if (!partition) return [];
    const { divergingEpoch, highWatermark, logStartOffset, records } = partition;
    if (divergingEpoch && divergingEpoch.epoch !== NO_EPOCH)
      throw lostPlace(`it was truncated at record ${divergingEpoch.endOffset} and continued from there`);
    this.#bounds = { first: Number(logStartOffset), end: Number(highWatermark) };
    const entries: LogEntry[] = [];
    for (const batch of records ?? []) {
      for (const { offsetDelta, key, value } of batch.records) {
        const position = Number(batch.firstOffset) + offsetDelta;
        // Kafka returns whole batches, including records before the position.
        if (position >= from) entries.push({ position, id: `${key ?? ''}`, record: value ?? new Uint8Array(0) });
      }
      this.#after = {
        position: Number(batch.firstOffset) + batch.lastOffsetDelta + 1,
        epoch: batch.partitionLeaderEpoch,
      };
    }
    return entries;
  }

  async #listBounds(): Promise<Bounds> {
    const topics = [this.#options.topic];
    const offset = async (timestamp: bigint) => {
      const offsets = await this.#consumer.listOffsets({ topics, timestamp });
      return Number(offsets.get(this.#options.topic)![PARTITION]);
    };
    return { first: await offset(EARLIEST), end: await offset(LATEST) };
  }

  async #metadata() {
    const { topic: name } = this.#options;
    const metadata = await this.#consumer.metadata({ topics: [name], forceUpdate: this.#mustRefresh });
    this.#mustRefresh = false;
    const topic = metadata.topics.get(name);
    if (!topic) throw new Error(`there is no topic ${name}`);
    return { id: metadata.id, topic, servers: metadata.brokers.size };
  }

  async #requireSameTopic(): Promise<void> {
    const { topic } = await this.#metadata();
    if (topic.id !== this.#topicId) throw lostPlace(`its topic ${this.#options.topic} was recreated`);
  }

  elect(duty: string): KafkaElection {
    const election = new KafkaElection(this.#options, duty);
    this.#elections.add(election);
    void election.ended.then(() => this.#elections.delete(election));
    return election;
  }

  /** Leaves the duties to other nodes for some time. */
  resign(): void {
    for (const election of this.#elections) election.resign();
  }

  async closeElections(): Promise<void> {
    await Promise.all([...this.#elections].map(election => election.close()));
  }

  async #closeProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    if (producer)
      await withTimeout(
        producer.close(true).catch(() => {}),
        CLOSE_MS,
      );
  }

  /** Never rejects. Sends the waiting records first, unless that fails. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#sending, this.closeElections()]);
    await this.#closeProducer();
    await withTimeout(
      this.#consumer.close(true).catch(() => {}),
      CLOSE_MS,
    );
  }

  [Symbol.asyncDispose] = () => this.close();
}

const clockAhead = (cause: unknown) =>
  new ClockAhead(
    `Cannot append to the log because the clock of this machine is more than ${MOST_AHEAD_MS / 1000} s ahead of Kafka's: synchronise the clocks of all nodes and Kafka servers (NTP)`,
    { cause },
  );

/** @throws StoreError if the topic's settings could lose or change records */
async function requireSafe(
  { Admin }: Client,
  options: KafkaLogOptions,
  replicas: Awaited<ReturnType<KafkaLog['replicas']>>,
): Promise<void> {
  const { topic, log } = options;
  const admin = new Admin({ ...connectionTo(options), retries: RETRIES });
  try {
    const [described] = await admin.describeConfigs({
      resources: [{ resourceType: TOPIC_RESOURCE, resourceName: topic, configurationKeys: [...SETTINGS] }],
    });
    const settings = new Map(described?.configs.map(({ name, value }) => [name, value ?? '']));
    const why = whyUnsafe({ ...replicas, settings });
    if (why) throw new StoreError(`Cannot use the topic ${topic} as the log because ${why}`);
    if (replicas.servers === 1) log('log_on_one_server', { topic, why: 'stored data is lost if that server is lost' });
  } finally {
    await admin.close();
  }
}
