/** The Kafka connection against Kafka itself. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectKafka, type KafkaMessage, type KafkaOptions } from '../../../src/capabilities/consume/kafka.ts';
import type { Connection } from '../../../src/capabilities/consume/transport.ts';
import { messageOf } from '../../../src/core/base/error_text.ts';
import { startScript } from '../../core/store/script.ts';
import { failure } from '../../core/store/support.ts';
import { eventually, start, withDirectory } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { API_KEY, API_SECRET, KafkaServer, type Transaction, whyNoKafka } from './kafka_server.ts';

const test = suite('consume/kafka');
const real = needs(test, whyNoKafka);
const kafka = KafkaServer.of(test);

let count = 0;
/** A name that no other test uses. */
const unique = (name: string) => `${name}-${++count}`;
const values = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => Buffer.from(`m${from + i}`));
const texts = (messages: readonly KafkaMessage[]) => messages.map(({ bytes }) => Buffer.from(bytes).toString());
const range = (from: number, to: number) => values(from, to).map(String);

function optionsFor(topic: string, groupId: string): KafkaOptions {
  return {
    servers: [kafka.server],
    topics: [topic],
    groupId,
    tls: false,
    sessionTimeoutSeconds: 2,
    groupInstanceId: null,
    limits: { messages: 1000, bytes: 2 ** 20, seconds: 0.2 },
    log: () => {},
  };
}

/** Connects, uses the connection, and closes it. */
async function connected<T>(options: KafkaOptions, use: (connection: Connection<KafkaMessage>) => Promise<T>) {
  const connection = await connectKafka(options, new AbortController().signal);
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

/** Receives until there are this many messages; throws if none arrive any more. */
async function receive(connection: Connection<KafkaMessage>, wanted: number): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = [];
  let timer: NodeJS.Timeout | undefined;
  const inVain = new Promise<never>((_, reject) => {
    // With `AbortSignal.timeout`, Deno would not exit before the timeout is over.
    timer = setTimeout(() => reject(new Error(`${messages.length} of ${wanted} messages came`)), 15_000);
  });
  try {
    while (messages.length < wanted) messages.push(...(await Promise.race([connection.receive(), inVain])));
  } finally {
    clearTimeout(timer);
  }
  return messages;
}

