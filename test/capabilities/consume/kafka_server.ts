/**
 * Kafka servers (KRaft), alone or as a cluster, each as a separate process: Apache Kafka itself, which `kafka/fetch.sh`
 * downloads.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin, Consumer, Producer } from '@platformatic/kafka';
import type { uvu } from 'uvu';
import { MOST_AHEAD_MS } from '../../../src/core/cluster/kafka_settings.ts';
import { root } from '../../directory.ts';

export const jars = process.env.TEST_KAFKA_JARS ?? join(root, '.cache/kafka');

/** Why Kafka is unavailable for tests; undefined if it is available. */
export const whyNoKafka =
  existsSync(jars) && readdirSync(jars).some(name => name.startsWith('kafka_'))
    ? undefined
    : 'there is no Kafka: run test/capabilities/consume/kafka/fetch.sh';

export const API_KEY = 'a-key';
export const API_SECRET = 'a-secret-that-no-log-may-show';

const START_MS = 180_000;
/** The protocol's number for the end of a partition. */
const LATEST = -1n;
/** The classes of a running server, as `kafka/fetch.sh` stores them: a server then starts in half of the CPU time. */
const CLASSES = 'classes.jsa';
const OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

/** The ports of a server: without credentials, with SASL, and as a controller. */
type Ports = readonly [plain: number, sasl: number, controller: number];

