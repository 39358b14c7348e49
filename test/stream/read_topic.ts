/** Reads a topic of the tests' Kafka, from its beginning. */
import { Consumer } from '@platformatic/kafka';
import type { KafkaServer } from '../consume/kafka_server.ts';

export interface ReceivedMessage {
  readonly key: string;
  readonly value: string;
  readonly partition: number;
  readonly headers: ReadonlyMap<string, Buffer>;
  /** Milliseconds since 1970. */
  readonly receivedMs: number;
}

/** The messages of a topic, as soon as there are so many of different ids. Throws when nothing comes for a minute. */
export async function readTopic(kafka: KafkaServer, topic: string, wanted: number): Promise<ReceivedMessage[]> {
  const consumer = new Consumer({
    clientId: 'test',
    groupId: `reader-${Math.random()}`,
    bootstrapBrokers: [kafka.server],
    retries: 10,
    retryDelay: 200,
    maxWaitTime: 100,
  });
  const received: ReceivedMessage[] = [];
  const seen = new Set<string>();
  const late = AbortSignal.timeout(60_000);
  try {
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
    late.addEventListener('abort', () => stream.destroy());
    for await (const { key, value, partition, headers } of stream) {
      const texts = new Map([...headers].map(([name, text]) => [`${name}`, text]));
      received.push({ key: `${key}`, value: `${value}`, partition, headers: texts, receivedMs: Date.now() });
      seen.add(texts.get('_id')!.toString('hex'));
      if (seen.size >= wanted) break;
    }
  } finally {
    await consumer.close(true).catch(() => {});
  }
  if (seen.size < wanted) throw new Error(`${seen.size} of ${wanted} messages came`);
  return received;
}