real('what is acknowledged stays read, what is not comes again, in order, however it was compressed', async () => {
  const [topic, group] = [unique('topic'), unique('group')];
  await kafka.createTopic(topic, 2);
  const sent = values(0, 100);
  for (const [i, compression] of (['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const).entries())
    await kafka.send(topic, sent.slice(20 * i, 20 * (i + 1)), { partitions: 2, compression });
  const options = optionsFor(topic, group);
  await connected(options, async connection => {
    const messages = await receive(connection, 100);
    for (const parity of [0, 1]) {
      const ofOne = messages.filter(({ origin }) => origin.partition === parity);
      assert.equal(
        texts(ofOne),
        range(0, 100).filter((_, i) => i % 2 === parity),
        'in order within the partition',
      );
      assert.equal(
        ofOne.map(({ origin }) => origin),
        ofOne.map((_, i) => ({ topic, partition: parity, offset: `${i}` })),
      );
    }
    assert.equal(await kafka.committed(group, topic, 2), [-1n, -1n]);
  });
  // Nothing was acknowledged, so all messages are delivered again.
  await connected(options, async connection => {
    const messages = await receive(connection, 100);
    await connection.acknowledge(messages.filter(({ origin }) => origin.partition === 0).slice(0, 30));
    assert.equal(await kafka.committed(group, topic, 2), [30n, -1n]);
  });
  await connected(options, async connection => {
    const messages = await receive(connection, 70);
    assert.equal(
      texts(messages.filter(({ origin }) => origin.partition === 0)),
      range(0, 100)
        .filter((_, i) => i % 2 === 0)
        .slice(30),
    );
    await connection.acknowledge(messages);
    await kafka.send(topic, values(100, 103));
    assert.equal(texts(await receive(connection, 3)), range(100, 103), 'and then only what is new');
    assert.equal(await kafka.committed(group, topic, 2), [50n, 50n]);
  });
});

real('a batch has no more messages, bytes and time than it may', async () => {
  const topic = unique('topic');
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 2500));
  const options = optionsFor(topic, unique('group'));
  const limited = (limits: KafkaOptions['limits']) => ({ ...options, groupId: unique('group'), limits });
  await connected(limited({ messages: 1000, bytes: 2 ** 20, seconds: 1 }), async connection => {
    for (const expected of [1000, 1000, 500]) assert.is((await connection.receive()).length, expected);
  });
  await connected(limited({ messages: 1000, bytes: 12, seconds: 1 }), async connection => {
    // m0 to m9 have two bytes each; the sixth reaches the limit.
    assert.equal(texts(await connection.receive()), range(0, 6));
  });
  await connected(limited({ messages: 5000, bytes: 2 ** 20, seconds: 0.3 }), async connection => {
    assert.is((await receive(connection, 2500)).length, 2500, 'a batch that is not full is given all the same');
  });
});

const large = (count: number) => Array.from({ length: count }, (_, i) => Buffer.alloc(100_000, 65 + i));
/** The right messages are those of librdkafka 2.16 with `isolation.level=read_committed`. */
const ABORTED: Readonly<Record<string, [rounds: Transaction[][], right: string[]]>> = {
  'two of one producer within one fetch': [
    [
      [['commit', values(11, 12)]],
      [['abort', values(12, 13)]],
      [['commit', values(13, 14)]],
      [['abort', values(14, 15)]],
      [['commit', values(15, 16)]],
    ],
    ['m11', 'm13', 'm15'],
  ],
  'one longer than a fetch': [[[['abort', large(30)]], [['commit', values(31, 32)]]], ['m31']],
  'several, the last one longer than a fetch': [
    [
      [['abort', values(0, 3)]],
      [['abort', values(3, 5)]],
      [['commit', values(5, 7)]],
      [['abort', large(20)]],
      [['commit', values(7, 9)]],
    ],
    range(5, 9),
  ],
  'producers that send by turns': [
    [
      [
        ['commit', values(0, 5)],
        ['abort', values(10, 15)],
        ['abort', values(20, 22)],
      ],
      [
        ['abort', values(30, 32)],
        ['commit', values(40, 42)],
      ],
    ],
    [...range(0, 5), ...range(40, 42)],
  ],
};

for (const [name, [rounds, right]] of Object.entries(ABORTED))
  real(`messages of aborted transactions are not read, nor by a group that continues among them: ${name}`, async () => {
    const [topic, group] = [unique('topic'), unique('group')];
    await kafka.createTopic(topic);
    await kafka.transactions(topic, rounds);
    await kafka.send(topic, [Buffer.from('end')]);
    const options = optionsFor(topic, group);
    await connected(options, async connection => {
      const messages = await receive(connection, right.length + 1);
      assert.equal(texts(messages), [...right, 'end']);
      await connection.acknowledge(messages.slice(0, 1));
    });
    await connected(options, async connection =>
      assert.equal(texts(await receive(connection, right.length)), [...right.slice(1), 'end']),
    );
  });

real('with PLAIN and SCRAM; wrong credentials are an error that does not show them', async () => {
  const topic = unique('topic');
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 3));
  const options = { ...optionsFor(topic, ''), servers: [kafka.saslServer] };
  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256'] as const) {
    const sasl = { mechanism, username: API_KEY, password: API_SECRET };
    await connected({ ...options, groupId: unique('group'), sasl }, async connection => {
      assert.equal(texts(await receive(connection, 3)), range(0, 3));
    });
    const wrong = { ...sasl, password: 'another-secret' };
    const error = await failure(() => connected({ ...options, groupId: unique('group'), sasl: wrong }, async () => {}));
    assert.not.match(`${error.stack} ${JSON.stringify(error)}`, 'another-secret');
    assert.match(messageOf(error), /Connection to [^ ]+ failed: SASL authentication failed/);
  }
});

real('an offset whose message is gone: an error that says so, and then the earliest message that is kept', async () => {
  const [topic, group] = [unique('topic'), unique('group')];
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 50));
  const options = optionsFor(topic, group);
  await connected(options, async connection => connection.acknowledge((await receive(connection, 50)).slice(0, 10)));
  await kafka.deleteBefore(topic, 0, 25n);
  const error = await failure(() => connected(options, async () => {}));
  assert.match(error.message, /the broker deleted messages before they were read.*0: 10 to 25/);
  await connected(options, async connection => assert.equal(texts(await receive(connection, 25)), range(25, 50)));
});

