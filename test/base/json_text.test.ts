import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Rendered, toJson } from '../../src/base/json_text.ts';

const test = suite('base/json_text');

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

test('ASCII only, quotes and control characters escaped', () => {
  assert.is(toJson('a"\\\n\u007fé😀\u2028'), '"a\\"\\\\\\n\\u007f\\u00e9\\ud83d\\ude00\\u2028"');
});

test('what is no data is refused', () => {
  assert.throws(() => toJson([() => {}]), /function/);
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
