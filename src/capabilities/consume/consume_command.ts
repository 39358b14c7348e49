/** `nearsky consume`: the brokers' live messages. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Duty, type Work } from '../../core/background/duty.ts';
import { logToStderr } from '../../core/base/log.ts';
import { stopSignal } from '../../core/base/stop_signal.ts';
import { type Command, type Invocation, printResult, table, UsageError, valueOfText } from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { BROKER_NAMES, BROKERS, type BrokerName, brokerSetting } from '../../core/contract/brokers.ts';
import { oneOf } from '../../core/contract/kind.ts';
import { notingErrors } from '../../core/store/noting.ts';
import { warnIfOpenToOthers } from '../../core/store/privacy.ts';
import { describeCounts, Ingester } from '../ingest/ingester.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { BrokerConsumer } from './broker_consumer.ts';
import { feedOf } from './feeds.ts';

const STATISTICS_MS = 60_000;
/**
 * Unfinished work is dropped this long after the signal, before a service manager kills the process
 * (deploy/nearsky.service). Its messages were not acknowledged, so the broker sends them again.
 */
const STOP_MS = 10_000;
/** The maximum time between closing everything and the end of the process. */
const EXIT_MS = 500;

export const command: Command = {
  usage: `consume ${BROKER_NAMES.join('|')}...`,
  description: `Stores the live messages of one or more brokers until it gets SIGTERM or SIGINT: ${BROKERS.map(
    ({ title }) => title,
  ).join(', ')}. It can run beside \`nearsky serve\`. A message is acknowledged once
it is on disk. So after any failure, even kill -9, the broker resends what is missing, and
duplicates are stored once. Of several nodes that share a log (NEARSKY_LOG), one at a time consumes
a broker; another takes over if it dies. An unusable message is kept, with the reason, in
DATA/rejected. A failing broker is retried at growing intervals of up to a minute, and does not
delay the others.

Settings of each broker (environment variables, or keys of the file that --config names):
${settingsOfBrokers()}
The log names topics that the broker lacks. They are looked for every minute; the others are read.
The broker stores the position of each group: a new group starts with the oldest available message.
Messages are stored in batches of up to CONSUME_BATCH_MESSAGES (1000), or what has arrived within
CONSUME_BATCH_SECONDS (0.5). After a kill -9 Kafka waits KAFKA_SESSION_TIMEOUT_SECONDS (10) before
it gives the messages to the next process; with KAFKA_GROUP_INSTANCE_ID the same process continues
at once after a restart.
It logs connections, failures, and counts once a minute on standard error, one JSON object per line.
The counts are printed at the end.`,
  options: {
    broker: { value: 'NAME', help: 'same as the argument; separate several names by commas' },
  },
  example: 'LASAIR_TOPICS=lasair_1mine LASAIR_GROUP_ID=mine nearsky consume lasair --data ./data',
  run,
};

function settingsOfBrokers(): string {
  const indent = ' '.repeat(14);
  return BROKERS.map(({ name, kafkaServers, otherSettings = [] }) => {
    const ofKafka = (['TOPICS', 'GROUP_ID', 'KAFKA_SERVERS'] as const).map(suffix => brokerSetting(name, suffix));
    const lines = [...(kafkaServers ? [ofKafka.join(', ')] : []), ...otherSettings];
    return `  ${name.padEnd(indent.length - 2)}${lines.join(`\n${indent}`)}`;
  }).join('\n');
}

interface Consumed {
  readonly broker: BrokerName;
  readonly ingester: Ingester;
  readonly rejects: RejectLog;
  /** All consumers of the broker so far. A new one is made each time this node takes its turn. */
  readonly consumers: BrokerConsumer[];
}

async function run(invocation: Invocation): Promise<number> {
  const brokers = brokersOf(invocation);
  const { config } = invocation;
  const feedFor = (broker: BrokerName) => feedOf(broker, config, process.env, logToStderr);
  // Invalid settings are reported before anything is opened.
  const feeds = new Map(brokers.map(broker => [broker, feedFor(broker)]));
  const stop = stopSignal();
  const archive = await openArchive(config);
  const { store, writer } = archive;
  const log = notingErrors(logToStderr, () => writer);
  warnIfOpenToOthers(config.NEARSKY_DATA, logToStderr);
  const consumed = brokers.map((broker): Consumed => {
    const rejects = new RejectLog(config, broker);
    return { broker, rejects, ingester: new Ingester(writer, rejects), consumers: [] };
  });
  const beginOne = ({ broker, ingester, consumers }: Consumed): Work => {
    const feed = feeds.get(broker) ?? feedFor(broker);
    feeds.delete(broker);
    const consumer = new BrokerConsumer({ broker, feed, ingester, log });
    consumers.push(consumer);
    const over = new AbortController();
    const ended = consumer.run(over.signal);
    return {
      close() {
        over.abort();
        return ended;
      },
    };
  };
  const work = consumed.map(one => {
    const begin = () => beginOne(one);
    return writer.log ? new Duty({ name: `consume ${one.broker}`, store, writer, log: logToStderr, begin }) : begin();
  });
  const statistics = setInterval(() => consumed.forEach(logCounts), STATISTICS_MS);
  await new Promise(resolve => stop.addEventListener('abort', resolve));
  logToStderr('stopping', { signal: stop.reason });
  const ended = Promise.all(work.map(each => each.close()));
  await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
  clearInterval(statistics);
  consumed.forEach(logCounts);
  printCounts(invocation, consumed);
  for (const { rejects } of consumed) rejects.close();
  await archive.close();
  // A connection that its client keeps open must not keep the process alive.
  setTimeout(() => process.exit(), EXIT_MS).unref();
  return 0;
}

function brokersOf({ options, positionals }: Invocation): BrokerName[] {
  const names = [...(options.get('broker')?.split(',') ?? []), ...positionals];
  if (names.length === 0) throw new UsageError('no broker given', command);
  return [...new Set(names)].map(name => valueOfText(oneOf(BROKER_NAMES), 'a broker', name));
}

const failuresOf = ({ consumers }: Consumed) => consumers.reduce((sum, { state }) => sum + state.failures, 0);

function logCounts(consumed: Consumed): void {
  const { broker, ingester, consumers } = consumed;
  const { connected = false, missingTopics = [] } = consumers.at(-1)?.state ?? {};
  const missing = missingTopics.length > 0 && { missing_topics: missingTopics };
  logToStderr('consumed', { broker, ...ingester.counts, connected, ...missing, failures: failuresOf(consumed) });
}

function printCounts(invocation: Invocation, consumed: readonly Consumed[]): void {
  const result = consumed.map(one => {
    const { broker, ingester, rejects } = one;
    return [broker, { ...ingester.counts, failures: failuresOf(one), rejects_file: rejects.path }] as const;
  });
  const text = consumed.map(one => {
    const counts = describeCounts(one.ingester.counts, one.rejects.path);
    return `${one.broker}\n${table([...counts, ['connections lost or refused', failuresOf(one)]])}`;
  });
  printResult(invocation, Object.fromEntries(result), text.join('\n\n'));
}