for (const groupInstanceId of [null, 'a-member'])
  real(
    `partitions that are added to a topic: an error, and then their messages, too (static: ${groupInstanceId})`,
    async () => {
      const [topic, group] = [unique('topic'), unique('group')];
      await kafka.createTopic(topic);
      const options = { ...optionsFor(topic, group), groupInstanceId, lookMs: 100 };
      await connected(options, async connection => {
        await kafka.send(topic, values(0, 1));
        await connection.acknowledge(await receive(connection, 1));
        await kafka.addPartitions(topic, 2);
        const error = await failure(() => receive(connection, 1));
        assert.match(messageOf(error), new RegExp(`^the topic ${topic} has 2 partitions now, and had 1$`));
      });
      await kafka.send(topic, values(1, 3), { partitions: 2 });
      await connected(options, async connection => {
        assert.equal(texts(await receive(connection, 2)).sort(), range(1, 3));
      });
    },
  );

real('a tombstone and an empty message are rejected with reasons of their own, and those around them are stored', () =>
  withDirectory(async data => {
    const [topic, group] = [unique('topic'), unique('group')];
    await kafka.createTopic(topic);
    const alert = (id: number) => Buffer.from(`{"diaObjectId": ${id}, "ra": 10.5, "decl": -20.25, "latestR": 0.75}`);
    await kafka.send(topic, [alert(1), null, new Uint8Array(0), alert(2), null, alert(3)]);
    const environment = { LASAIR_KAFKA_SERVERS: kafka.server, LASAIR_TOPICS: topic, LASAIR_GROUP_ID: group };
    const running = start(['consume', 'lasair', '--data', data, '--json'], environment);
    await eventually('all are acknowledged', async () => (await kafka.committed(group, topic))[0] === 6n || undefined);
    running.child.kill('SIGTERM');
    const { stdout } = await running.finished;
    const { read, stored, rejected, rejects_file } = JSON.parse(stdout).lasair;
    assert.equal([read, stored, rejected], [6, 3, 3]);
    const rejects = readFileSync(rejects_file, 'utf8').trimEnd().split('\n');
    const tombstone = 'a tombstone: the message has no value';
    assert.equal(
      rejects.map(line => JSON.parse(line)).map(({ offset, reason }) => [offset, reason]),
      [
        ['1', tombstone],
        ['2', 'the message is empty'],
        ['4', tombstone],
      ],
    );
  }),
);

/** A group member that acknowledges all messages until it is told to leave. */
async function joinGroup(options: KafkaOptions, seen: Set<string>): Promise<{ leave(): Promise<void> }> {
  const stop = new AbortController();
  const connection = await connectKafka(options, stop.signal);
  const reading = (async () => {
    while (!stop.signal.aborted) {
      const messages = await connection.receive();
      if (messages.length > 0) await connection.acknowledge(messages);
      for (const text of texts(messages)) seen.add(text);
    }
    await connection.close();
  })();
  const leave = () => {
    stop.abort();
    return reading;
  };
  return { leave };
}

real('a topic that is missing stops no other, is named, and is read once it exists', async () => {
  const [topic, later, group] = [unique('topic'), unique('topic'), unique('group')];
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 3));
  const options = { ...optionsFor(topic, group), topics: [later, topic], lookMs: 500 };
  await connected(options, async connection => {
    assert.equal(connection.missingTopics, [later]);
    const messages = await receive(connection, 3);
    assert.equal(texts(messages), range(0, 3));
    await connection.acknowledge(messages);
    await kafka.createTopic(later);
    await kafka.send(later, values(3, 5));
    const error = await failure(() => receive(connection, 1));
    assert.is(messageOf(error), `the topic ${later} has 1 partitions now, and had 0`);
  });
  await connected(options, async connection => {
    assert.equal(connection.missingTopics, []);
    assert.equal(texts(await receive(connection, 2)), range(3, 5));
  });
  const none = await failure(() =>
    connected({ ...options, topics: [unique('topic'), unique('topic')] }, async () => {}),
  );
  assert.match(messageOf(none), /topic/);
});

