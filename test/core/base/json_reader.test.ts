import { parseJson, toJson } from '@nearsky/astrotables/json';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseMessage, parseSent, type SentNumber } from '../../../src/core/base/json_reader.ts';
import { anyText } from '../../any_text.ts';

const test = suite('base/json_reader');

/** A JSON value in which NaN and the infinities may stand, too. */
const values = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.double(),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, true, false),
    text(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Strings that contain what the parser looks for. */
function text(): fc.Arbitrary<string> {
  const pieces = [
    'NaN',
    ' NaN,',
    ':-Infinity}',
    '"',
    '\\',
    '\\"',
    'diaObjectId": 5',
    '\\u0022',
    '\n',
    'é',
    '😀',
    '[',
    ', ',
  ];
  return fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map(parts => parts.join('')),
  );
}

/** The text in the form of Python's json.dumps, with `space` where white space may stand. */
function dumps(value: unknown, space: string): string {
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : String(value);
  if (Array.isArray(value)) return `[${value.map(inner => space + dumps(inner, space)).join(`${space},`)}${space}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, inner]) => `${space}${JSON.stringify(key)}${space}:${space}${dumps(inner, space)}`,
  );
  return `{${entries.join(`${space},`)}${space}}`;
}

/** The expected value: null for a number that is not finite; nothing else changes. */
function strict(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  return JSON.parse(
    JSON.stringify(value, (_key, inner) => (Number.isFinite(inner) || typeof inner !== 'number' ? inner : null)),
  );
}

test('bare NaN and infinities are null, and everything else is as it was, strings above all', () => {
  fc.assert(
    fc.property(values, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      const wrapped = { value };
      assert.equal(parseMessage(dumps(wrapped, space)).value, strict(wrapped));
    }),
    { numRuns: 1000 },
  );
});

/** The exact id of the member `diaObjectId`. */
function idIn(text: string): unknown {
  const { value, exactId } = parseMessage(text);
  return exactId((value as { diaObjectId: unknown }).diaObjectId);
}

const ids = fc.bigInt(-(2n ** 70n), 2n ** 70n);
const spaces = fc.constantFrom('', ' ', '\n ');

test('an id is exact to the last digit, under any key that ends in diaObjectId', () => {
  fc.assert(
    fc.property(ids, spaces, (id, space) => {
      const { value, exactId } = parseMessage(
        `{"diaObjectId"${space}:${space}${id}, "a": [{"lsst_diaObject_diaObjectId":${id}}]}`,
      );
      const { diaObjectId, a } = value as { diaObjectId: unknown; a: { lsst_diaObject_diaObjectId: unknown }[] };
      assert.equal([diaObjectId, a[0]!.lsst_diaObject_diaObjectId].map(exactId), [String(id), String(id)]);
    }),
  );
});

test('ids so near to each other that they round to the same number are told apart', () => {
  const near = fc.tuple(ids, fc.array(fc.bigInt(-3n, 3n), { minLength: 1, maxLength: 6 }), spaces);
  fc.assert(
    fc.property(near, ([base, steps, space]) => {
      const all = steps.map(step => String(base + step));
      const { value, exactId } = parseMessage(`[${all.map(id => `{"diaObjectId":${space}${id}}`).join(`,${space}`)}]`);
      assert.equal(
        (value as { diaObjectId: unknown }[]).map(({ diaObjectId }) => exactId(diaObjectId)),
        all,
      );
    }),
  );
});

test('of several ids under one key it is that of the last', () => {
  const [first, last] = ['170055002004914266', '170055002004914267'];
  assert.is(idIn(`{"diaObjectId": ${first}, "diaObjectId": ${last}}`), last);
  assert.is(idIn(`{"diaObjectId": ${last}, "diaObjectId": ${first}}`), first);
  assert.is(idIn(`{"diaObjectId": ${first}, "diaObjectId": "${last}"}`), last);
});

test('a number under an escaped key is never given the digits of another id', () => {
  const [hidden, other] = ['170055002004914266', '170055002004914267'];
  for (const key of ['\\u0064iaObjectId', 'diaObject\\u0049d']) {
    assert.type(idIn(`{"${key}": ${hidden}, "x_diaObjectId": ${other}}`), 'number');
    assert.type(idIn(`{"x_diaObjectId": ${other}, "diaObjectId": ${other}, "${key}": ${hidden}}`), 'number');
  }
  assert.is(idIn(`{"note": "\\u0064", "diaObjectId": ${hidden}}`), hidden);
});

test('of a number that is no integer the text is kept, so that it can be refused', () => {
  for (const literal of ['1.0', '1e5', '-1', '1E+2', '0.5', '-0', '1e999'])
    assert.is(idIn(`{"diaObjectId": ${literal}}`), literal);
  for (const literal of ['"170055002004914266"', '"abc"', 'null', 'true', '[]', '{}'])
    assert.equal(idIn(`{"diaObjectId": ${literal}}`), JSON.parse(literal));
  assert.is(idIn('{"diaObjectId": NaN}'), null);
});

test('what looks like an id inside a string stays text', () => {
  const inner = '{"diaObjectId": 170055002004914266, "x": NaN}';
  assert.equal(parseMessage(JSON.stringify({ data: inner, more: 'a "diaObjectId": 5' })).value, {
    data: inner,
    more: 'a "diaObjectId": 5',
  });
});

test('anything else that is not JSON is an error', () => {
  const broken = [
    ...[
      '',
      ' ',
      '{',
      '{"a": 1',
      '{"a": 1,}',
      "{'a': 1}",
      '{"a": nan}',
      '{"a": -NaN}',
      '{"a": NaNa}',
      '{"a": +Infinity}',
      '[NaN NaN]',
    ],
    ...[
      '{"a": 0x10}',
      '{"a": .5}',
      '{"a": 01}',
      '{"diaObjectId": 01}',
      '{"n": "\\u00e9", "diaObjectId": 01}',
      '{"diaObjectId": 6--.e, "x_diaObjectId": 170055002004914266, "y_diaObjectId": 170055002004914267}',
      '{"a": "\n"}',
      '{"a": 1} {"a": 2}',
      '{"diaObjectId": 12ab}',
      '{"a": undefined}',
      'NaN,',
    ],
  ];
  for (const text of broken)
    assert.throws(
      () => parseMessage(text),
      (error: unknown) => error instanceof SyntaxError,
      text,
    );
});

test('a message of many megabytes is read, NaN after it and all', () => {
  const cutout = 'QUJD'.repeat(2 ** 21);
  assert.equal(parseMessage(`{"a": "${cutout}", "b": NaN}`).value, { a: cutout, b: null });
  assert.throws(() => parseMessage(`{"a": "${cutout}, "b": NaN}`));
});

