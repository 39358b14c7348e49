import { CANONICAL, COMPACT, Rendered, toJson } from '@nearsky/astrotables/json';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('astrotables/json');

test('a space after each colon and comma; members that are undefined are left out', () => {
  const value = { a: [1, 'x', null, true], b: {}, c: undefined, d: { e: [] } };
  assert.is(toJson(value), '{"a": [1, "x", null, true], "b": {}, "d": {"e": []}}');
  assert.is(toJson({ c: undefined, d: 1 }), '{"d": 1}');
});

test('64-bit integers are bare and exact; what is not finite is null', () => {
  assert.is(toJson([2n ** 63n - 1n, 0n]), '[9223372036854775807, 0]');
  assert.is(toJson([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0]), '[null, null, null, 0]');
});

test('text that is rendered beforehand', () => {
  assert.is(toJson({ a: new Rendered('{"b": [1,2]}') }), '{"a": {"b": [1,2]}}');
});

test('a map is an object whose names keep their order, as no other object does with names that are numbers', () => {
  const map = new Map<string, unknown>([
    ['1', [new Map()]],
    ['0', undefined],
    ['é', 2n],
  ]);
  assert.is(toJson(map), '{"1": [{}], "\\u00e9": 2}');
  assert.is(toJson({ map }, COMPACT), '{"map":{"1":[{}],"é":2}}');
});

test('compact: no spaces, no escapes that JSON does not need, and integer literals are exact', () => {
  const integers = [2 ** 53 - 1, 2 ** 53, 1e17, 10n ** 17n, -1e21, 0.5];
  const text = '[9007199254740991,9.007199254740992e+15,1e+17,100000000000000000,-1e+21,0.5]';
  assert.is(toJson(integers, COMPACT), text);
  const compact = '{"b":[9.007199254740992e+15,"é"],"a":{"d":null,"c":9223372036854775807}}';
  const value = { b: [2 ** 53, 'é'], x: undefined, a: { d: Number.NaN, c: 2n ** 63n - 1n } };
  assert.is(toJson(value, COMPACT), compact);
  assert.is(toJson(value, CANONICAL), '{"a":{"c":9223372036854775807,"d":null},"b":[9.007199254740992e+15,"é"]}');
  fc.assert(
    fc.property(fc.jsonValue(), value =>
      assert.equal(JSON.parse(toJson([1n, value], COMPACT))[1], JSON.parse(JSON.stringify(value))),
    ),
  );
});

test('canonical: keys by their UTF-16 code units, at every depth', () => {
  assert.is(
    toJson({ é: 1, z: { b: [], a: 2 }, Z: 3, 10: 4, 9: 5 }, CANONICAL),
    '{"10":4,"9":5,"Z":3,"z":{"a":2,"b":[]},"é":1}',
  );
});

test('ASCII only, quotes and control characters escaped', () => {
  assert.is(toJson('a"\\\n\u007fé😀\u2028'), '"a\\"\\\\\\n\\u007f\\u00e9\\ud83d\\ude00\\u2028"');
});

test('what is no data is refused', () => {
  for (const form of [undefined, COMPACT, CANONICAL]) {
    assert.throws(() => toJson([() => {}], form), /function/);
    assert.throws(() => toJson({ a: [undefined] }, form), /undefined/);
  }
});

test('parses back to the same, for any JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const text = toJson(value);
      assert.equal(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      return /^[\x20-\x7e]*$/.test(text);
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => JSON.parse(toJson(value)) === value + 0),
  );
});

test.run();
