/** The three brokers with the same made objects: Kafka itself, and servers that speak the other protocols and fail now and then. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { AntaresServer } from '../capabilities/consume/antares_server.ts';
import type { Fault } from '../capabilities/consume/http_server.ts';
import { API_KEY, API_SECRET, KafkaServer } from '../capabilities/consume/kafka_server.ts';
import { PubSubServer, SUBSCRIPTION } from '../capabilities/consume/pubsub_server.ts';
import type { Place } from '../oracle/skies.ts';
import { type Dump, readDump } from './dump.ts';
import { random } from './kill_support.ts';
import { eventually, send, start } from './support.ts';

export const BROKERS = ['lasair', 'antares', 'pittgoogle'] as const;
export type Broker = (typeof BROKERS)[number];

const PARTITIONS = 2;
const BATCH = 20;
const FIRST_ID = 9_100_000_000_000_000_001n;

/** A message about the object with this number, or an unusable message. */
interface Sent {
  readonly object: number | undefined;
  readonly value: Uint8Array;
}

export const idOf = (object: number) => `${FIRST_ID + BigInt(object)}`;

/** Which objects each broker delivers: a part of them all, and of these every fifth twice. */
const DELIVERED: Record<Broker, (object: number) => boolean> = {
  lasair: object => object % 6 < 4,
  antares: object => object % 6 >= 2,
  pittgoogle: object => object % 7 !== 0,
};

export const brokersOf = (object: number) => BROKERS.filter(broker => DELIVERED[broker](object)).sort();

/** The same object has the same values with each broker, because chance decides which of them is the first. */
export function textOf(broker: Broker, object: number, { ra, dec }: Place): string {
  const id = idOf(object);
  switch (broker) {
    case 'lasair':
      return `{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}, "latestR": 0.9, "firstDiaSourceMjdTai": 61105.25, "x": NaN}`;
    case 'antares':
      // 61105.25 MJD (TAI) as Unix seconds.
      return `{"lsst_diaObject_diaObjectId": ${id}, "lsst_diaObject_ra": ${ra}, "lsst_diaObject_dec": ${dec}, "lsst_diaSource_reliability": 0.9, "ant_time_received": 1772776763, "ant_mjd": 2}`;
    case 'pittgoogle':
      return `{"diaObject": {"diaObjectId": ${id}, "ra": ${ra}, "dec": ${dec}}, "diaSource": {"reliability": 0.9, "midpointMjdTai": 61105.25}}`;
  }
}

function messagesOf(broker: Broker, objects: number, encode: (object: number) => Uint8Array): Sent[] {
  const sent: Sent[] = [];
  for (let object = 0; object < objects; object++) {
    if (!DELIVERED[broker](object)) continue;
    const message = { object, value: encode(object) };
    sent.push(message);
    if (object % 5 === 0) sent.push(message);
    if (object % 37 === 0) sent.push({ object: undefined, value: Buffer.from(`{"poison": ${object}`) });
  }
  return sent;
}

/** One request in ten fails. */
function sometimes(): Fault | undefined {
  const faults: Fault[] = [500, 'drop', 'truncate'];
  return random() < 0.1 ? faults[Math.floor(faults.length * random())] : undefined;
}

/** The number of messages for a share from 0 to 1, in whole rounds of the partitions. */
function countOf(sent: readonly Sent[], share: number): number {
  return share === 1 ? sent.length : Math.floor((share * sent.length) / PARTITIONS) * PARTITIONS;
}

/** The brokers with their messages, of which Kafka has none until they are sent. */
export class LiveBrokers {
  readonly kafka: KafkaServer;
  readonly antares: AntaresServer;
  readonly messages: Readonly<Record<Broker, readonly Sent[]>>;
  readonly #sent = { lasair: 0, antares: 0 };

  private constructor(kafka: KafkaServer, antares: AntaresServer, places: readonly Place[]) {
    this.kafka = kafka;
    this.antares = antares;
    const text = (broker: Broker, object: number) => textOf(broker, object, places[object]!);
    const older = (object: number) =>
      text('antares', (object + 1) % places.length).replace('"ant_mjd": 2', '"ant_mjd": 1');
    const locus = (object: number) => antares.add(`ANT${object}`, [older(object), text('antares', object)]);
    this.messages = {
      lasair: messagesOf('lasair', places.length, object => Buffer.from(text('lasair', object))),
      antares: messagesOf('antares', places.length, locus),
      pittgoogle: messagesOf('pittgoogle', places.length, object => Buffer.from(text('pittgoogle', object))),
    };
  }

  /** @param places of the objects, by number */
  static async start(directory: string, places: readonly Place[]): Promise<LiveBrokers> {
    const kafka = await KafkaServer.start(join(directory, 'kafka'));
    const brokers = new LiveBrokers(kafka, await AntaresServer.start(sometimes), places);
    for (const broker of ['lasair', 'antares'] as const) await kafka.createTopic(broker, PARTITIONS);
    return brokers;
  }

