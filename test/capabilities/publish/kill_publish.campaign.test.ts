/**
 * kill -9 of `publish` and of Kafka itself at random moments, while crossmatches are recorded: no match is lost, the
 * matches of an object keep their order, and repeated messages have the same id. TEST_KILLS sets how many times (2).
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readPublished } from '../../../src/core/store/meta.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { provenance } from '../../core/store/support.ts';
import { kills, random } from '../../e2e/kill_support.ts';
import { eventually, send, start, withDirectory } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { addObjects, allExpected, crossmatch } from '../streams/support.ts';
import { readTopic } from './read_topic.ts';

const test = suite('publish/kill_publish');
const real = needs(test, whyNoKafka);

const TOPIC = 'matches';
const OBJECTS_A_ROUND = 20;
/** One kill in this many is Kafka's. */
const ONE_OF_KAFKA = 4;

real(`publish and Kafka, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const kafka = await KafkaServer.start(join(directory, 'kafka'));
    const store = openStore(data, 'write');
    const writer = new Writer(store);
    try {
      await kafka.createTopic(TOPIC, 2);
      const args = ['publish', '--data', data, '--json'];
      const variables = {
        PUBLISH_KAFKA_SERVERS: kafka.server,
        PUBLISH_TOPIC: TOPIC,
        PUBLISH_KAFKA_TLS: 'no',
      };
      let stopped = false;
      const load = (async () => {
        for (let round = 0; !stopped; round++) {
          const [from, to] = [OBJECTS_A_ROUND * round, OBJECTS_A_ROUND * (round + 1)];
          const ids = await addObjects(writer, from, to, object => object % 7 === 0);
          await sleep(100 * random());
          // A catalog that could be read only later: the same objects have a second crossmatch.
          const unread = ids.filter((_, i) => (from + i) % 7 === 0);
          await writer.recordCrossmatches(
            unread.map(id => crossmatch(id, 3)),
            provenance,
            1,
          );
          await sleep(100 * random());
        }
      })();
      let running = start(args, variables);
      const published = () => {
        store.resetRead();
        return readPublished(store.databases).get(TOPIC)?.messages ?? 0;
      };
      for (let killed = 1; killed <= kills; killed++) {
        // It publishes, however long its start takes.
        const before = published();
        await eventually('it publishes', async () => published() > before || undefined, 120_000);
        await sleep(500 * random());
        if (killed % ONE_OF_KAFKA === 0 || killed === kills) {
          await kafka.stop('SIGKILL');
          await sleep(500 * random());
          await kafka.startAgain();
        } else {
          send(running.child, 'SIGKILL');
          assert.is((await running.finished).signal, 'SIGKILL');
          running = start(args, variables);
        }
      }
      stopped = true;
      await load;
      const all = allExpected(store);
      const received = await readTopic(kafka, TOPIC, all.length);
      send(running.child, 'SIGTERM');
      const { code, stderr } = await running.finished;
      assert.is(code, 0, stderr);
      const values = received.map(({ value }) => value);
      assert.equal([...new Set(values)].sort(), [...all].sort(), 'each at least once, and nothing else');
      const idOf = new Map<string, string>();
      for (const { value, headers } of received) {
        const id = headers.get('_id')!.toString('hex');
        assert.is(idOf.get(value) ?? id, id);
        idOf.set(value, id);
      }
      assert.is(new Set(idOf.values()).size, all.length);
      const first = groupBy(new Set(values));
      for (const [object, texts] of groupBy(all)) assert.equal(first.get(object), texts, 'in order');
      console.log(`${all.length} matches, ${received.length - all.length} of them again, ${kills} kills`);
    } finally {
      await store.close();
      await kafka.stop();
    }
  }),
);

/** The texts of each object, in their order. */
function groupBy(texts: Iterable<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const text of texts) {
    const object = /"diaObjectId":(\d+)/.exec(text)![1]!;
    groups.set(object, [...(groups.get(object) ?? []), text]);
  }
  return groups;
}

test.run();