test('a string of millions of escapes takes neither the stack nor, unended, a time that grows with its square', () => {
  const quotes = '"'.repeat(2 ** 22);
  assert.equal(parseMessage(`{"a": NaN, "b": ${JSON.stringify(quotes)}}`).value, { a: null, b: quotes });
  assert.throws(() => parseMessage(`{"a": NaN, "b": ${JSON.stringify(quotes).slice(0, -1)}`), SyntaxError);
  assert.throws(() => parseMessage('{"a": NaN, "b": "\\'), SyntaxError);
});

const sent = (text: string) => parseSent(Buffer.from(text), { maxDepth: 10, maxValues: 1000 });

test('whatever is JSON is read as the runtime reads it, and written as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false } as fc.JsonSharedConstraints), value => {
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, '\t\n ')]) {
        assert.equal(JSON.parse(toJson(sent(text))), JSON.parse(text));
      }
    }),
  );
  fc.assert(
    fc.property(anyText(), text => {
      assert.is(sent(JSON.stringify(text)), text);
      assert.match(toJson(text), /^[ -~]*$/);
    }),
  );
  const { value, isInteger } = sent(' -1.50E+2 ') as SentNumber;
  assert.equal([value, isInteger], [-150, false]);
  assert.ok((sent('-10') as SentNumber).isInteger);
  assert.is(toJson(sent('{"__proto__": [1], "a\\"b\\\\": "\\\\"}')), '{"__proto__": [1], "a\\"b\\\\": "\\\\"}');
});