  /** Sends Kafka's messages up to this share of them. */
  async send(share: number): Promise<void> {
    for (const broker of ['lasair', 'antares'] as const) {
      const end = countOf(this.messages[broker], share);
      const values = this.messages[broker].slice(this.#sent[broker], end).map(({ value }) => value);
      if (values.length > 0) await this.kafka.send(broker, values, { partitions: PARTITIONS, compression: 'zstd' });
      this.#sent[broker] = end;
    }
  }

  async stop(): Promise<void> {
    await this.kafka.stop();
    await this.antares.close();
  }
}

/** The consumption of all messages, by any number of consecutive processes. */
export class Consumption {
  readonly data: string;
  readonly args: readonly string[];
  readonly #brokers: LiveBrokers;
  readonly #group: string;
  readonly #pubsub: PubSubServer;
  readonly #ids: string[] = [];

  private constructor(brokers: LiveBrokers, data: string, group: string, pubsub: PubSubServer) {
    this.#brokers = brokers;
    this.data = data;
    this.args = ['consume', ...BROKERS, '--data', data, '--json'];
    this.#group = group;
    this.#pubsub = pubsub;
  }

  /** Under a group of this name, into the directory of that name. */
  static async start(brokers: LiveBrokers, directory: string, name: string): Promise<Consumption> {
    const pubsub = await PubSubServer.start({ ackDeadlineMs: 300, holdMs: 50, fault: sometimes });
    return new Consumption(brokers, join(directory, name), name, pubsub);
  }

  /** Sends the messages up to this share of them. */
  async send(share = 1): Promise<void> {
    const { messages } = this.#brokers;
    const values = messages.pittgoogle.slice(this.#ids.length, countOf(messages.pittgoogle, share));
    this.#ids.push(...this.#pubsub.publish(values.map(({ value }) => ({ data: value }))));
    await this.#brokers.send(share);
  }

  get variables(): Record<string, string> {
    const { kafka, antares } = this.#brokers;
    return {
      LASAIR_KAFKA_SERVERS: kafka.server,
      LASAIR_TOPICS: 'lasair',
      LASAIR_GROUP_ID: this.#group,
      ANTARES_KAFKA_SERVERS: kafka.saslServer,
      ANTARES_KAFKA_TLS: 'no',
      ANTARES_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256',
      ANTARES_TOPICS: 'antares',
      ANTARES_GROUP_ID: `${this.#group}-antares`,
      ANTARES_API_KEY: API_KEY,
      ANTARES_API_SECRET: API_SECRET,
      ANTARES_API_BASE_URL: antares.url,
      PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION,
      PUBSUB_EMULATOR_HOST: new URL(this.#pubsub.url).host,
      KAFKA_SESSION_TIMEOUT_SECONDS: '1',
      CONSUME_BATCH_MESSAGES: `${BATCH}`,
      CONSUME_BATCH_SECONDS: '0.05',
    };
  }

  /** The messages that a broker counts as acknowledged. */
  async #acknowledged(broker: Broker): Promise<Sent[]> {
    const sent = this.#brokers.messages[broker];
    if (broker === 'pittgoogle') return sent.filter((_, i) => this.#pubsub.acknowledged.has(this.#ids[i]!));
    const group = broker === 'lasair' ? this.#group : `${this.#group}-antares`;
    const offsets = await this.#brokers.kafka.committed(group, broker, PARTITIONS);
    return sent.filter((_, i) => BigInt(Math.floor(i / PARTITIONS)) < (offsets[i % PARTITIONS] ?? -1n));
  }

  async isDone(): Promise<boolean> {
    for (const broker of BROKERS)
      if ((await this.#acknowledged(broker)).length < this.#brokers.messages[broker].length) return false;
    return true;
  }

  /** Runs until every message is acknowledged, and ends it as a service manager does. */
  async finish(): Promise<void> {
    if (await this.isDone()) return;
    const { child, finished } = start(this.args, this.variables);
    await eventually('every message is acknowledged', async () => (await this.isDone()) || undefined, 60_000);
    send(child, 'SIGTERM');
    const { code, stderr } = await finished;
    assert.is(code, 0, stderr);
    assert.not.match(stderr, API_SECRET);
  }

  /**
   * Every message that a broker need not send again is stored, or kept as a reject. Returns everything that is stored.
   */
  async assertAcknowledgedIsThere(): Promise<Dump> {
    // Acknowledged messages are read before stored data, because that is their order while a process lives.
    const acknowledged = await Promise.all(BROKERS.map(broker => this.#acknowledged(broker)));
    const dump = await readDump(this.data);
    const there = brokersIn(dump);
    for (const [i, broker] of BROKERS.entries()) {
      for (const { object } of acknowledged[i]!) {
        if (object === undefined) continue;
        assert.ok(there.get(idOf(object))?.includes(broker), `${broker} delivered object ${object}, and it is lost`);
      }
      const poison = acknowledged[i]!.filter(({ object }) => object === undefined);
      assert.ok(rejectsOf(this.data, broker) >= poison.length, `${broker}: each reject is kept`);
    }
    return dump;
  }

  close(): Promise<void> {
    return this.#pubsub.close();
  }
}

/** The brokers of each object that is stored. */
export function brokersIn(dump: Dump): Map<string, string[]> {
  return new Map([...dump.objects].map(([id, object]) => [id, JSON.parse(object).brokers]));
}

function rejectsOf(data: string, broker: Broker): number {
  const directory = join(data, 'rejected');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const lines = names
    .filter(name => name.startsWith(broker))
    // A line without its end is being written.
    .flatMap(name => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1));
  return new Set(lines.map(line => JSON.stringify({ ...JSON.parse(line), reason: '' }))).size;
}
