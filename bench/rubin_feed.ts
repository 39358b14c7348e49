/**
 * A broker's side of a Rubin night, in a process of its own: sends the alerts of visits to a Kafka topic in the form of
 * Lasair's messages, and reads the topic of matches. Prints lines of JSON: `sent` while it sends, `ended` once all is
 * sent, and after SIGTERM `latency`.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin, Consumer, Producer } from '@platformatic/kafka';
import { request } from 'undici';
import { templatesOf } from './ingest.ts';
import { idOf } from './processes.ts';
import { quantile } from './report.ts';
import { NEW_EVERY, Transients } from './rubin_sky.ts';

export interface FeedOptions {
  readonly server: string;
  readonly topic: string;
  readonly partitions: number;
  /** The consumer group of the service. */
  readonly group: string;
  /** The topic of matches. */
  readonly matches: string;
  /** The address of the service's stream of matches. */
  readonly stream: string;
  readonly positionsFile: string;
  /** Sources of a catalog. */
  readonly rows: number;
  readonly firstVisit: number;
  readonly visits: number;
  readonly alertsPerVisit: number;
  /** The time between visits; 0 to send as fast as the service reads. */
  readonly periodMs: number;
}

export interface LatencyFigures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

type Connection = ConstructorParameters<typeof Admin>[0];

const ID_STEP = idOf(1) - idOf(0);
const BATCH = 1000;
/** The number of messages that may wait at the broker where visits have no period. Messages that were read are deleted. */
const MAX_AHEAD = 100_000;

async function main(options: FeedOptions): Promise<void> {
  const { server, topic, partitions, firstVisit, visits, alertsPerVisit, periodMs } = options;
  const common = { clientId: 'feed', bootstrapBrokers: [server], retries: 10, retryDelay: 200 };
  const perVisit = Math.ceil(alertsPerVisit / NEW_EVERY);
  const transients = new Transients(options.positionsFile, options.rows, perVisit);
  const messageOf = messages();
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ ...common, idempotent: true });
  const firstNumber = firstVisit * perVisit;
  const sentMs = new Float64Array(visits * perVisit);
  const sentMsOf = (id: bigint) => sentMs[Number((id - idOf(0)) / ID_STEP) - firstNumber];
  const [published, streamed] = [new Latencies(sentMsOf), new Latencies(sentMsOf)];
  await readTopic(options.matches, common, id => published.add(id));
  await readStream(options.stream, id => streamed.add(id));
  process.on('SIGTERM', () => {
    print({ published: published.figures, streamed: streamed.figures });
    process.exit();
  });
  print({ sent: 0 });
  let [sent, batch] = [0, 0];
  const behind = periodMs === 0 ? await Behind.open(options, common) : undefined;
  const beganMs = performance.now();
  for (let visit = firstVisit; visit < firstVisit + visits; visit++) {
    for (let from = 0; from < alertsPerVisit; from += BATCH) {
      await behind?.wait(sent);
      const to = Math.min(alertsPerVisit, from + BATCH);
      const partition = batch++ % partitions;
      const records = Array.from({ length: to - from }, (_, i) => {
        const number = numberOf(visit, from + i, perVisit);
        return { topic, partition, value: messageOf(number, transients) };
      });
      const nowMs = performance.now();
      for (let alert = from; alert < to; alert++)
        if (alert % NEW_EVERY === 0) sentMs[numberOf(visit, alert, perVisit) - firstNumber] = nowMs;
      await producer.send({ messages: records });
      sent += records.length;
    }
    print({ sent });
    const nextMs = beganMs + (visit - firstVisit + 1) * periodMs;
    await sleep(Math.max(0, nextMs - performance.now()));
  }
  await producer.close();
  print({ ended: sent });
}

/** The object of an alert: a new one, or any that had an alert before. */
function numberOf(visit: number, alert: number, perVisit: number): number {
  const known = visit * perVisit + Math.floor(alert / NEW_EVERY);
  if (alert % NEW_EVERY === 0) return known;
  // Knuth's multiplicative hash spreads the alerts over the known objects.
  return Math.floor(((Math.imul(visit * 10_007 + alert, 2_654_435_761) >>> 0) / 2 ** 32) * (known + 1));
}

