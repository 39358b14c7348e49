/** The brokers' live transports, from the settings and the environment. */

import { isUtf8 } from 'node:buffer';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import type { Log } from '../../core/base/log.ts';
import { type Config, ConfigError } from '../../core/config/config.ts';
import { type BrokerName, brokerSetting, type KafkaBroker } from '../../core/contract/brokers.ts';
import { normaliseProperties } from '../ingest/antares.ts';
import { normaliserOf } from '../ingest/brokers.ts';
import { type Normalised, rejected } from '../ingest/normalise.ts';
import { normaliseAnnounced } from '../ingest/pittgoogle.ts';
import { AlertLinks, alertsLink } from './antares_links.ts';
import { connectKafka, type KafkaMessage, type KafkaOptions } from './kafka.ts';
import { connectPubSub, googleAuthorization, type PubSubMessage } from './pubsub.ts';
import { type BatchLimits, type Feed, type Message, UnusableMessage } from './transport.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param environment has the credentials; they are not settings, so no output shows them
 * @throws ConfigError if a setting or a credential is missing
 */
export function feedOf(broker: BrokerName, config: Config, environment: Environment, log: Log): Feed<Message> {
  return (OWN[broker] ?? kafkaFeed)(broker as KafkaBroker, config, environment, log) as Feed<Message>;
}

type MakeFeed<Name> = (broker: Name, config: Config, environment: Environment, log: Log) => unknown;

/** The transports of brokers that use more than plain Kafka messages. */
const OWN: Partial<Record<BrokerName, MakeFeed<KafkaBroker>>> = {
  antares: (_, config, environment, log) => antaresFeed(config, environment, log),
  pittgoogle: (_, config, environment) => pittgoogleFeed(config, environment),
};

function kafkaFeed(broker: KafkaBroker, config: Config, _environment: Environment, log: Log): Feed<KafkaMessage> {
  const options: KafkaOptions = { ...kafkaOptions(broker, config, log), tls: false };
  const normalise = normaliserOf(broker, config.MIN_DIASOURCE_RELIABILITY);
  return {
    connect: signal => connectKafka(options, signal),
    normalise: async (messages, receivedAtUs) =>
      messages.map(({ bytes }) => withText(bytes, text => normalise(text, receivedAtUs))),
    close: async () => {},
  };
}

function antaresFeed(config: Config, environment: Environment, log: Log): Feed<KafkaMessage> {
  const username = credential('ANTARES_API_KEY', environment);
  const password = credential('ANTARES_API_SECRET', environment);
  const options: KafkaOptions = {
    ...kafkaOptions('antares', config, log),
    tls: config.ANTARES_KAFKA_TLS,
    sasl: { mechanism: config.ANTARES_KAFKA_SASL_MECHANISM, username, password },
  };
  const baseUrl = config.ANTARES_API_BASE_URL;
  const links = new AlertLinks({ baseUrl });
  const normaliseOne = async ({ bytes }: Message, receivedAtUs: number, signal: AbortSignal): Promise<Normalised> => {
    try {
      return normaliseProperties(await links.newest(await alertsLink(bytes), signal), receivedAtUs);
    } catch (error) {
      if (error instanceof UnusableMessage) return rejected(error.message);
      throw error;
    }
  };
  return {
    connect: signal => connectKafka(options, signal),
    normalise: (messages, receivedAtUs, signal) =>
      mapParallel(messages, AlertLinks.PARALLEL, signal, (message, stop) => normaliseOne(message, receivedAtUs, stop)),
    close: () => links.close(),
  };
}

function pittgoogleFeed(config: Config, environment: Environment): Feed<PubSubMessage> {
  const subscription = config.PITTGOOGLE_SUBSCRIPTION;
  if (subscription === null) {
    throw new ConfigError(
      'Cannot consume pittgoogle because PITTGOOGLE_SUBSCRIPTION is not set: set it to your subscription to the topic lsst-alerts-json, projects/PROJECT/subscriptions/NAME',
    );
  }
  // The emulator's environment variable, which all Google clients use.
  const emulator = environment.PUBSUB_EMULATOR_HOST;
  const endpoint = emulator ? `http://${emulator}` : config.PUBSUB_ENDPOINT;
  const limits = batchLimits(config);
  return {
    async connect(signal) {
      const authorization = emulator ? async () => ({}) : await googleAuthorization(endpoint);
      return connectPubSub({ endpoint, subscription, authorization, limits }, signal);
    },
    normalise: async (messages, receivedAtUs) =>
      messages.map(({ bytes, attributes }) =>
        withText(bytes, text =>
          normaliseAnnounced(text, attributes.diaObject_diaObjectId, receivedAtUs, config.MIN_DIASOURCE_RELIABILITY),
        ),
      ),
    close: async () => {},
  };
}

/** @internal Exported for the test. */
export function kafkaOptions(broker: KafkaBroker, config: Config, log: Log): Omit<KafkaOptions, 'tls' | 'sasl'> {
  const topicsName = brokerSetting(broker, 'TOPICS');
  const groupName = brokerSetting(broker, 'GROUP_ID');
  const topics = config[topicsName];
  const groupId = config[groupName];
  if (topics.length === 0) {
    throw new ConfigError(
      `Cannot consume ${broker} because ${topicsName} is not set: set it to the topics of your filters, separated by commas`,
    );
  }
  if (groupId === null) {
    throw new ConfigError(
      `Cannot consume ${broker} because ${groupName} is not set: choose a unique name and keep it, because the broker stores the read position under it`,
    );
  }
  return {
    servers: config[brokerSetting(broker, 'KAFKA_SERVERS')],
    topics,
    groupId,
    sessionTimeoutSeconds: config.KAFKA_SESSION_TIMEOUT_SECONDS,
    groupInstanceId: config.KAFKA_GROUP_INSTANCE_ID,
    limits: batchLimits(config),
    log,
  };
}

/** Bounds the memory of a batch whose messages are large. */
const BATCH_BYTES = 16 * 2 ** 20;

function batchLimits(config: Config): BatchLimits {
  return {
    messages: config.CONSUME_BATCH_MESSAGES,
    bytes: BATCH_BYTES,
    seconds: config.CONSUME_BATCH_SECONDS,
  };
}

function credential(name: string, environment: Environment): string {
  const value = environment[name];
  if (value) return value;
  throw new ConfigError(
    `Cannot consume antares because ${name} is not set in the environment: set your ANTARES credentials there`,
  );
}

/**
 * Runs `work` on each item, with at most `limit` running, and resolves to the results in the order of the items. If one
 * fails, the others are stopped. After all have ended, the promise rejects with the first failure.
 */
async function mapParallel<T, U>(
  items: readonly T[],
  limit: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<U>,
): Promise<U[]> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const results: U[] = [];
  await eachConcurrently(items, limit, async (item, i) => {
    if (stop.aborted) return;
    try {
      results[i] = await work(item, stop);
    } catch (error) {
      failure.abort(error);
    }
  });
  stop.throwIfAborted();
  return results;
}

/** Passes UTF-8 bytes to `read` as text; rejects any other bytes. */
export function withText(bytes: Uint8Array, read: (text: string) => Normalised): Normalised {
  return isUtf8(bytes)
    ? read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    : rejected('not UTF-8');
}
