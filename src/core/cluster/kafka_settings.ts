/** The settings with which Kafka keeps the records of a topic in order, unchanged, and long enough. */

import type { KafkaCluster } from '../config/kafka.ts';
import { StoreError } from '../store/store_error.ts';

/** The topic that is the log. Plain data, which another thread may receive. */
export interface LogTopic extends KafkaCluster {
  readonly topic: string;
}

export interface TopicSettings {
  /** The number of servers that store each partition. */
  readonly partitions: readonly (readonly number[])[];
  readonly servers: number;
  readonly settings: ReadonlyMap<string, string>;
}

interface Rule {
  readonly setting: string;
  readonly isSafe: (value: string) => boolean;
  readonly safe: string;
}

const is = (setting: string, safe: string): Rule => ({ setting, isSafe: value => value === safe, safe });
const atLeast = (setting: string, least: number): Rule => {
  return { setting, isSafe: value => Number(value) >= least, safe: `at least ${least}` };
};

/** Records are kept this long. A node that was down for longer must start from a backup. */
const LEAST_RETENTION_MS = 86_400_000;
/** Kafka refuses the records of a node whose clock is further ahead, so such a node cannot move the time of the log. */
export const MOST_AHEAD_MS = 2000;

const RULES: readonly Rule[] = [
  is('cleanup.policy', 'delete'),
  {
    setting: 'retention.ms',
    isSafe: value => value === '-1' || Number(value) >= LEAST_RETENTION_MS,
    safe: `at least ${LEAST_RETENTION_MS}, or -1`,
  },
  is('retention.bytes', '-1'),
  is('message.timestamp.type', 'CreateTime'),
  {
    setting: 'message.timestamp.after.max.ms',
    isSafe: value => Number(value) <= MOST_AHEAD_MS,
    safe: `at most ${MOST_AHEAD_MS} (Kafka 3.6 or newer has this setting)`,
  },
  is('unclean.leader.election.enable', 'false'),
  atLeast('max.message.bytes', 1_000_000),
];
/** In a cluster, acknowledged records must outlive any one server. */
const CLUSTER_RULES: readonly Rule[] = [...RULES, atLeast('min.insync.replicas', 2)];
const MIN_REPLICAS = 3;

/**
 * The settings of a new topic for the log, in a cluster with this number of servers.
 * @throws StoreError for two servers: nodes would refuse the topic
 */
export function newTopic(servers: number): { readonly replicas: number; readonly settings: Record<string, string> } {
  const replicas = servers > 1 ? MIN_REPLICAS : 1;
  if (servers < replicas)
    throw new StoreError(
      `Cannot create the topic of the log because Kafka has only ${servers} servers: start at least ${replicas} (a trial needs only one)`,
    );
  const settings = {
    'cleanup.policy': 'delete',
    // 30 days. A node may be away for this long and still catch up by itself.
    'retention.ms': '2592000000',
    'retention.bytes': '-1',
    'message.timestamp.type': 'CreateTime',
    'message.timestamp.after.max.ms': `${MOST_AHEAD_MS}`,
    'unclean.leader.election.enable': 'false',
    'min.insync.replicas': servers > 1 ? '2' : '1',
  };
  return { replicas, settings };
}

/** The names of the settings that matter. */
export const SETTINGS: readonly string[] = CLUSTER_RULES.map(({ setting }) => setting);

/** Why a topic could lose or change records, and the remedy, as a clause after "because"; undefined if it cannot. */
export function whyUnsafe({ partitions, servers, settings }: TopicSettings): string | undefined {
  if (partitions.length !== 1) return `it has ${partitions.length} partitions: make one of 1 partition`;
  const replicas = partitions[0]!.length;
  // A single server is for trials only.
  if (servers > 1 && replicas < MIN_REPLICAS)
    return `its replication factor is ${replicas}: make it at least ${MIN_REPLICAS}`;
  for (const { setting, isSafe, safe } of servers > 1 ? CLUSTER_RULES : RULES) {
    const value = settings.get(setting);
    if (value === undefined || !isSafe(value)) return `its ${setting} is ${value ?? 'unknown'}: set it to ${safe}`;
  }
  return undefined;
}
