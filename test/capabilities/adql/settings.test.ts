/** Settings that contradict others. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../../src/core/config/config.ts';
import { configWith } from '../../capabilities.ts';

const test = suite('adql/settings');

test('the memory of the engine is part of that of all child processes', () =>
  assert.throws(
    () => configWith({ TAP_MEMORY_MIB: '256' }),
    (error: Error) =>
      error instanceof ConfigError && error.message.includes('NEARSKY_CHILD_MEMORY_MIB must be at least 608'),
  ));

test.run();
