import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../src/core/base/error_text.ts';

const test = suite('base/error_text');

test('an error of several attempts says once what each of them met', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const again = new AggregateError([refused, refused, new Error('no such topic')], 'metadata failed 3 times.');
  assert.is(messageOf(again), 'metadata failed 3 times: nothing listens there (ECONNREFUSED); no such topic');
  assert.is(messageOf(new AggregateError([again])), messageOf(again));
  assert.is(messageOf(new AggregateError([])), '');
});

test('an error that another one follows while files are closed is not lost', () => {
  const work = () => {
    using _closed = {
      [Symbol.dispose]() {
        throw new Error('cannot close');
      },
    };
    throw new Error('cannot write');
  };
  try {
    work();
    assert.unreachable();
  } catch (error) {
    assert.is(messageOf(error), 'cannot write; cannot close');
  }
});

test.run();
