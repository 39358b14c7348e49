/** Which topics may be a log. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newTopic, SETTINGS, type TopicSettings, whyUnsafe } from '../../../src/core/cluster/kafka_settings.ts';

const test = suite('cluster/kafka_settings');

const settings = new Map([
  ['cleanup.policy', 'delete'],
  ['retention.ms', '604800000'],
  ['retention.bytes', '-1'],
  ['message.timestamp.type', 'CreateTime'],
  ['message.timestamp.after.max.ms', '2000'],
  ['unclean.leader.election.enable', 'false'],
  ['max.message.bytes', '1048588'],
  ['min.insync.replicas', '2'],
]);
const safe: TopicSettings = { partitions: [[1, 2, 3]], servers: 3, settings };
const alone: TopicSettings = { ...safe, partitions: [[1]], servers: 1 };
const withSetting = (topic: TopicSettings, name: string, value: string) => ({
  ...topic,
  settings: new Map([...topic.settings, [name, value]]),
});

test('three servers, or one for trying', () => {
  assert.is(whyUnsafe(safe), undefined);
  assert.is(whyUnsafe(alone), undefined);
  assert.is(whyUnsafe(withSetting(safe, 'retention.ms', '-1')), undefined);
  assert.is(whyUnsafe(withSetting(alone, 'min.insync.replicas', '1')), undefined);
});

test('a topic that `node topic` creates is safe; two servers are too few for one', () => {
  for (const servers of [1, 3, 5]) {
    const { replicas, settings: made } = newTopic(servers);
    const partitions = [Array.from({ length: replicas }, (_, i) => i + 1)];
    const all = new Map([...Object.entries(made), ['max.message.bytes', '1048588']]);
    assert.is(whyUnsafe({ partitions, servers, settings: all }), undefined);
  }
  assert.throws(() => newTopic(2), /only 2 servers: start at least 3/);
});

test('in a cluster what is acknowledged must outlive a server', () => {
  assert.is(whyUnsafe({ ...safe, partitions: [[1, 2]] }), 'its replication factor is 2: make it at least 3');
  assert.is(whyUnsafe({ ...safe, partitions: [[1]], servers: 2 }), 'its replication factor is 1: make it at least 3');
  const why = 'its min.insync.replicas is 1: set it to at least 2';
  assert.is(whyUnsafe(withSetting(safe, 'min.insync.replicas', '1')), why);
});

test('one partition only', () => {
  for (const topic of [safe, alone]) {
    const partitions = [...topic.partitions, ...topic.partitions];
    assert.is(whyUnsafe({ ...topic, partitions }), 'it has 2 partitions: make one of 1 partition');
  }
});

test('a setting that is another one or unknown is named', () => {
  for (const [name, value, wanted] of [
    ['cleanup.policy', 'compact', 'delete'],
    ['cleanup.policy', 'compact,delete', 'delete'],
    ['retention.ms', '3600000', 'at least 86400000, or -1'],
    ['message.timestamp.after.max.ms', '9223372036854775807', 'at most 2000 (Kafka 3.6 or newer has this setting)'],
    ['retention.bytes', '1000000000', '-1'],
    ['message.timestamp.type', 'LogAppendTime', 'CreateTime'],
    ['unclean.leader.election.enable', 'true', 'false'],
    ['max.message.bytes', '999999', 'at least 1000000'],
  ] as const) {
    for (const topic of [safe, alone])
      assert.is(whyUnsafe(withSetting(topic, name, value)), `its ${name} is ${value}: set it to ${wanted}`);
  }
  for (const name of SETTINGS) {
    const others = new Map([...settings].filter(([other]) => other !== name));
    assert.match(whyUnsafe({ ...safe, settings: others }) ?? '', new RegExp(`^its ${name} is unknown: set it to `));
  }
});

test.run();