test('nesting, names and values have bounds', () => {
  const read = (text: string) => parseSent(Buffer.from(text), { maxDepth: 3, maxValues: 10 });
  assert.is(toJson(read('[[{}]]')), '[[{}]]');
  for (const text of ['[[[[]]]]', '[[[{"a": 1}]]]', '[{"a": [{}]}]'])
    assert.throws(() => read(text), /must not be nested deeper than 3 levels/);
  assert.is(
    toJson(read('[1, 2, {"a,[:": 3, "b": "\\",,,,,,,,,"}, 5, 6]')),
    '[1, 2, {"a,[:": 3, "b": "\\",,,,,,,,,"}, 5, 6]',
  );
  assert.throws(() => read('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]'), /must have at most 10 names and values/);
  for (const text of ['', '{', '{"a": 01}', 'NaN']) assert.throws(() => read(text), SyntaxError);
  assert.throws(() => parseSent(new Uint8Array([0x22, 0xff, 0x22]), { maxDepth: 1, maxValues: 1 }), TypeError);
});

/** Values as texts, each with what `parseJson` makes of it. */
const written = fc.letrec<{ value: [text: string, value: unknown] }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt(-(2n ** 70n), 2n ** 70n).map((id): [string, unknown] => [`${id}`, safe(id) ? Number(id) : id]),
    fc.integer().map((value): [string, unknown] => [`${value}`, value]),
    fc.constantFrom<[string, unknown]>(
      ['1.0', 1],
      ['1e17', 1e17],
      ['170055002004914266.0', 170055002004914270],
      ['9007199254740991', 2 ** 53 - 1],
      ['9007199254740992', 2n ** 53n],
      ['-9007199254740992', -(2n ** 53n)],
      ['"[170055002004914266]"', '[170055002004914266]'],
      ['null', null],
    ),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), fc.constantFrom('', ' ', '\n\t'))
      .map(([parts, space]): [string, unknown] => [
        `[${parts.map(([text]) => space + text + space).join()}]`,
        parts.map(([, value]) => value),
      ]),
    fc
      .dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 4, noNullPrototype: true })
      .map((parts): [string, unknown] => [
        `{${Object.entries(parts)
          .map(([key, [text]]) => `${JSON.stringify(key)}:${text}`)
          .join()}}`,
        Object.fromEntries(Object.entries(parts).map(([key, [, value]]) => [key, value])),
      ]),
  ),
})).value;

const safe = (integer: bigint) => integer > -(2n ** 53n) && integer < 2n ** 53n;

test('plain data has every integer with all its digits, wherever it stands', () => {
  fc.assert(
    fc.property(written, ([text, value]) => assert.equal(parseJson(text), value)),
    { numRuns: 2000 },
  );
});

test('of integers, those that 64 bits hold may be bigints alone, or all may be', () => {
  const text = '[1, 9223372036854775807, 18446744073709551615, 18446744073709551616, -9223372036854775809, 1.5]';
  const [most, unsigned] = [2n ** 63n - 1n, 2n ** 64n - 1n];
  assert.equal(parseJson(text, 'int64'), [1, most, unsigned, 2 ** 64, -(2 ** 63), 1.5]);
  assert.equal(parseJson(text, 'wide'), [1, most, unsigned, 2n ** 64n, -(2n ** 63n) - 1n, 1.5]);
  assert.equal(parseJson('{"a": 1, "b": [-0, 1.0, "2"]}', 'all'), { a: 1n, b: [0n, 1, '2'] });
  for (const bad of ['', '{"a": 170055002004914266', '01', '1700550020049142660x', '[NaN]'])
    for (const bigints of ['wide', 'int64', 'all'] as const) assert.throws(() => parseJson(bad, bigints), SyntaxError);
});

test.run();
