/** A Kafka server of one node (KRaft), as a process of its own: Apache Kafka itself, which `kafka/fetch.sh` fetches. */
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
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin, Consumer, Producer } from '@platformatic/kafka';
import type { uvu } from 'uvu';
import { root } from '../e2e/support.ts';

const jars = process.env.NEARSKY_KAFKA_JARS ?? join(root, '.cache/kafka');

/** Why there is no Kafka to test with; undefined where there is. */
export const whyNoKafka =
  existsSync(jars) && readdirSync(jars).some(name => name.startsWith('kafka_'))
    ? undefined
    : 'there is no Kafka: run test/consume/kafka/fetch.sh';

export const API_KEY = 'a-key';
export const API_SECRET = 'a-secret-that-no-log-may-show';

const START_MS = 60_000;
const OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*`];

/** Ports that are free now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

function properties(directory: string, plain: number, sasl: number, controller: number): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    listeners: `PLAIN://127.0.0.1:${plain},SASL://127.0.0.1:${sasl},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAIN://127.0.0.1:${plain},SASL://127.0.0.1:${sasl}`,
    'listener.security.protocol.map': 'PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAIN',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
    'listener.name.sasl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${API_KEY}="${API_SECRET}";`,
    'listener.name.sasl.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'log.dirs': join(directory, 'log'),
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'group.initial.rebalance.delay.ms': '0',
    // A consumer that was killed is soon forgotten.
    'group.min.session.timeout.ms': '100',
    'auto.create.topics.enable': 'false',
    // The settings that a topic must have as a log.
    'log.message.timestamp.after.max.ms': '300000',
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

export class KafkaServer {
  /** `host:port`, without credentials. */
  server = '';
  /** `host:port`, with SASL: PLAIN or SCRAM-SHA-256, without TLS. */
  saslServer = '';
  readonly #directory: string;
  #port = 0;
  #process: ChildProcess | undefined;

  /** @param directory keeps its data */
  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async start(directory: string): Promise<KafkaServer> {
    const kafka = new KafkaServer(directory);
    await kafka.#start();
    return kafka;
  }

  /** A server that runs while the tests of a suite do, where there is Kafka. */
  static of<T>(test: uvu.Test<T>): KafkaServer {
    const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
    const kafka = new KafkaServer(directory);
    test.before(async () => {
      if (!whyNoKafka) await kafka.#start();
    });
    test.after(async () => {
      await kafka.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    return kafka;
  }

  async #start(): Promise<void> {
    const file = join(this.#directory, 'server.properties');
    mkdirSync(this.#directory, { recursive: true });
    const [plain, sasl, controller] = (await freePorts(3)) as [number, number, number];
    writeFileSync(file, properties(this.#directory, plain, sasl, controller));
    [this.#port, this.server, this.saslServer] = [plain, `127.0.0.1:${plain}`, `127.0.0.1:${sasl}`];
    const scram = `SCRAM-SHA-256=[name=${API_KEY},password=${API_SECRET}]`;
    const args = ['format', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '--add-scram', scram, '-c'];
    await this.#ended(this.#java('kafka.tools.StorageTool', ...args, file));
    await this.startAgain();
  }

  /** After `kill` or `stop`, at the same address, with all that it had. */
  async startAgain(): Promise<void> {
    const child = this.#java('kafka.Kafka', join(this.#directory, 'server.properties'));
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
    const child = spawn('java', [...OPTIONS, ...args], { stdio: ['ignore', log, log] });
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
    const socket = connect(this.#port, '127.0.0.1');
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
    return { clientId: 'test', bootstrapBrokers: [this.server], retries: 10, retryDelay: 200 };
  }

  createTopic(topic: string, partitions = 1, settings: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value }));
    return this.#with(new Admin(this.#options), admin =>
      admin.createTopics({ topics: [topic], partitions, replicas: 1, configs }),
    );
  }

  deleteTopic(topic: string): Promise<unknown> {
    return this.#with(new Admin(this.#options), admin => admin.deleteTopics({ topics: [topic] }));
  }

  /** Forgets the messages of a partition before that offset, as it does with old ones. */
  deleteBefore(topic: string, partition: number, offset: bigint): Promise<unknown> {
    const topics = [{ name: topic, partitions: [{ partition, offset }] }];
    return this.#with(new Admin(this.#options), admin => admin.deleteRecords({ topics }));
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

  /** The offsets that the group has committed, by partition; -1 where it has none. */
  async committed(groupId: string, topic: string, partitions = 1): Promise<bigint[]> {
    const topics = [{ topic, partitions: Array.from({ length: partitions }, (_, i) => i) }];
    const consumer = new Consumer({ ...this.#options, groupId });
    const offsets = await this.#with(consumer, client => client.listCommittedOffsets({ topics }));
    return offsets.get(topic) ?? [];
  }
}
