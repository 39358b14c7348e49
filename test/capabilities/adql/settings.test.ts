/** The effects of settings, and settings that contradict others. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../../src/core/config/config.ts';
import { configWith } from '../../capabilities.ts';
import { withApp } from '../../core/http/support.ts';

const test = suite('adql/settings');

test('the memory of the engine is part of that of all child processes', () =>
  assert.throws(
    () => configWith({ TAP_MEMORY_MIB: '256' }),
    (error: Error) =>
      error instanceof ConfigError && error.message.includes('NEARSKY_CHILD_MEMORY_MIB must be at least 608'),
  ));

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
