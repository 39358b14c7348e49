/** Publishing to Kafka itself, and what the stream's usual client, hop-client, makes of it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KafkaTarget, kafkaSink } from '../../../src/capabilities/publish/kafka_sink.ts';
import { messageId } from '../../../src/capabilities/streams/message.ts';
import { delivery, failure, provenance, withStore } from '../../core/store/support.ts';
import { eventually, nearsky, root, send, start, startServer } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { API_KEY, API_SECRET, KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { addObjects, allExpected, crossmatch, FIRST_ID, INGEST_US, messagesOf } from '../streams/support.ts';
import { readTopic } from './read_topic.ts';
import { FakeSink, publicationOf, TOPIC } from './support.ts';

const test = suite('publish/kafka_sink');
const real = needs(test, whyNoKafka);
const kafka = KafkaServer.of(test);
const PARTITIONS = 3;

let count = 0;
async function newTopic(): Promise<string> {
  const topic = `${TOPIC}-${++count}`;
  await kafka.createTopic(topic, PARTITIONS);
  return topic;
}

const plain = (topic: string): KafkaTarget => ({ servers: [kafka.server], topic, tls: false, compression: 'zstd' });
const sasl = { mechanism: 'SCRAM-SHA-256', username: API_KEY, password: API_SECRET } as const;
const withSasl = (topic: string): KafkaTarget => ({ ...plain(topic), servers: [kafka.saslServer], sasl });

const settingsOf = (topic: string) => ({
  PUBLISH_KAFKA_SERVERS: kafka.saslServer,
  PUBLISH_TOPIC: topic,
  PUBLISH_KAFKA_TLS: 'no',
  PUBLISH_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256',
  PUBLISH_KAFKA_USERNAME: API_KEY,
  PUBLISH_KAFKA_PASSWORD: API_SECRET,
});

real('key, value and headers of every message; an object is in one partition, in order', () =>
  withStore(async (store, writer) => {
    const topic = await newTopic();
    const ids = await addObjects(writer, 0, 40);
    const messages = ids.flatMap(id => messagesOf(store).messages(id, 1));
    const sink = await kafkaSink(withSasl(topic));
    await sink.send(messages.slice(0, 50));
    await sink.send(messages.slice(50));
    await sink.close();
    const received = await readTopic(kafka, topic, messages.length);
    const all = allExpected(store);
    assert.equal(received.map(({ value }) => value).sort(), [...all].sort());
    const partitionOf = new Map<string, number>();
    for (const { key, partition, value, headers } of received) {
      assert.is(key, /"diaObjectId":(\d+)/.exec(value)![1]);
      assert.is(partitionOf.get(key) ?? partition, partition);
      partitionOf.set(key, partition);
      const { catalog_name: catalogName } = JSON.parse(value);
      assert.equal([...headers.keys()], ['_id', '_sender', '_format']);
      const named = { diaObjectId: BigInt(key), matchVersion: 1, catalogName, ingestTimeUs: INGEST_US };
      assert.equal(headers.get('_id'), messageId(named));
      assert.equal([`${headers.get('_sender')}`, `${headers.get('_format')}`], [API_KEY, 'json']);
    }
    assert.ok(new Set(partitionOf.values()).size === PARTITIONS);
    for (const key of partitionOf.keys()) {
      const ofOne = (texts: readonly string[]) => texts.filter(text => text.includes(`"diaObjectId":${key},`));
      assert.equal(ofOne(received.map(({ value }) => value)), ofOne(all));
    }
  }),
);

real('a topic that is not there, wrong credentials and no server are errors, and show no password', async () => {
  const named = { diaObjectId: 1n, matchVersion: 1, catalogName: 'x', ingestTimeUs: 0 };
  const message = { ...named, position: null, value: Buffer.from('{}') };
  const topic = await newTopic();
  const targets = [
    plain('no-such-topic'),
    { ...withSasl(topic), sasl: { ...sasl, password: 'another-secret' } },
    { ...plain(topic), servers: ['127.0.0.1:1'] },
  ];
  for (const target of targets) {
    const sink = await kafkaSink(target);
    const error = await failure(() => sink.send([message]));
    assert.not.match(`${error.stack} ${JSON.stringify(error)}`, 'another-secret');
    await sink.close();
  }
});

real(
  'the command and `serve` publish what watches select to topics of their own, beside all matches or without them',
  () =>
    withStore(async (store, writer, data) => {
      const [topic, objects, gaia] = [await newTopic(), await newTopic(), await newTopic()];
      const file = join(data, 'watches.json');
      const all = { ...settingsOf(topic), PUBLISH_WATCHES: file };
      const watches = [
        { name: 'every object', topic: objects, stream: 'objects' },
        { name: 'close in Gaia', topic: gaia, area: 'CIRCLE 186.7 -6.7 1', filters: { catalog: 'gaia_dr3' } },
      ];
      writeFileSync(file, JSON.stringify(watches));
      await addObjects(writer, 0, 20);
      const command = start(['publish', '--data', data, '--json'], all);
      const matches = allExpected(store);
      const values = async (topic: string, count: number) =>
        (await readTopic(kafka, topic, count)).map(({ value }) => value).sort();
      assert.equal(await values(topic, 40), matches.toSorted());
      const inGaia = matches.filter(text => text.includes('"gaia_dr3"'));
      assert.equal(await values(gaia, 16), inGaia.toSorted());
      const changes = (await values(objects, 40)).map(text => JSON.parse(text).change);
      assert.equal([changes.length, changes.filter(each => each === 'stored').length], [40, 20]);
      send(command.child, 'SIGTERM');
      const { stdout } = await command.finished;
      assert.equal(JSON.parse(stdout), {
        publications: [
          { topic, sequence: 2, messages: 56 },
          { topic: '*objects', sequence: 2, messages: 40 },
        ],
      });
      const { PUBLISH_TOPIC: _, ...others } = all;
      const server = await startServer(['serve', '--data', data, '--port', '0', '--workers', '1'], others);
      await addObjects(writer, 20, 40);
      assert.is((await values(objects, 80)).length, 80);
      assert.is((await values(gaia, 32)).length, 48, '*matches begins with the oldest');
      assert.is((await server.stop()).code, 0);
    }),
);

real('a source without a position is passed over, which is logged', () =>
  withStore(async (_, writer, data) => {
    const topic = await newTopic();
    const { matches, ...result } = crossmatch(FIRST_ID, 3);
    const [first, second, third] = matches;
    await writer.ingest([delivery(FIRST_ID)], INGEST_US);
    const without = { ...second!, source: { ra: null, dec: null, payload: null } };
    await writer.recordCrossmatches([{ ...result, matches: [first!, without, third!] }], provenance, 2);
    const command = start(['publish', '--data', data], settingsOf(topic));
    assert.is((await readTopic(kafka, topic, 2)).length, 2);
    send(command.child, 'SIGTERM');
    assert.is((await command.finished).stderr.split('"event":"publish_left_out"').length, 2);
  }),
);

real('a broker that goes away and comes back', () =>
  withStore(async (store, writer) => {
    const topic = await newTopic();
    await addObjects(writer, 0, 20);
    const stop = new AbortController();
    const events: string[] = [];
    const running = publicationOf(store, writer, new FakeSink(), {
      topic,
      connect: () => kafkaSink(plain(topic)),
      log: event => events.push(event),
    }).run(stop.signal);
    await readTopic(kafka, topic, 40);
    await kafka.stop('SIGKILL');
    await addObjects(writer, 20, 40);
    await eventually('it fails', async () => events.includes('publish_failed') || undefined, 60_000);
    await kafka.startAgain();
    const received = await readTopic(kafka, topic, 80);
    assert.equal(new Set(received.map(({ value }) => value)).size, 80);
    stop.abort();
    await running;
  }),
);

real('the command, and `serve`, publish to the same topic, one after the other; stats and metrics say how far', () =>
  withStore(async (store, writer, data) => {
    const topic = await newTopic();
    const variables = settingsOf(topic);
    await addObjects(writer, 0, 20);
    const command = start(['publish', '--data', data, '--json'], variables);
    await readTopic(kafka, topic, 40);
    const waiting = start(['publish', '--data', data, '--json'], variables);
    let logged = '';
    waiting.child.stderr!.on('data', data => (logged += data));
    await eventually('it waits', async () => logged.includes('publish_waits') || undefined);
    send(waiting.child, 'SIGTERM');
    const nothing = { topic, sequence: null, messages: null };
    assert.equal(JSON.parse((await waiting.finished).stdout), { publications: [nothing] });
    const server = await startServer(['serve', '--data', data, '--port', '0', '--workers', '1'], variables);
    send(command.child, 'SIGTERM');
    const { code, stdout, stderr } = await command.finished;
    assert.is(code, 0, stderr);
    assert.equal(JSON.parse(stdout), { publications: [{ topic, sequence: 2, messages: 40 }] });
    await addObjects(writer, 20, 40);
    const received = await readTopic(kafka, topic, 80);
    const all = allExpected(store);
    assert.equal(received.map(({ value }) => value).sort(), [...all].sort(), 'each once');
    await eventually('metrics say so', async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const has = (name: string, value: number) => text.includes(`${name}{topic="${topic}"} ${value}\n`);
      return (has('nearsky_publish_lag_entries', 0) && has('nearsky_published_messages_total', 80)) || undefined;
    });
    const ended = await server.stop();
    assert.is(ended.code, 0, ended.stderr);
    assert.not.match(`${stderr}${ended.stderr}`, API_SECRET);
    const { published } = await nearsky('stats', '--data', data);
    assert.equal(published, { [topic]: { sequence: 4, objects: 0, messages: 80 } });
  }),
);

const hop = pythonWith('hop');
needs(test, whyNoKafka ?? whyNoPython('hop'))('hop-client reads every message and its metadata', () =>
  withStore(async (store, writer, directory) => {
    const topic = await newTopic();
    await addObjects(writer, 0, 30);
    const stop = new AbortController();
    const running = publicationOf(store, writer, new FakeSink(), {
      topic,
      connect: () => kafkaSink(plain(topic)),
    }).run(stop.signal);
    await readTopic(kafka, topic, 60);
    stop.abort();
    await running;
    const url = `kafka://${kafka.server}/${topic}`;
    const variables = { HOME: directory, XDG_CONFIG_HOME: directory, HOP_NO_AUTH: '1' };
    // The program that people run: it prints each message.
    const printed = await runPython(
      hop!,
      ['-m', 'hop', 'subscribe', url, '--no-auth', '-s', 'EARLIEST', '--until-eos', '--json'],
      { variables },
    );
    const all = allExpected(store);
    const lines = (text: string) => text.trim().split('\n').sort();
    assert.equal(lines(printed).map(compact).sort(), [...all].sort());
    const tutorial = await runPython(hop!, [join(root, 'docs/read_the_stream.py'), url], { variables });
    const expectedLines = all.map(text => {
      const { catalog_name: catalogName, catalog_source_id: source, separation_arcsec: separation } = JSON.parse(text);
      const diaObjectId = BigInt(/"diaObjectId":(\d+)/.exec(text)![1]!);
      const id = messageId({ diaObjectId, matchVersion: 1, catalogName, ingestTimeUs: INGEST_US }).toString('hex');
      return `${id} ${diaObjectId} ${catalogName} ${source} ${separation}`;
    });
    const withoutDashes = (line: string) => line.replace(/^[\da-f-]+/, id => id.replaceAll('-', ''));
    assert.equal(lines(tutorial).map(withoutDashes).sort(), expectedLines.sort());
  }),
);

/** JSON without spaces between its parts. */
const compact = (json: string) => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

test.run();
