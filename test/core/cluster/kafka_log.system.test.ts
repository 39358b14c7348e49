/** The log on Kafka itself. */

import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nowUs } from '../../../src/core/base/times.ts';
import { KafkaLog, openKafkaLog } from '../../../src/core/cluster/kafka_log.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import { type LogEntry, LostPlace } from '../../../src/core/cluster/record_log.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { FIRST_LEVEL, LEVEL } from '../../../src/core/store/level.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { KafkaServer, whyNoKafka } from '../../capabilities/consume/kafka_server.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { dump } from '../store/random_changes.ts';
import { delivery, failure, withStore } from '../store/support.ts';
import { levelOf } from './memory_log.ts';

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
  const all = Array.from({ length: to - from }, (_, i) =>
    log.append(`id-${from + i}`, recordOf(from + i, bytes), nowUs()),
  );
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
    for (let i = 0; i < 50; i++) await log.append(`id-${i}`, recordOf(i), nowUs());
    assert.is((await readAll(log)).length, 50);
  }),
);

real('a record whose time is ahead of Kafka is refused at once, by name, and moves nothing', () =>
  withLog(async log => {
    const ahead = failure(() => log.append('ahead', recordOf(0), nowUs() + 10e6));
    assert.match(
      (await ahead).message,
      /^Cannot append to the log because the clock of this machine is more than 2 s ahead of Kafka's: synchronise/,
    );
    await log.append('right', recordOf(1), nowUs());
    await log.append('behind', recordOf(2), nowUs() - 600e6);
    assert.equal(
      (await readAll(log)).map(({ id }) => id),
      ['right', 'behind'],
    );
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
    assert.match(error.message, new RegExp(`its topic ${topic} was recreated: start this node from a backup`));
    const appended = await failure(() => log.append('id-3', recordOf(3), nowUs()));
    assert.instance(appended, LostPlace);
    const anew = await open(topic);
    assert.is.not(await anew.identity(), identity);
    assert.is((await anew.read(0)).end, 0, 'nothing was appended to the new topic');
    await anew.close();
  }),
);

