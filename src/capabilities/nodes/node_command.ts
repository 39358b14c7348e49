/**
 * `nearsky node topic|status|begin|leave|settings|upgrade`: the log that several nodes share, and the position of this node
 * in it.
 */

import { messageOf } from '../../core/base/error_text.ts';
import { logToStderr } from '../../core/base/log.ts';
import { formatTime } from '../../core/base/times.ts';
import { type Command, type Invocation, printResult, table, UsageError } from '../../core/cli/command.ts';
import { logSettings, openKafkaLog } from '../../core/cluster/kafka_log.ts';
import type { LogTopic } from '../../core/cluster/kafka_settings.ts';
import { Member } from '../../core/cluster/member.ts';
import { endWhenGone } from '../../core/cluster/open_archive.ts';
import { raiseLevel, sharedSettings } from '../../core/cluster/shared_settings.ts';
import { type Config, ConfigError } from '../../core/config/config.ts';
import { readDamage, readStop } from '../../core/store/claims.ts';
import { requireDatabase } from '../../core/store/environment.ts';
import { readLevel } from '../../core/store/level.ts';
import { readLogPosition } from '../../core/store/log_position.ts';
import { readNodes } from '../../core/store/nodes.ts';
import { journalState } from '../../core/store/positions.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { Writer } from '../../core/store/writer.ts';
import { beginLog, leaveLog } from './beginning.ts';
import { createTopic } from './create_topic.ts';
import { type Holding, holdMost, otherNodes } from './other_nodes.ts';

/** The name of this node in the list of nodes that hold most. */
const HERE = 'this directory';

export const command: Command = {
  usage: 'node topic | node status | node begin | node leave | node settings | node upgrade',
  description: `Manages nodes that share one log (NEARSKY_LOG), and therefore have identical archives.
topic: creates the topic of NEARSKY_LOG on its Kafka cluster, with the settings that a log needs. It
needs no data directory.
status: prints this node's position in the log and a digest of its objects. Nodes at the same
position must have the same digest. It asks the services at NEARSKY_NODES, and prints which node
holds most; this needs no Kafka. It also lists the nodes that reported themselves within the last
five minutes, and the highest level of the log that each can read.
begin: starts an empty log with the archive of this directory. Further nodes then start from a
backup of it. An archive that has less than a node at NEARSKY_NODES is refused.
leave: applies what the log still has, if it can be read, and detaches the archive of this directory
from the log. begin and leave require that no other process uses the directory.
settings: makes this node's settings for stored data the settings of all nodes. A node with other
settings is not ready, and stores nothing.
upgrade: raises the level of the log to the highest that this release reads, once all nodes run it.
A node of an older release then stops.
docs/nodes.md describes how to set up nodes.`,
  options: {},
  example: 'NEARSKY_LOG=kafka://kafka-1:9092,kafka-2:9092/nearsky nearsky node status --data ./data',
  async run(invocation) {
    const [verb, ...rest] = invocation.positionals;
    if (verb === 'topic' && rest.length === 0) return topic(invocation);
    const act = { status, begin, leave, settings, upgrade }[verb ?? ''];
    if (!act || rest.length > 0)
      throw new UsageError('node takes topic, status, begin, leave, settings or upgrade', this);
    requireDatabase(invocation.config.NEARSKY_DATA);
    await using store = openStore(invocation.config.NEARSKY_DATA, verb === 'status' ? 'read' : 'write');
    const unwatch = endWhenGone(store);
    try {
      await act(invocation, store);
      return 0;
    } finally {
      unwatch();
    }
  },
};

async function topic(invocation: Invocation): Promise<number> {
  const log = requiredLog(invocation.config);
  const replicas = await createTopic(log);
  const value = { topic: log.topic, replicas };
  printResult(invocation, value, `created the topic ${log.topic}, on ${replicas} servers`);
  return 0;
}

