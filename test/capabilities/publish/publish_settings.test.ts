/** The settings of the publication on Kafka have the effects that docs/settings.md names. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publishSettings } from '../../../src/capabilities/publish/publish_settings.ts';
import { configOf } from '../../core/http/support.ts';

const test = suite('publish/settings');

test('how matches are published; credentials come from the environment', () => {
  const settings = { PUBLISH_KAFKA_SERVERS: 'h:1,i:2', PUBLISH_TOPIC: 't', PUBLISH_COMPRESSION: 'lz4' };
  const config = configOf('/d', settings);
  const target = publishSettings(config, { PUBLISH_KAFKA_USERNAME: 'u', PUBLISH_KAFKA_PASSWORD: 'p' })!;
  assert.equal([target.servers, target.topic, target.compression], [['h:1', 'i:2'], 't', 'lz4']);
  assert.equal(target.sasl, { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' });
  assert.is(publishSettings(config, {})!.sasl, undefined);
});

test.run();