real('nothing is appended to a topic that is made anew while records are sent', () =>
  withLog(async (log, topic) => {
    const sent: Promise<void>[] = [];
    let isOver = false;
    const sending = (async () => {
      for (let i = 0; !isOver; i++) {
        sent.push(log.append(`id-${i}`, recordOf(i), nowUs()));
        sent.at(-1)!.catch(() => {});
        await setTimeout(5);
      }
    })();
    await sent[0];
    await kafka.deleteTopic(topic);
    await eventually('the topic is there again', () =>
      kafka.createTopic(topic).then(
        () => true,
        () => undefined,
      ),
    );
    await eventually('the log is known to be another one', async () => {
      const last = await Promise.allSettled(sent.slice(-1));
      return (last[0]!.status === 'rejected' && last[0]!.reason instanceof LostPlace) || undefined;
    });
    isOver = true;
    await sending;
    await Promise.allSettled(sent);
    assert.equal(await kafka.ends(topic), [0n]);
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

const NOON_US = 1_772_020_800_000_000;
const deliver = (broker: string, ...ids: bigint[]): Change => ({
  kind: 'deliver',
  timeUs: NOON_US,
  deliveries: ids.map(id => delivery(id, { broker })),
});
const appendChange = (log: KafkaLog, change: Change) => log.append('other/1', encodeChange(change)[0]!, change.timeUs);

async function catchUp(node: Node): Promise<void> {
  while ((await node.step()) > 0);
}

async function submit(node: Node, change: Change): Promise<void> {
  let isOver = false;
  const applied = node.submit(change).finally(() => {
    isOver = true;
  });
  while (!isOver) await node.step();
  await applied;
}

/** The reason why a node stops; it stops again for that reason at each start. */
async function whyStopped(store: Store, log: KafkaLog): Promise<string> {
  const reasons = new Set<string>();
  for (let start = 0; start < 2; start++) {
    const error = await failure(() => catchUp(new Node(store, log)));
    assert.instance(error, LostPlace, error.message);
    reasons.add(error.message);
  }
  assert.is(reasons.size, 1);
  return [...reasons][0]!;
}

/** A node that has applied three records of a topic. */
const withNode = (body: (store: Store, log: KafkaLog, topic: string) => Promise<void>) =>
  withLog((log, topic) =>
    withStore(async store => {
      for (const id of [1n, 2n, 3n]) await appendChange(log, deliver('lasair', id));
      await catchUp(new Node(store, log));
      assert.is(readLogPosition(store.databases)?.next, 3);
      await body(store, log, topic);
    }),
  );

real('a node stops where the log no longer has what comes next', () =>
  withNode(async (store, log, topic) => {
    for (const id of [4n, 5n, 6n]) await appendChange(log, deliver('lasair', id));
    await kafka.deleteBefore(topic, 0, 5n);
    assert.match(
      await whyStopped(store, log),
      /it no longer has the records from 3 to 4: start this node from a backup/,
    );
  }),
);

real('a node stops where the topic was made anew', () =>
  withNode(async (store, _, topic) => {
    await kafka.deleteTopic(topic);
    const again = () =>
      kafka.createTopic(topic).then(
        () => true,
        () => undefined,
      );
    await eventually('the topic is there again', again);
    const anew = await open(topic);
    await appendChange(anew, deliver('lasair', 1n));
    assert.match(await whyStopped(store, anew), /it is \S+, but this node followed \S+: start this node from a backup/);
    await anew.close();
  }),
);

real('a node stops where the log has lost its end, also when it has gone on from there', () =>
  withNode(async (store, log, topic) => {
    await kafka.stop();
    kafka.cutOff(topic);
    await kafka.startAgain();
    const cut = await open(topic);
    assert.match(await whyStopped(store, cut), /it ends at record 2, but this node has applied 3 of its records/);
    for (const id of [7n, 8n]) await appendChange(cut, deliver('lasair', id));
    assert.match(
      await whyStopped(store, cut),
      /its record 2 differs from the record that this node applied: start this node/,
    );
    // A node that follows the log all the time sees the same.
    assert.instance(
      await eventually('it sees', () => failure(() => log.read(3)).then(e => (e instanceof LostPlace ? e : undefined))),
      LostPlace,
    );
    await cut.close();
  }),
);

real('a node stops in front of a record that it cannot read or apply', async () => {
  const [record] = encodeChange(deliver('lasair', 5n));
  const resealed = (change: (copy: Buffer) => void) => {
    const copy = Buffer.from(record!);
    change(copy);
    copy.writeUInt32LE(crc32(copy.subarray(0, -4)), copy.length - 4);
    return copy;
  };
  const poisons: readonly (readonly [Uint8Array, RegExp])[] = [
    [Buffer.from('{"diaObjectId": 7}'), /damaged or was not written by nearsky/],
    [
      resealed(copy => (copy[4] = 99)),
      /the level of the log is 99 and this nearsky reads levels up to \d: install a newer/,
    ],
    [resealed(copy => copy.write('deliveR', copy.indexOf('deliver'))), /its kind "deliveR" is unknown to this nearsky/],
    [encodeChange({ kind: 'stage_registry', timeUs: 1, load: 1, records: 5 as never })[0]!, /./],
  ];
  for (const [poison, why] of poisons)
    await withNode(async (store, log) => {
      await appendChange(log, deliver('lasair', 4n));
      await log.append('poison', poison, nowUs());
      await appendChange(log, deliver('lasair', 6n));
      const reason = await whyStopped(store, log);
      assert.match(reason, /^Cannot follow the log from record 4 on: /);
      assert.match(reason, why);
      assert.is(readLogPosition(store.databases)?.next, 4);
      assert.equal([store.getObject(4n) !== undefined, store.getObject(6n)], [true, undefined]);
    });
});

real(
  'nodes of two releases write what both read, until the level is raised: then the older one stops, and goes on when it is upgraded',
  () =>
    withLog((log, topic) =>
      withDirectory(async directory => {
        const [at, newerLevel] = [join(directory, 'node'), LEVEL + 1];
        const [older, newer] = [openStore(at, 'write'), openStore(join(directory, 'newer'), 'write', newerLevel)];
        const nodes = [new Node(older, log), new Node(newer, await open(topic))] as const;
        await submit(nodes[1], deliver('lasair', 1n));
        await submit(nodes[0], deliver('lasair', 2n));
        await submit(nodes[1], { kind: 'level', timeUs: NOON_US, level: newerLevel });
        await submit(nodes[1], deliver('lasair', 3n));
        assert.equal((await readAll(log)).map(levelOf), [FIRST_LEVEL, FIRST_LEVEL, FIRST_LEVEL, newerLevel]);
        assert.match(
          await whyStopped(older, log),
          /from record 2 on: the level of the log is \d and .* up to \d: install a/,
        );
        await older.close();
        const upgraded = openStore(at, 'write', newerLevel);
        await catchUp(new Node(upgraded, log));
        assert.equal(dump(upgraded), dump(newer));
        assert.ok(upgraded.getObject(3n));
        for (const store of [upgraded, newer]) await store.close();
      }),
    ),
);

test.run();
