/** `nearsky publish`: sends each match as a message of a Kafka topic. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limited, logToStderr } from '../../core/base/log.ts';
import { stopSignal } from '../../core/base/stop_signal.ts';
import { type Command, type Invocation, printResult, table } from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { ConfigError } from '../../core/config/config.ts';
import { textual } from '../../core/contract/kind.ts';
import { digits } from '../../core/documents/kinds.ts';
import { requireDatabase } from '../../core/store/environment.ts';
import { notingErrors } from '../../core/store/noting.ts';
import { warnIfOpenToOthers } from '../../core/store/privacy.ts';
import { StoreLedger } from './ledger.ts';
import type { Publication } from './publication.ts';
import { openPublications } from './publications.ts';
import { publishSettings } from './publish_settings.ts';

/** Unfinished work is dropped this long after the signal; the next publication sends it again. */
const STOP_MS = 8000;
/** The maximum time between closing everything and the end of the process. */
const EXIT_MS = 500;

export const command: Command = {
  usage: 'publish [--from SEQUENCE|now|beginning] [--imported]',
  description: `Publishes each match of each recorded crossmatch as one message of a Kafka topic, in the order of
recording, until it gets SIGTERM or SIGINT. \`nearsky serve\` does the same if PUBLISH_KAFKA_SERVERS
and PUBLISH_TOPIC are set. Of several processes one publishes at a time; another takes over when it
stops. A message is the match as the API returns it at detail level \`full\`, as JSON without
spaces. docs/stream.md describes it, how to read it, and watches, which publish a part to topics of their own.

It continues where the last publication to the topic stopped; the first one starts with the oldest
stored crossmatch. The position is stored after the brokers have acknowledged. So after any failure,
even kill -9, up to 10,000 messages may be sent again, with the same _id, and none is lost. While a
broker or the topic fails, it retries at growing intervals of up to 30 seconds.

Settings (environment variables, or keys of the file that --config names):
  PUBLISH_KAFKA_SERVERS, PUBLISH_TOPIC, PUBLISH_WATCHES; PUBLISH_KAFKA_TLS, PUBLISH_KAFKA_SASL_MECHANISM, PUBLISH_COMPRESSION, PUBLISH_IMPORTED;
  credentials, in the environment only: PUBLISH_KAFKA_USERNAME, PUBLISH_KAFKA_PASSWORD
It logs one JSON object per line on standard error.`,
  options: {
    from: {
      value: 'WHERE',
      help: 'where to start: after this journal entry, with matches recorded from now on, or with the oldest match',
    },
    imported: { help: 'also publish imported crossmatches' },
  },
  example: 'PUBLISH_KAFKA_SERVERS=kafka.scimma.org:9092 PUBLISH_TOPIC=me.matches nearsky publish --data ./data',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const { config, flags } = invocation;
  const settings = publishSettings(config, process.env);
  if (!settings) {
    throw new ConfigError(
      'Cannot publish matches because PUBLISH_KAFKA_SERVERS and PUBLISH_TOPIC are not set: set them to servers of a Kafka cluster, as host:port, and to the name of a topic there',
    );
  }
  const stop = stopSignal();
  requireDatabase(config.NEARSKY_DATA);
  const { store, writer, close } = await openArchive(config);
  warnIfOpenToOthers(config.NEARSKY_DATA, logToStderr);
  const from = invocation.value('from', startKind(store.lastSequence()));
  const publications = await openPublications({
    config,
    settings: { ...settings, imported: settings.imported || flags.has('imported') },
    from,
    store,
    ledger: name => new StoreLedger(store, writer, name),
    log: notingErrors(limited(logToStderr), () => writer),
  });
  const ended = Promise.all(publications.map(each => each.run(stop)));
  await new Promise(resolve => stop.addEventListener('abort', resolve));
  logToStderr('stopping', { signal: stop.reason });
  await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
  printResult(invocation, { publications: publications.map(documentOf) }, publications.map(textOf).join('\n'));
  await close();
  // A connection that its client keeps open must not keep the process alive.
  setTimeout(() => process.exit(), EXIT_MS).unref();
  return 0;
}

function documentOf({ topic, position }: Publication) {
  const { sequence = null, messages = null } = position ?? {};
  return { topic, sequence, messages };
}

function textOf({ topic, position }: Publication): string {
  if (!position) return `published nothing, because another process or node publishes to ${topic}`;
  return table([
    ['topic', topic],
    ['published up to journal entry', position.sequence],
    ['messages acknowledged in total', position.messages],
  ]);
}

const startKind = (lastSequence: number) => {
  const entry = digits({ min: 0, max: lastSequence });
  return textual(`now, beginning, or a journal entry, 0 to ${lastSequence}`, text =>
    text === 'now' ? text : text === 'beginning' ? 0 : entry.parseText(text),
  );
};