async function status(invocation: Invocation, store: Store): Promise<void> {
  const position = readLogPosition(store.databases);
  const { sequence, digest } = journalState(store.databases);
  const { NEARSKY_LOG: topic } = invocation.config;
  const found = topic ? await endOf(invocation.config) : { error: 'NEARSKY_LOG is not set' };
  const end = 'end' in found ? found.end : null;
  const applied = position?.next ?? 0;
  const { NEARSKY_NODES: addresses } = invocation.config;
  const others = await otherNodes(addresses);
  const damage = readDamage(store.databases);
  const log = position?.log ?? null;
  const here = { address: HERE, found: { sequence, applied, log, isDamaged: damage !== undefined } };
  const most = addresses.length > 0 ? holdMost([here, ...others]).map(({ address }) => address) : null;
  const value = {
    log,
    applied,
    behind: end === null ? null : end - applied,
    time: position ? formatTime(position.timeUs) : null,
    stopped: readStop(store.databases, store.livePids()) ?? null,
    damaged: damage ?? null,
    journal_sequence: sequence,
    digest,
    level: position ? readLevel(store.databases) : null,
    readable_level: store.readableLevel,
    nodes: readNodes(store.databases).map(({ node, level }) => ({ node, readable_level: level })),
    others: others.map(({ address, found, error }) => ({
      address,
      applied: found?.applied ?? null,
      journal_sequence: found?.sequence ?? null,
      log: found?.log ?? null,
      damaged: found?.isDamaged ?? null,
      error: error ?? null,
    })),
    holds_most: most,
  };
  const text = table([
    ['log', value.log ?? 'none: this archive follows no log'],
    ['records applied', applied],
    ['records behind', value.behind ?? `unknown: ${'error' in found ? found.error : ''}`],
    ['time of the last one', value.time ?? 'none'],
    ...(value.stopped === null ? [] : [['stopped', value.stopped] as const]),
    ...(damage === undefined ? [] : [['damaged', damage] as const]),
    ['journal entries', sequence],
    ['digest', digest],
    ['level of the log', value.level ?? 'none'],
    ['levels read here', `up to ${value.readable_level}`],
    ...value.nodes.map(({ node, readable_level }) => [`levels read by ${node}`, `up to ${readable_level}`] as const),
    ...others.map(({ address, found, error }) => {
      return [address, found ? holdingText(found, log) : `unknown: ${error}`] as const;
    }),
    [
      'holds most',
      most === null
        ? 'unknown: NEARSKY_NODES is not set'
        : most.join(', ') || 'none of them: no undamaged node answered',
    ],
  ]);
  printResult(invocation, value, text);
}

/** @param here the log of this node */
function holdingText({ applied, sequence, log, isDamaged }: Holding, here: string | null): string {
  const other = log === here || log === null ? '' : ` of another log (${log})`;
  return `${applied} records applied${other}, ${sequence} journal entries${isDamaged ? '; its data is damaged' : ''}`;
}

/**
 * The end of the log, or the reason why it is unknown. The status of a node must work without Kafka, because it is
 * needed most when Kafka is away.
 */
async function endOf(config: Config): Promise<{ readonly end: number } | { readonly error: string }> {
  try {
    await using log = await openLog(config);
    return { end: (await log.read(0)).end };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    return { error: `the log cannot be read (${messageOf(error)})` };
  }
}

async function begin(invocation: Invocation, store: Store): Promise<void> {
  const others = await otherNodes(invocation.config.NEARSKY_NODES);
  for (const { address, error } of others) if (error) logToStderr('node_unknown', { address, error });
  {
    await using log = await openLog(invocation.config);
    await beginLog(store, log, others);
  }
  await status(invocation, store);
}

async function leave(invocation: Invocation, store: Store): Promise<void> {
  // An archive that lacks records of its log should not start a new log.
  if (invocation.config.NEARSKY_LOG && readLogPosition(store.databases))
    await asMember(invocation.config, store, async () => {}).catch(error =>
      logToStderr('log_failed', { error: messageOf(error) }),
    );
  store.resetRead();
  const { log, next: applied } = readLogPosition(store.databases) ?? {};
  await leaveLog(store);
  printResult(invocation, { left: log, applied }, `left the log ${log} with ${applied} of its records applied`);
}

async function settings(invocation: Invocation, store: Store): Promise<void> {
  const value = sharedSettings(invocation.config);
  await asMember(invocation.config, store, writer =>
    writer.commit({ kind: 'share_settings', settings: value, isReplacing: true }),
  );
  printResult(invocation, value, table(Object.entries(value)));
}

async function upgrade(invocation: Invocation, store: Store): Promise<void> {
  await asMember(invocation.config, store, writer => raiseLevel(store, writer));
  store.resetRead();
  const level = readLevel(store.databases);
  printResult(invocation, { level }, `the level of the log is ${level}`);
}

/** Changes the archive through the log. The archive must have applied all of the log. */
async function asMember(config: Config, store: Store, change: (writer: Writer) => Promise<void>): Promise<void> {
  await using member = new Member({ store, topic: requiredLog(config), log: logToStderr });
  await member.caughtUp;
  await change(new Writer(store, member));
}

const openLog = (config: Config) => openKafkaLog({ ...requiredLog(config), log: logToStderr });

/** @throws ConfigError if no log is configured */
function requiredLog(config: Config): LogTopic {
  const topic = logSettings(config, process.env);
  if (topic) return topic;
  throw new ConfigError('Cannot find the log because NEARSKY_LOG is not set: set it to kafka://HOST:PORT/TOPIC');
}
