/** The log on Kafka itself. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KafkaLog, openKafkaLog } from '../../src/cluster/kafka_log.ts';
import { type LogEntry, LostPlace } from '../../src/cluster/log.ts';
import { KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { eventually } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { failure } from '../store/support.ts';

const test = suite('cluster/kafka_log');
const real = needs(test, whyNoKafka);
const kafka = KafkaServer.of(test);

let count = 0;
const events: string[] = [];
const open = (topic: string) =>
  openKafkaLog({ servers: [kafka.server], topic, tls: false, log: event => events.push(event) });

async function withLog(body: (log: KafkaLog, topic: string) => Promise<void>): Promise<void> {
  const topic = `log-${++count}`;
  await kafka.createTopic(topic);
  const log = await open(topic);
  try {
    await body(log, topic);
  } finally {
    await log.close();
  }
}

const recordOf = (i: number, bytes = 10) => Buffer.alloc(bytes, `record ${i} `);

async function appendSome(log: KafkaLog, from: number, to: number, bytes?: number): Promise<void> {
  const all = Array.from({ length: to - from }, (_, i) => log.append(`id-${from + i}`, recordOf(from + i, bytes)));
  await Promise.all(all);
}

/** The entries from a position to the log's end. */
async function readAll(log: KafkaLog, from = 0): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const { entries, end } = await log.read(from + all.length);
    all.push(...entries);
    if (from + all.length === end) return all;
  }
}

real('what is appended is read in one order, at positions without gaps, with its id and its bytes', () =>
  withLog(async (log, topic) => {
    assert.equal(events, ['log_on_one_server']);
    assert.equal(await log.read(0), { entries: [], first: 0, end: 0 });
    await appendSome(log, 0, 50);
    const other = await open(topic);
    assert.is(await other.identity(), await log.identity());
    // More than one batch of the producer, more than one fetch.
    await Promise.all([appendSome(log, 50, 70, 300_000), appendSome(other, 70, 100, 850_000)]);
    const entries = await readAll(log);
    assert.equal(await readAll(other), entries);
    assert.equal(await readAll(other, 60), entries.slice(60));
    assert.equal(
      entries.map(({ position }) => position),
      Array.from({ length: 100 }, (_, i) => i),
    );
    for (const { id, record } of entries) {
      const i = Number(id.slice(3));
      assert.ok(Buffer.from(recordOf(i, i < 50 ? 10 : i < 70 ? 300_000 : 850_000)).equals(record), id);
    }
    assert.is(new Set(entries.map(({ id }) => id)).size, 100);
    await other.close();
  }),
);

real('a record that is appended as soon as another one is durable is sent, too', () =>
  withLog(async log => {
    for (let i = 0; i < 50; i++) await log.append(`id-${i}`, recordOf(i));
    assert.is((await readAll(log)).length, 50);
  }),
);

real('what is no longer kept, or not there yet, gives no entries and tells the bounds', () =>
  withLog(async (log, topic) => {
    await appendSome(log, 0, 5);
    await kafka.deleteBefore(topic, 0, 3n);
    assert.equal(await log.read(1), { entries: [], first: 3, end: 5 });
    assert.equal(await log.read(9), { entries: [], first: 3, end: 5 });
    const { entries, ...bounds } = await log.read(3);
    assert.equal(
      entries.map(({ id }) => id),
      ['id-3', 'id-4'],
    );
    assert.equal(bounds, { first: 3, end: 5 });
    assert.equal(await log.read(5), { entries: [], first: 3, end: 5 });
  }),
);

real('a topic that was made anew is another log', () =>
  withLog(async (log, topic) => {
    await appendSome(log, 0, 3);
    await readAll(log);
    const identity = await log.identity();
    await kafka.deleteTopic(topic);
    await eventually('the topic is there again', () =>
      kafka.createTopic(topic).then(
        () => true,
        () => undefined,
      ),
    );
    const error = await eventually('the log is known to be another one', async () => {
      const failed = await failure(() => log.read(3));
      return failed instanceof LostPlace ? failed : undefined;
    });
    assert.match(error.message, new RegExp(`its topic ${topic} was made anew: start this node from a backup`));
    const anew = await open(topic);
    assert.is.not(await anew.identity(), identity);
    await anew.close();
  }),
);

real('a topic that could lose or change records is refused, by the name of the setting', async () => {
  const topic = `log-${++count}`;
  await kafka.createTopic(topic, 1, { 'cleanup.policy': 'compact' });
  const { message } = await failure(() => open(topic));
  assert.is(
    message,
    `Cannot use the topic ${topic} as the log because its cleanup.policy is compact: set it to delete`,
  );
  const divided = `log-${++count}`;
  await kafka.createTopic(divided, 2);
  assert.match((await failure(() => open(divided))).message, /because it has 2 partitions: make one of 1 partition$/);
  assert.ok((await failure(() => open('no-such-topic'))) instanceof Error);
});

test('a leader that shows fewer records than the one before it is waited for', async () => {
  const partition = { highWatermark: 3n, logStartOffset: 0n, records: [] };
  class Consumer {
    topics = { track() {} };
    on() {}
    metadata = async () => ({
      id: 'cluster',
      brokers: new Map(),
      topics: new Map([['t', { id: 'topic', partitions: [{ leader: 1 }] }]]),
    });
    fetch = async () => ({ responses: [{ partitions: [partition] }] });
    close = async () => {};
  }
  const client = { Consumer } as unknown as ConstructorParameters<typeof KafkaLog>[0];
  const log = new KafkaLog(client, { servers: ['h:1'], topic: 't', tls: false, log: () => {} });
  await log.begin();
  assert.equal(await log.read(4), { entries: [], first: 0, end: 4 });
  await log.close();
});

test.run();