real('members of a group come and go, and nothing is left out', async () => {
  const [topic, group] = [unique('topic'), unique('group')];
  await kafka.createTopic(topic, 2);
  const options = optionsFor(topic, group);
  const seen = new Set<string>();
  const sendAndSee = async (from: number, to: number) => {
    await kafka.send(topic, values(from, to), { partitions: 2 });
    await eventually(`${to} are seen`, async () => seen.size === to || undefined);
  };
  const first = await joinGroup(options, seen);
  await sendAndSee(0, 100);
  const second = await joinGroup(options, seen);
  await sendAndSee(100, 200);
  await first.leave();
  await sendAndSee(200, 300);
  await second.leave();
  assert.equal([...seen].sort(), range(0, 300).sort());
  assert.equal(await kafka.committed(group, topic, 2), [150n, 150n]);
});

real('a member that is killed again and again goes on at once where it is a static one', async () => {
  const [topic, group] = [unique('topic'), unique('group')];
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 30));
  // Longer than the test: a member with another name would have to wait that long for the killed one.
  const options = { ...optionsFor(topic, group), sessionTimeoutSeconds: 300, groupInstanceId: 'observatory-1' };
  const limits = { ...options.limits, messages: 10 };
  for (const read of [10, 20, 30]) {
    const member = startScript(new URL('./kafka_member.ts', import.meta.url), [JSON.stringify({ ...options, limits })]);
    await eventually('a batch is acknowledged', async () => member.output().includes('acknowledged') || undefined);
    member.child.kill('SIGKILL');
    await member.ended;
    assert.equal(member.output().split(' ')[0], range(read - 10, read).join());
    assert.equal(await kafka.committed(group, topic, 1), [BigInt(read)]);
  }
  await kafka.send(topic, values(30, 35));
  await connected(options, async connection => {
    assert.equal(texts(await receive(connection, 5)), range(30, 35));
  });
  // The member has left, so a member with another name need not wait for it.
  await connected({ ...options, groupInstanceId: 'observatory-2' }, async connection => {
    assert.equal(texts(await receive(connection, 5)), range(30, 35));
  });
});

real('a signal ends the waiting for messages and for a connection', async () => {
  const topic = unique('topic');
  await kafka.createTopic(topic);
  const stop = new AbortController();
  const limits = { messages: 1000, bytes: 2 ** 20, seconds: 60 };
  const connection = await connectKafka({ ...optionsFor(topic, unique('group')), limits }, stop.signal);
  await kafka.send(topic, values(0, 2));
  setTimeout(() => stop.abort(), 1000);
  assert.equal(texts(await connection.receive()), range(0, 2), 'what has come by then');
  await connection.close();
  const nowhere = { ...optionsFor(topic, 'group'), servers: ['127.0.0.1:1'] };
  assert.ok(await failure(() => connectKafka(nowhere, new AbortController().signal)));
  assert.ok(await failure(() => connectKafka(nowhere, AbortSignal.abort(new Error('stop')))));
});

real('a server that goes is an error; when it is back, what was not acknowledged comes', async () => {
  const [topic, group] = [unique('topic'), unique('group')];
  await kafka.createTopic(topic);
  await kafka.send(topic, values(0, 10));
  const options = optionsFor(topic, group);
  const connection = await connectKafka(options, new AbortController().signal);
  await connection.acknowledge(await receive(connection, 10));
  await kafka.stop('SIGTERM');
  const error = await failure(() => connection.receive());
  assert.ok(messageOf(error) !== '');
  await connection.close();
  await kafka.startAgain();
  await kafka.send(topic, values(10, 20));
  // The server answers before it has loaded its groups. `consume` connects again, too.
  const again = await eventually('the group is loaded', () =>
    connectKafka(options, new AbortController().signal).catch(() => undefined),
  );
  assert.equal(texts(await receive(again, 10)), range(10, 20));
  await again.close();
});

// Most brokers send with librdkafka.
const noKcat = spawnSync('kcat', ['-V']).status === 0 ? undefined : 'there is no kcat: apt-get install kcat';
const withKcat = needs(test, whyNoKafka ?? noKcat);
withKcat('what librdkafka sends, compressed in each of its ways', async () => {
  const topic = unique('topic');
  await kafka.createTopic(topic);
  for (const [i, codec] of ['none', 'gzip', 'snappy', 'lz4', 'zstd'].entries()) {
    const child = spawn('kcat', ['-P', '-b', kafka.server, '-t', topic, '-z', codec], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(range(100 * i, 100 * (i + 1)).join('\n'));
    assert.is((await once(child, 'exit'))[0], 0);
  }
  const options = optionsFor(topic, unique('group'));
  await connected(options, async connection => assert.equal(texts(await receive(connection, 500)), range(0, 500)));
});

test.run();
