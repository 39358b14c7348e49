/**
 * kill -9 of `consume` at random moments, beside Kafka itself and servers that fail now and then: nothing that was acknowledged is
 * missing, nothing is there twice, and the end is that of a run that nobody disturbed. NEARSKY_KILLS sets how many times (3).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AntaresServer } from '../consume/antares_server.ts';
import type { Fault } from '../consume/http_server.ts';
import { API_KEY, API_SECRET, KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { PubSubServer, SUBSCRIPTION } from '../consume/pubsub_server.ts';
import { type Dump, readDump } from './dump.ts';
import { assertKept, killAfter, kills, random } from './kill_support.ts';
import { eventually, send, start, withDirectory } from './support.ts';

const test = suite(whyNoKafka ? `e2e/kill_consume (skipped: ${whyNoKafka})` : 'e2e/kill_consume');
const real = whyNoKafka ? test.skip : test;

const BROKERS = ['lasair', 'antares', 'pittgoogle'] as const;
type Broker = (typeof BROKERS)[number];

const OBJECTS = 600;
const PARTITIONS = 2;
const BATCH = 20;
const FIRST_ID = 9_100_000_000_000_000_001n;

/** A message: of the object of that number, or one that can not be used. */
interface Sent {
  readonly object: number | undefined;
  readonly value: Uint8Array;
}

/** Which objects each broker delivers: a part of them all, and of these every fifth twice. */
const DELIVERED: Record<Broker, (object: number) => boolean> = {
  lasair: object => object < 400,
  antares: object => object >= 200,
  pittgoogle: object => object % 3 !== 0,
};

const brokersOf = (object: number) => BROKERS.filter(broker => DELIVERED[broker](object)).sort();