/** @param at the index of the server in its cluster */
function properties(directory: string, host: string, at: number, cluster: readonly Ports[]): string {
  const [plain, sasl, controller] = cluster[at]!;
  const servers = `${cluster.length}`;
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': `${at + 1}`,
    'controller.quorum.voters': cluster.map(([, , port], i) => `${i + 1}@${host}:${port}`).join(','),
    listeners: `PLAIN://${host}:${plain},SASL://${host}:${sasl},CONTROLLER://${host}:${controller}`,
    'advertised.listeners': `PLAIN://${host}:${plain},SASL://${host}:${sasl}`,
    'listener.security.protocol.map': 'PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAIN',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
    'listener.name.sasl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${API_KEY}="${API_SECRET}";`,
    'listener.name.sasl.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'log.dirs': join(directory, 'log'),
    'offsets.topic.replication.factor': servers,
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': servers,
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': servers,
    // Another server soon takes over as leader after one was killed.
    'broker.heartbeat.interval.ms': '500',
    'broker.session.timeout.ms': '3000',
    // A machine under load starts slowly.
    'initial.broker.registration.timeout.ms': `${START_MS}`,
    'group.initial.rebalance.delay.ms': '0',
    // A killed consumer is soon forgotten.
    'group.min.session.timeout.ms': '100',
    'auto.create.topics.enable': 'false',
    'metadata.max.idle.interval.ms': '5000',
    // The settings that a topic must have as a log.
    'log.message.timestamp.after.max.ms': `${MOST_AHEAD_MS}`,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

export type Transaction = readonly [end: 'commit' | 'abort', values: readonly Uint8Array[]];

export class KafkaServer {
  /** `host:port`, without credentials. */
  server = '';
  /** `host:port`, with SASL: PLAIN or SCRAM-SHA-256, without TLS. */
  saslServer = '';
  readonly #directory: string;
  readonly #host: string;
  #port = 0;
  /** The servers of its cluster, itself among them. */
  #cluster: readonly KafkaServer[] = [this];
  #process: ChildProcess | undefined;

  /** @param directory keeps its data */
  private constructor(directory: string, host = '127.0.0.1') {
    this.#directory = directory;
    this.#host = host;
  }

  static async start(directory: string): Promise<KafkaServer> {
    const [kafka] = await KafkaServer.startCluster(directory, 1);
    return kafka!;
  }

  /** This many servers that form a cluster, each with all partitions, at one address of this machine. */
  static async startCluster(directory: string, size: number, host?: string): Promise<readonly KafkaServer[]> {
    const cluster = Array.from({ length: size }, (_, i) => new KafkaServer(join(directory, `${i + 1}`), host));
    await KafkaServer.#startAll(cluster);
    return cluster;
  }

  /** A server that runs during the tests of a suite, if Kafka is available. */
  static of<T>(test: uvu.Test<T>): KafkaServer {
    const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
    const kafka = new KafkaServer(directory);
    test.before(async () => {
      if (!whyNoKafka) await KafkaServer.#startAll([kafka]);
    });
    test.after(async () => {
      await kafka.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    return kafka;
  }

  static async #startAll(cluster: readonly KafkaServer[]): Promise<void> {
    const free = await freePorts(3 * cluster.length);
    const ports = cluster.map((_, i): Ports => [free[3 * i]!, free[3 * i + 1]!, free[3 * i + 2]!]);
    await Promise.all(cluster.map((server, at) => server.#setUp(at, cluster, ports)));
    await Promise.all(cluster.map(server => server.startAgain()));
  }

  async #setUp(at: number, cluster: readonly KafkaServer[], ports: readonly Ports[]): Promise<void> {
    const [plain, sasl] = ports[at]!;
    this.#cluster = cluster;
    [this.#port, this.server, this.saslServer] = [plain, `${this.#host}:${plain}`, `${this.#host}:${sasl}`];
    mkdirSync(this.#directory, { recursive: true });
    writeFileSync(this.#properties, properties(this.#directory, this.#host, at, ports));
    const scram = `SCRAM-SHA-256=[name=${API_KEY},password=${API_SECRET}]`;
    const args = ['format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '--add-scram', scram, '-c'];
    await this.#ended(this.#java('kafka.tools.StorageTool', ...args, this.#properties));
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get #properties(): string {
    return join(this.#directory, 'server.properties');
  }

  /** Restarts the server after `kill` or `stop`, at the same address and with its data. */
  async startAgain(): Promise<void> {
    const child = this.#java('kafka.Kafka', this.#properties);
    this.#process = child;
    const untilMs = performance.now() + START_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || performance.now() > untilMs)
        throw new Error(`Kafka did not start: ${this.#log()}`);
      await sleep(100);
    }
  }

  #java(...args: string[]): ChildProcess {
    const log = openSync(join(this.#directory, 'kafka.out'), 'a');
    // The stored classes are those of exactly this path, so it is relative and sorted.
    const path = readdirSync(jars)
      .filter(name => name.endsWith('.jar'))
      .sort()
      .join(':');
    const shared = existsSync(join(jars, CLASSES)) ? [`-XX:SharedArchiveFile=${CLASSES}`] : [];
    const child = spawn('java', [...OPTIONS, ...shared, '-cp', path, ...args], {
      cwd: jars,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    return child;
  }

  #log(): string {
    return readFileSync(join(this.#directory, 'kafka.out'), 'utf8').slice(-2000);
  }

  async #ended(child: ChildProcess): Promise<void> {
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`Kafka could not be set up: ${this.#log()}`);
  }

  /** Whether it accepts connections. */
  async #answers(): Promise<boolean> {
    const socket = connect(this.#port, this.#host);
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async #with<T, C extends { close(): Promise<void> }>(client: C, use: (client: C) => Promise<T>) {
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  get #options() {
    return {
      clientId: 'test',
      bootstrapBrokers: this.#cluster.map(({ server }) => server),
      retries: 10,
      retryDelay: 200,
    };
  }

  createTopic(topic: string, partitions = 1, settings: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value }));
    return this.#with(new Admin(this.#options), admin =>
      admin.createTopics({ topics: [topic], partitions, replicas: this.#cluster.length, configs }),
    );
  }

  /** The number of servers that have the whole first partition of a topic. */
  async inSync(topic: string): Promise<number> {
    const found = await this.#with(new Admin(this.#options), admin => admin.metadata({ topics: [topic] }));
    return found.topics.get(topic)!.partitions[0]!.isr.length;
  }

  addPartitions(topic: string, count: number): Promise<unknown> {
    return this.#with(new Admin(this.#options), admin => admin.createPartitions({ topics: [{ name: topic, count }] }));
  }

  deleteTopic(topic: string): Promise<unknown> {
    return this.#with(new Admin(this.#options), admin => admin.deleteTopics({ topics: [topic] }));
  }

  /** Forgets the messages of a partition before that offset, as it does with old ones. */
  deleteBefore(topic: string, partition: number, offset: bigint): Promise<unknown> {
    const topics = [{ name: topic, partitions: [{ partition, offset }] }];
    return this.#with(new Admin(this.#options), admin => admin.deleteRecords({ topics }));
  }

  /** The offset after the last message of each partition. */
  async ends(topic: string, partitions = 1): Promise<bigint[]> {
    const topics = [
      {
        name: topic,
        partitions: Array.from({ length: partitions }, (_, i) => ({ partitionIndex: i, timestamp: LATEST })),
      },
    ];
    const [found] = await this.#with(new Admin(this.#options), admin => admin.listOffsets({ topics }));
    // They come in the order in which their leaders answered.
    return found!.partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex).map(({ offset }) => offset);
  }

  /**
   * To be called while the server is stopped: damages the last batch of a topic's only segment, which the next start
   * then cuts off.
   */
  cutOff(topic: string): void {
    const file = join(this.#directory, 'log', `${topic}-0`, '00000000000000000000.log');
    truncateSync(file, statSync(file).size - 1);
  }

  /** Sends values to a topic, one partition after the other; null makes a tombstone. */
  send(
    topic: string,
    values: readonly (Uint8Array | null)[],
    options: { partitions?: number; compression?: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd' } = {},
  ): Promise<unknown> {
    const { partitions = 1, compression = 'none' } = options;
    const messages = values.map((value, i) => {
      const place = { topic, partition: i % partitions };
      return value ? { ...place, value: Buffer.from(value) } : { ...place, key: Buffer.from('a key') };
    });
    return this.#with(new Producer<Buffer, Buffer, Buffer, Buffer>({ ...this.#options, idempotent: true }), producer =>
      producer.send({ messages, compression }),
    );
  }

  /**
   * Makes transactions in a topic, one round after the other. The transactions of a round are of different producers,
   * which send by turns.
   */
  async transactions(topic: string, rounds: readonly (readonly Transaction[])[]): Promise<void> {
    const producers: Producer<Buffer, Buffer, Buffer, Buffer>[] = [];
    const newProducer = () =>
      new Producer<Buffer, Buffer, Buffer, Buffer>({
        ...this.#options,
        idempotent: true,
        transactionalId: `${topic}-${producers.length}`,
      });
    try {
      for (const round of rounds) {
        while (producers.length < round.length) producers.push(newProducer());
        const open = await Promise.all(round.map((_, i) => producers[i]!.beginTransaction()));
        for (let turn = 0; round.some(([, values]) => turn < values.length); turn++)
          for (const [i, [, values]] of round.entries())
            if (turn < values.length) await open[i]!.send({ messages: [{ topic, value: Buffer.from(values[turn]!) }] });
        for (const [i, [end]] of round.entries()) await open[i]![end]();
      }
    } finally {
      await Promise.all(producers.map(producer => producer.close()));
    }
  }

  /** The committed offsets of the group by partition; -1 if there is none. */
  async committed(groupId: string, topic: string, partitions = 1): Promise<bigint[]> {
    const topics = [{ topic, partitions: Array.from({ length: partitions }, (_, i) => i) }];
    const consumer = new Consumer({ ...this.#options, groupId });
    const offsets = await this.#with(consumer, client => client.listCommittedOffsets({ topics }));
    return offsets.get(topic) ?? [];
  }
}