/** Makes the text of an alert from the sample's messages in turn, with the id and the position replaced. */
function messages(): (number: number, transients: Transients) => Buffer {
  const templates = templatesOf('lasair').map(({ text, delivery: { diaObjectId, position } }) =>
    text.split(new RegExp(`(${diaObjectId}|${position!.ra}|${position!.dec})`)).map(part => {
      if (part === `${diaObjectId}`) return 'id';
      return part === `${position!.ra}` ? 'ra' : part === `${position!.dec}` ? 'dec' : Buffer.from(part);
    }),
  );
  let next = 0;
  return (number, transients) => {
    const { ra, dec } = transients.place(number);
    const values = { id: Buffer.from(`${idOf(number)}`), ra: Buffer.from(`${ra}`), dec: Buffer.from(`${dec}`) };
    return Buffer.concat(
      templates[next++ % templates.length]!.map(part => (typeof part === 'string' ? values[part as 'id'] : part)),
    );
  };
}

/** Knows how far the service has read, and deletes what it has read. */
class Behind {
  readonly #options: FeedOptions;
  readonly #consumer: Consumer;
  readonly #admin: Admin;
  #from: bigint[] = [];
  #read = 0;

  private constructor(options: FeedOptions, common: Connection) {
    this.#options = options;
    this.#consumer = new Consumer({ ...common, groupId: options.group });
    this.#admin = new Admin(common);
  }

  static async open(options: FeedOptions, common: Connection): Promise<Behind> {
    const behind = new Behind(options, common);
    behind.#from = await behind.#committed();
    return behind;
  }

  async #committed(): Promise<bigint[]> {
    const { topic, partitions } = this.#options;
    const topics = [{ topic, partitions: Array.from({ length: partitions }, (_, i) => i) }];
    const offsets = (await this.#consumer.listCommittedOffsets({ topics })).get(topic)!;
    return offsets.map(offset => (offset < 0n ? 0n : offset));
  }

  async wait(sent: number): Promise<void> {
    while (sent - this.#read > MAX_AHEAD) {
      await sleep(50);
      const committed = await this.#committed();
      const read = committed.reduce((sum, offset, i) => sum + Number(offset - this.#from[i]!), 0);
      if (read === this.#read) continue;
      this.#read = read;
      const partitions = committed.map((offset, partition) => ({ partition, offset }));
      await this.#admin.deleteRecords({ topics: [{ name: this.#options.topic, partitions }] });
    }
  }
}

/** From the sending of an alert to each match of its object, milliseconds. */
class Latencies {
  readonly #sentMs: (id: bigint) => number | undefined;
  readonly #all: number[] = [];

  constructor(sentMs: (id: bigint) => number | undefined) {
    this.#sentMs = sentMs;
  }

  add(id: bigint): void {
    const sent = this.#sentMs(id);
    if (sent) this.#all.push(performance.now() - sent);
  }

  get figures(): LatencyFigures {
    const of = (q: number) => Math.round(quantile(this.#all, q));
    return { count: this.#all.length, p50: of(0.5), p99: of(0.99), max: of(1) };
  }
}

async function readTopic(topic: string, common: Connection, on: (id: bigint) => void): Promise<void> {
  const consumer = new Consumer({ ...common, groupId: `feed-${process.pid}`, maxWaitTime: 100 });
  const stream = await consumer.consume({ topics: [topic], mode: 'latest', autocommit: false });
  stream.on('data', ({ key }) => on(BigInt(`${key}`)));
}

/** Reads server-sent events of matches. */
async function readStream(url: string, on: (id: bigint) => void): Promise<void> {
  const { statusCode, body } = await request(url, { bodyTimeout: 0 });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  const lines = createInterface(body);
  lines.on('line', line => {
    const id = /^data:.*?"diaObjectId":"?(\d+)/.exec(line)?.[1];
    if (id) on(BigInt(id));
  });
}

const print = (line: unknown) => console.log(JSON.stringify(line));

await main(JSON.parse(readFileSync(process.argv[2]!, 'utf8')));