/** The same object has the same values with each broker, as which of them is the first is left to chance. */
function textOf(broker: Broker, object: number): string {
  const [id, ra, dec] = [FIRST_ID + BigInt(object), object / 2, object / 10 - 30];
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

function messagesOf(broker: Broker, encode: (object: number) => Uint8Array): Sent[] {
  const sent: Sent[] = [];
  for (let object = 0; object < OBJECTS; object++) {
    if (!DELIVERED[broker](object)) continue;
    const message = { object, value: encode(object) };
    sent.push(message);
    if (object % 5 === 0) sent.push(message);
    if (object % 37 === 0) sent.push({ object: undefined, value: Buffer.from(`{"poison": ${object}`) });
  }
  return sent;
}

/** One request in ten goes wrong. */
function sometimes(): Fault | undefined {
  const faults: Fault[] = [500, 'drop', 'truncate'];
  return random() < 0.1 ? faults[Math.floor(faults.length * random())] : undefined;
}

/** The three brokers with their messages. */
class World {
  readonly kafka: KafkaServer;
  readonly antares: AntaresServer;
  readonly sent: Readonly<Record<Broker, Sent[]>>;

  private constructor(kafka: KafkaServer, antares: AntaresServer) {
    this.kafka = kafka;
    this.antares = antares;
    const older = (object: number) => textOf('antares', object + 1).replace('"ant_mjd": 2', '"ant_mjd": 1');
    const locus = (object: number) => antares.add(`ANT${object}`, [older(object), textOf('antares', object)]);
    this.sent = {
      lasair: messagesOf('lasair', object => Buffer.from(textOf('lasair', object))),
      antares: messagesOf('antares', locus),
      pittgoogle: messagesOf('pittgoogle', object => Buffer.from(textOf('pittgoogle', object))),
    };
  }

  static async start(directory: string): Promise<World> {
    const world = new World(await KafkaServer.start(join(directory, 'kafka')), await AntaresServer.start(sometimes));
    for (const broker of ['lasair', 'antares'] as const) {
      await world.kafka.createTopic(broker, PARTITIONS);
      const values = world.sent[broker].map(({ value }) => value);
      await world.kafka.send(broker, values, { partitions: PARTITIONS, compression: 'zstd' });
    }
    return world;
  }

  async stop(): Promise<void> {
    await this.kafka.stop();
    await this.antares.close();
  }
}

/** A consumption of all of it, by however many processes one after the other. */
class Consumption {
  readonly data: string;
  readonly args: readonly string[];
  readonly #world: World;
  readonly #group: string;
  readonly #pubsub: PubSubServer;
  readonly #ids: readonly string[];

  private constructor(world: World, data: string, group: string, pubsub: PubSubServer) {
    this.#world = world;
    this.data = data;
    this.args = ['consume', ...BROKERS, '--data', data, '--json'];
    this.#group = group;
    this.#pubsub = pubsub;
    this.#ids = pubsub.publish(world.sent.pittgoogle.map(({ value }) => ({ data: value })));
  }

  static async start(world: World, directory: string, name: string): Promise<Consumption> {
    const pubsub = await PubSubServer.start({ ackDeadlineMs: 300, holdMs: 50, fault: sometimes });
    return new Consumption(world, join(directory, name), name, pubsub);
  }

  get variables(): Record<string, string> {
    const { kafka, antares } = this.#world;
    return {
      LASAIR_KAFKA_SERVERS: kafka.server,
      LASAIR_TOPICS: 'lasair',
      LASAIR_GROUP_ID: this.#group,
      ANTARES_KAFKA_SERVERS: kafka.saslServer,
      ANTARES_KAFKA_TLS: 'false',
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

  /** The messages that a broker takes for done. */
  async acknowledged(broker: Broker): Promise<Sent[]> {
    const sent = this.#world.sent[broker];
    if (broker === 'pittgoogle') return sent.filter((_, i) => this.#pubsub.acknowledged.has(this.#ids[i]!));
    const group = broker === 'lasair' ? this.#group : `${this.#group}-antares`;
    const offsets = await this.#world.kafka.committed(group, broker, PARTITIONS);
    return sent.filter((_, i) => BigInt(Math.floor(i / PARTITIONS)) < (offsets[i % PARTITIONS] ?? -1n));
  }

  async isDone(): Promise<boolean> {
    for (const broker of BROKERS)
      if ((await this.acknowledged(broker)).length < this.#world.sent[broker].length) return false;
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

  close(): Promise<void> {
    return this.#pubsub.close();
  }
}

/** The brokers of each object that is stored. */
function brokersIn(dump: Dump): Map<string, string[]> {
  return new Map([...dump.objects].map(([id, object]) => [id, JSON.parse(object).brokers]));
}

/** What a broker need not send again is stored, or kept as a reject. */
async function assertAcknowledgedIsThere(consumption: Consumption): Promise<void> {
  for (const broker of BROKERS) {
    // First what is acknowledged, then what is there: while a process lived that would be the order.
    const acknowledged = await consumption.acknowledged(broker);
    const there = brokersIn(await readDump(consumption.data));
    for (const { object } of acknowledged) {
      if (object === undefined) continue;
      const brokers = there.get(`${FIRST_ID + BigInt(object)}`);
      assert.ok(brokers?.includes(broker), `${broker} delivered object ${object}, and it is lost`);
    }
    const poison = acknowledged.filter(({ object }) => object === undefined);
    assert.ok(rejectsOf(consumption.data, broker) >= poison.length, `${broker}: each reject is kept`);
  }
}

function rejectsOf(data: string, broker: Broker): number {
  const directory = join(data, 'rejected');
  const names = readdirSync(data).includes('rejected') ? readdirSync(directory) : [];
  const lines = names
    .filter(name => name.startsWith(broker))
    .flatMap(name => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'));
  return new Set(lines.map(line => JSON.stringify({ ...JSON.parse(line), reason: '' }))).size;
}

/** Kills the process again and again, then lets it finish; how many times it was killed. */
async function killAndFinish(consumption: Consumption, most: number): Promise<number> {
  let killed = 0;
  while (killed < most && !(await consumption.isDone())) {
    const commits = 1 + Math.floor(12 * random());
    const options = { variables: consumption.variables, idleMs: 5000 };
    const seen = await killAfter(commits, consumption.data, consumption.args, options);
    assert.ok(seen, 'it ended by itself');
    killed++;
    assertKept(seen, await readDump(consumption.data));
    await assertAcknowledgedIsThere(consumption);
  }
  await consumption.finish();
  return killed;
}

real(`consume of three brokers, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const world = await World.start(directory);
    try {
      const undisturbed = await Consumption.start(world, directory, 'undisturbed');
      await undisturbed.finish();
      const whole = await readDump(undisturbed.data);
      const expected = Array.from({ length: OBJECTS }, (_, i) => [`${FIRST_ID + BigInt(i)}`, brokersOf(i)] as const);
      assert.equal(
        [...brokersIn(whole)],
        expected.filter(([, brokers]) => brokers.length > 0),
      );
      await undisturbed.close();
      for (let killed = 0, run = 0; killed < kills; run++) {
        const consumption = await Consumption.start(world, directory, `data${run}`);
        killed += await killAndFinish(consumption, kills - killed);
        const end = await readDump(consumption.data);
        assert.equal(end.objects, whole.objects);
        assert.equal(end.pending, whole.pending);
        await assertAcknowledgedIsThere(consumption);
        await consumption.close();
      }
    } finally {
      await world.stop();
    }
  }),
);

test.run();
