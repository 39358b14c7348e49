/** The settings of connections to Kafka clusters, for any purpose. */
import { ConfigError } from './load.ts';

/** Plain data, so that it can be sent to another thread. */
export interface KafkaCluster {
  /** `host:port` of one or more of the cluster's servers. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly sasl?: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
    readonly username: string;
    readonly password: string;
  };
}

const REQUEST_TIMEOUT_MS = 10_000;
const RETRY_DELAY_MS = 250;

/** The options of a client of @platformatic/kafka. */
export const connectionTo = ({ servers, tls, sasl }: KafkaCluster) => ({
  clientId: 'nearsky',
  bootstrapBrokers: [...servers],
  ...(tls ? { tls: {} } : {}),
  ...(sasl ? { sasl } : {}),
  timeout: REQUEST_TIMEOUT_MS,
  connectTimeout: REQUEST_TIMEOUT_MS,
  retryDelay: RETRY_DELAY_MS,
});

/** Whether an error of @platformatic/kafka, or one of its causes, has a property with that value. */
export function isKafkaError(error: unknown, property: string, value: unknown): boolean {
  const { findBy } = error as { findBy?: (property: string, value: unknown) => unknown };
  return findBy !== undefined && Boolean(findBy.call(error, property, value));
}

/**
 * Credentials from the environment. They are not settings, so that no output shows them.
 * @param prefix the prefix of the two variables, PREFIX_USERNAME and PREFIX_PASSWORD
 * @param doing follows "Cannot" in the message
 * @throws ConfigError if only one of the two is set
 */
export function saslFrom(
  environment: Readonly<Record<string, string | undefined>>,
  prefix: string,
  mechanism: NonNullable<KafkaCluster['sasl']>['mechanism'],
  doing: string,
): Pick<KafkaCluster, 'sasl'> {
  const [nameOfUser, nameOfPassword] = [`${prefix}_USERNAME`, `${prefix}_PASSWORD`];
  const [username, password] = [environment[nameOfUser], environment[nameOfPassword]];
  if (username && password) return { sasl: { mechanism, username, password } };
  if (!username && !password) return {};
  throw new ConfigError(
    `Cannot ${doing} because ${username ? nameOfPassword : nameOfUser} is not set: set both the name and the password in the environment`,
  );
}
