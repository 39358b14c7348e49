/** Sends messages to Kafka with an idempotent producer. A message counts as sent when every in-sync replica has it. */
import { constants, zstdCompressSync } from 'node:zlib';
import type { Producer, SyncCompressionPhase } from '@platformatic/kafka';
import { withTimeout } from '../../core/base/timeout.ts';
import { connectionTo, type KafkaCluster } from '../../core/config/kafka.ts';
import { type MatchMessage, messageId } from '../streams/message.ts';

export interface KafkaTarget extends KafkaCluster {
  /** The topic of messages that name no topic. */
  readonly topic: string | undefined;
  readonly compression: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
}

/** The destination of messages. Any call may reject: the sink is then unusable and must be closed. */
export interface Sink {
  /** Resolves when all messages are durable. One call at a time. */
  send(messages: readonly MatchMessage[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The number of retries of a failed request. The broker recognises retries by their sequence number. */
const RETRIES = 3;
/** The time limit for sending, longer than the requests and their retries can take. */
const SEND_MS = 60_000;
const CLOSE_MS = 2000;

/** The headers that hop-client, the usual client of the stream, expects. */
const [ID, SENDER, FORMAT] = [Buffer.from('_id'), Buffer.from('_sender'), Buffer.from('_format')];
const JSON_FORMAT = Buffer.from('json');

/** Compressing matches takes a third of the time of the default level, and the result is smaller. */
const FAST_ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Connects when the first messages are sent. */
export async function kafkaSink(target: KafkaTarget): Promise<Sink> {
  const { compatibilityPartitioner, compressionsAlgorithms, Producer } = await import('@platformatic/kafka');
  // The Kafka client has no setting for the compression level.
  const compressSync: SyncCompressionPhase = data =>
    zstdCompressSync(Buffer.isBuffer(data) ? data : data.buffer, FAST_ZSTD);
  Object.assign(compressionsAlgorithms.zstd, { compressSync });
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...connectionTo(target),
    idempotent: true,
    compression: target.compression,
    // The partitioner that Java's clients and librdkafka's `murmur2` use.
    partitioner: compatibilityPartitioner,
    retries: RETRIES,
  });
  return new KafkaSink(producer, target);
}

class KafkaSink implements Sink {
  readonly #producer: Producer<Buffer, Buffer, Buffer, Buffer>;
  readonly #topic: string | undefined;
  readonly #sender: Buffer | undefined;

  constructor(producer: Producer<Buffer, Buffer, Buffer, Buffer>, { topic, sasl }: KafkaTarget) {
    this.#producer = producer;
    this.#topic = topic;
    this.#sender = sasl && Buffer.from(sasl.username);
    // An error also rejects the call that it concerns. Without a listener, it would crash the process.
    producer.on('error', () => {});
  }

  async send(messages: readonly MatchMessage[]): Promise<void> {
    const sent = this.#producer.send({
      messages: messages.flatMap(message => {
        const record = {
          key: Buffer.from(`${message.diaObjectId}`),
          value: Buffer.from(message.value.buffer, message.value.byteOffset, message.value.byteLength),
          headers: this.#headers(message),
        };
        return (message.topics ?? [this.#topic!]).map(topic => ({ topic, ...record }));
      }),
    });
    const done = await withTimeout(
      sent.then(() => true),
      SEND_MS,
    );
    if (!done) throw new Error(`no answer from Kafka for ${SEND_MS / 1000} s`);
  }

  #headers(message: MatchMessage): Map<Buffer, Buffer> {
    const headers = new Map([[ID, messageId(message)]]);
    if (this.#sender) headers.set(SENDER, this.#sender);
    return headers.set(FORMAT, JSON_FORMAT);
  }

  async close(): Promise<void> {
    const closed = this.#producer.close(true).catch(() => {});
    await withTimeout(closed, CLOSE_MS);
  }
}
