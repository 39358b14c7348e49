/** Kinds of values: which values they accept, the messages for others, and their schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clamped, flag, integer, type Kind, matching, named, number, oneOf } from '../../../src/core/contract/kind.ts';

const test = suite('contract/kind');

test('the words after "must be"', () => {
  const words: [Kind<unknown>, string][] = [
    [number(), 'a number'],
    [number({ min: 0 }), 'a number of at least 0'],
    [number({ min: -90, max: 90 }), 'a number from -90 to 90'],
    [number({ min: 0, max: 60, aboveMin: true }), 'a number above 0 and at most 60'],
    [integer({ min: 0, max: 65535 }), 'an integer from 0 to 65535'],
    [clamped(1, 7, /^\d+$/), 'an integer of at least 1'],
    [flag(), 'true or false'],
    [flag('yes', 'no'), 'yes or no'],
    [oneOf(['a', 'b']), 'one of a, b'],
    [named(['a', 'b'].map(name => ({ name, meaning: '' }))), 'one of a, b'],
  ];
  for (const [kind, must] of words) assert.is(kind.must, must);
});

test('of several conditions the one that is broken is named', () => {
  const radius = number({ min: 0, max: 60, aboveMin: true });
  const broken = ['x', '1e999', '0x10', '0', '-1', '61', undefined, Number.POSITIVE_INFINITY, 0, 61].map(
    radius.broken!,
  );
  assert.equal(broken, [
    ...Array(3).fill('a finite decimal number'),
    'above 0',
    'above 0',
    'at most 60',
    'a finite JSON number',
    'a finite JSON number',
    'above 0',
    'at most 60',
  ]);
  const limit = integer({ min: 1, max: 9 }, /^\d+$/);
  assert.equal(['1.5', '+5', '1e1', '0', '10', '9'.repeat(400)].map(limit.broken!), [
    ...Array(3).fill('an integer'),
    'at least 1',
    'at most 9',
    'at most 9',
  ]);
});

test('JSON is no text: a text of digits is no number, and true is no word', () => {
  for (const kind of [number(), integer(), flag(), clamped(0, 9, /^\d+$/)]) {
    for (const text of ['1', 'true', '']) assert.is(kind.parse(text), undefined, `${kind.must}: ${text}`);
  }
  assert.is(number().parse(1n), 1);
  assert.is(flag().parse(true), true);
  assert.is(flag('yes', 'no').parseText('no'), false);
  assert.is(matching(/^a$/, 'a').parseText(' a '), undefined);
  assert.is(matching(/^a$/, 'a', true).parseText(' a '), 'a');
  assert.equal(['0', '3', '9'.repeat(400), '-1', '1.0'].map(clamped(1, 5, /^\d+$/).parseText), [
    undefined,
    3,
    5,
    undefined,
    undefined,
  ]);
});

test('the schema takes what the kind takes', () => {
  const bounds = { min: -2, max: 3 };
  const kinds = [
    number(),
    number(bounds),
    number({ ...bounds, aboveMin: true }),
    integer(bounds),
    flag(),
    oneOf(['a', 'b']),
  ];
  const ajv = new Ajv2020();
  const value = fc.oneof(
    fc.integer({ min: -4, max: 5 }),
    fc.constantFrom('a', 'b', 'c', '1', true, false, null, 2.5, -1.5),
  );
  for (const kind of kinds) {
    const meets = ajv.compile(kind.schema);
    fc.assert(fc.property(value, given => meets(given) === (kind.parse(given) !== undefined)));
  }
});

test.run();
