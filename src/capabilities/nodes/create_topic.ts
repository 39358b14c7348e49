import { RETRIES } from '../../core/cluster/kafka_log.ts';
import { type LogTopic, newTopic } from '../../core/cluster/kafka_settings.ts';
import { connectionTo } from '../../core/config/kafka.ts';
import { StoreError } from '../../core/store/store_error.ts';

/**
 * Creates the topic of a log, with settings that lose nothing.
 * @returns the number of servers that each have the whole log
 * @throws StoreError if fewer servers run than the setting requires, or if two do; errors of the connection, or of a
 * topic that exists already
 */
export async function createTopic(options: LogTopic): Promise<number> {
  const { Admin } = await import('@platformatic/kafka');
  const admin = new Admin({ ...connectionTo(options), retries: RETRIES });
  try {
    const { brokers } = await admin.metadata({ topics: [] });
    if (brokers.size < options.servers.length)
      throw new StoreError(
        `Cannot create the topic ${options.topic} because only ${brokers.size} of ${options.servers.length} Kafka servers run: start the others first`,
      );
    const { replicas, settings } = newTopic(brokers.size);
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value }));
    await admin.createTopics({ topics: [options.topic], partitions: 1, replicas, configs });
    return replicas;
  } finally {
    await admin.close();
  }
}
