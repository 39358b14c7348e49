/** Reads the publication's Kafka options from the settings and the environment. */
import { type Config, ConfigError } from '../../core/config/config.ts';
import { saslFrom } from '../../core/config/kafka.ts';
import type { KafkaTarget } from './kafka_sink.ts';

/** The settings as plain data, which another thread may receive. */
export interface PublishSettings extends KafkaTarget {
  /** Whether to publish crossmatches from imports too. */
  readonly imported: boolean;
  /** Whether there are watches. */
  readonly isWatching: boolean;
}

/**
 * The publications that these settings may need, with their names in the database and the log. No topic has a name with
 * *.
 */
export function publicationNames({ topic, isWatching }: Pick<PublishSettings, 'topic' | 'isWatching'>) {
  const matches = { kind: 'matches', name: topic ?? '*matches' } as const;
  return isWatching ? [matches, { kind: 'objects', name: '*objects' } as const] : [matches];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param environment has the credentials; they are not settings, so no output shows them
 * @returns undefined if nothing is configured
 * @throws ConfigError if a part is missing
 */
export function publishSettings(config: Config, environment: Environment): PublishSettings | undefined {
  const { PUBLISH_KAFKA_SERVERS: servers, PUBLISH_TOPIC: topic, PUBLISH_WATCHES: watches } = config;
  if (servers.length === 0 && topic === null && watches === null) return undefined;
  const missing = (name: string, mend: string) =>
    new ConfigError(`Cannot publish matches because ${name} is not set: ${mend}`);
  if (servers.length === 0) throw missing('PUBLISH_KAFKA_SERVERS', 'set it to servers of the cluster, as host:port');
  if (topic === null && watches === null)
    throw missing('PUBLISH_TOPIC', 'set it to the name of the topic, or unset PUBLISH_KAFKA_SERVERS');
  return {
    servers,
    topic: topic ?? undefined,
    isWatching: watches !== null,
    tls: config.PUBLISH_KAFKA_TLS,
    ...saslFrom(environment, 'PUBLISH_KAFKA', config.PUBLISH_KAFKA_SASL_MECHANISM, 'publish matches'),
    compression: config.PUBLISH_COMPRESSION,
    imported: config.PUBLISH_IMPORTED,
  };
}
