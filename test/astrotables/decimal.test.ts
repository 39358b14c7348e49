/** Numbers have the digits that `String` gives them, which the standard of the language defines. TEST_DECIMALS sets how many of each kind. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_DECIMAL_BYTES, readDecimal, writeDecimal } from '../../packages/astrotables/decimal.ts';
import { seededRandom } from '../oracle/skies.ts';

const COUNT = Number(process.env.TEST_DECIMALS ?? 20_000);
const test = suite('astrotables/decimal');
const random = seededRandom(Number(process.env.TEST_SEED ?? 1));

/**
 * Writes a number between other bytes, and checks that those stay unchanged. @returns its text; undefined if the number
 * is left to `String`
 */
function decimal(value: number): string | undefined {
  const bytes = Buffer.alloc(2 * MAX_DECIMAL_BYTES, '#');
  const begin = 7;
  const end = writeDecimal(bytes, begin, value);
  assert.is(bytes.toString('latin1', 0, begin), '#'.repeat(begin));
  assert.match(bytes.toString('latin1', begin + MAX_DECIMAL_BYTES), /^#+$/);
  return end < 0 ? undefined : bytes.toString('latin1', begin, end);
}

/** @returns the number of values that were left to `String` */
function check(numbers: Iterable<number>): number {
  let left = 0;
  for (const number of numbers) {
    const text = decimal(number);
    if (text === undefined) left++;
    else if (text !== String(number)) assert.unreachable(`${number} is written as ${text}`);
  }
  return left;
}

const KINDS: Readonly<Record<string, () => number>> = {
  'right ascensions': () => random() * 360,
  declinations: () => random() * 180 - 90,
  'parts of 1': random,
  'of any size': () => 10 ** (random() * 15 - 6),
  'with few digits': () => Math.round(random() * 1e7) / 10 ** Math.floor(random() * 8),
  'with up to 17 digits': () => Number((random() * 1000).toPrecision(1 + Math.floor(random() * 17))),
  'of single precision': () => Math.fround(random() * 30),
  integers: () => Math.floor((random() - 0.5) * 1e9),
};

for (const [name, make] of Object.entries(KINDS))
  test(`numbers ${name}`, () => {
    const left = check(Array.from({ length: COUNT }, make));
    assert.ok(left < COUNT / 20, `${left} of ${COUNT} were left to String`);
  });

test('the text of a number is read as by Number', () => {
  const read = (text: string) => {
    const bytes = Buffer.from(`1${text}1`);
    const found = readDecimal(bytes, 1, bytes.length - 1);
    assert.ok(Object.is(found, Number(text)), `${text} is read as ${found}`);
  };
  for (const make of Object.values(KINDS))
    for (let i = 0; i < COUNT / 10; i++) {
      const number = make();
      for (const text of [`${number}`, number.toFixed(20), number.toExponential()]) read(text);
    }
  for (const decimals of ['', '.', '.0', `.${'0'.repeat(30)}1`])
    for (const integer of [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n]) read(`${integer}${decimals}`);
  for (const text of ['', '?', '1.2.3', '0.9007199254740993', '0.09007199254740993', '-0', '1e400']) read(text);
});

test('beside powers of 2 and of 10, and bounds', () => {
  const next = new Float64Array(1);
  const bits = new BigUint64Array(next.buffer);
  const around = function* (value: number) {
    for (let step = -3n; step <= 3n; step++) {
      next[0] = value;
      bits[0]! += step;
      yield next[0]!;
      yield -next[0]!;
    }
  };
  for (let exponent = -25; exponent <= 35; exponent++) check(around(2 ** exponent));
  for (let exponent = -8; exponent <= 10; exponent++)
    for (const digit of [1, 2, 5, 9, 9.5, 9.999999999999]) check(around(Number(`${digit}e${exponent}`)));
  assert.equal([0, -0, 1e-6, -0.5, 360, 999999999].map(decimal), ['0', '0', '0.000001', '-0.5', '360', '999999999']);
  const others = [Number.NaN, Infinity, -Infinity, 1e-7, 9.9999e-7, 1e9, 5e-324, Number.MAX_VALUE];
  assert.ok(others.every(value => decimal(value) === undefined));
});

test.run();
