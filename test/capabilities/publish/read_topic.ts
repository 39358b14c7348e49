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

const QUIET_MS = 60_000;

/** The messages of a topic, once there are this many with different ids. Throws if none arrive for a minute. */
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
  let isLate = false;
  let late: NodeJS.Timeout | undefined;
  try {
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
    const end = () => {
      isLate = true;
      stream.destroy();
    };
    late = setTimeout(end, QUIET_MS);
    for await (const { key, value, partition, headers } of stream) {
      late.refresh();
      const texts = new Map([...headers].map(([name, text]) => [`${name}`, text]));
      received.push({ key: `${key}`, value: `${value}`, partition, headers: texts, receivedMs: Date.now() });
      seen.add(texts.get('_id')!.toString('hex'));
      if (seen.size >= wanted) break;
    }
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    clearTimeout(late);
    await consumer.close(true).catch(() => {});
  }
  if (seen.size < wanted) throw new Error(`${seen.size} of ${wanted} messages came`);
  return received;
}
