/** Reads the shared log's options from the settings and the environment. */
import type { Config } from '../config/config.ts';
import { saslFrom } from '../config/kafka.ts';
import type { LogTopic } from './kafka_log.ts';

/**
 * Undefined if no log is configured.
 * @throws ConfigError if one of the credentials is missing
 */
export function logSettings(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): LogTopic | undefined {
  const { NEARSKY_LOG: topic, NEARSKY_LOG_TLS: tls, NEARSKY_LOG_SASL_MECHANISM: mechanism } = config;
  return topic ? { ...topic, tls, ...saslFrom(environment, 'NEARSKY_LOG', mechanism, 'use the log') } : undefined;
}
