/** The effects of settings, and settings that contradict others. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bodies } from '../../../src/capabilities/adql/serve.ts';
import { ConfigError } from '../../../src/core/config/config.ts';
import { serverLimits } from '../../../src/core/server/server_limits.ts';
import { configWith } from '../../capabilities.ts';
import { withApp } from '../../core/http/support.ts';

const test = suite('adql/settings');

test('the memory of the engine is part of that of all child processes', () =>
  assert.throws(
    () => configWith({ TAP_MEMORY_MIB: '256' }),
    (error: Error) =>
      error instanceof ConfigError && error.message.includes('NEARSKY_CHILD_MEMORY_MIB must be at least 608'),
  ));

test('a connection without a byte stays open for longer than a query may take', () => {
  const config = configWith({ TAP_QUERY_SECONDS: '600' });
  assert.ok(serverLimits(40, 5, 1, bodies(config)).inactivityMs > 620_000);
});

test('who publishes the service', () =>
  withApp(
    async () => {},
    async app => {
      const { text } = await app.get('/vo/record');
      assert.match(text, '<identifier>ivo://nearsky.example/service</identifier>');
      assert.match(text, '<email>astronomer@nearsky.example</email>');
    },
    { VO_IDENTIFIER: 'ivo://nearsky.example/service', VO_CONTACT_EMAIL: 'astronomer@nearsky.example' },
  ));

test.run();
