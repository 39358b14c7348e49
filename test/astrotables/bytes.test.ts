/** The buffer that answers are written into. */

import { ByteSink, fragment, free } from '@nearsky/astrotables/bytes';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('astrotables/bytes');

/** Each way of writing, and its result. */
const WRITES: Readonly<Record<string, readonly [write: (out: ByteSink) => void, text: string]>> = {
  fragment: [out => out.fragment(fragment('abc')), 'abc'],
  text: [out => out.text('defg'), 'defg'],
  longText: [out => out.longText('hij'), 'hij'],
  range: [out => out.range(fragment('0klm0'), 1, 4), 'klm'],
  number: [out => out.number(-1.5), '-1.5'],
  'a long number': [out => out.number(-0.0000012345678901234567), '-0.0000012345678901234567'],
  'a large number': [out => out.number(-1e21), '-1e+21'],
  'minus zero': [out => out.number(-0), '0'],
  'no number': [out => out.number(Number.NaN), 'null'],
  boolean: [out => out.boolean(false), 'false'],
  null: [out => out.null(), 'null'],
  byte: [out => out.byte(0x7a), 'z'],
  digits: [out => out.digits(42, 4), '0042'],
};

for (const [name, [write, text]] of Object.entries(WRITES)) {
  test(`across the end of what there is room for: ${name}`, () => {
    const filler = fragment('.');
    for (const room of [0, 1, 2, 3, 4, 5]) {
      const out = new ByteSink();
      while (out.length < out.bytes.length - room) out.fragment(filler);
      const before = out.length;
      write(out);
      out.text('!');
      assert.is(Buffer.from(out.bytes.subarray(before, out.length)).toString(), `${text}!`, `room for ${room}`);
      assert.ok(out.bytes.subarray(0, before).every(byte => byte === filler[0]));
    }
  });
}

test('what another sink holds', () => {
  const [out, other] = [new ByteSink(), new ByteSink()];
  while (other.length < 200_000) other.text('0123456789');
  out.text('x');
  out.append(other);
  assert.is(Buffer.from(out.bytes.subarray(0, out.length)).toString(), `x${'0123456789'.repeat(20_000)}`);
});

test('a long text goes to another sink behind what that holds, is taken once, and what is freed is gone', () => {
  const [out, other] = [new ByteSink(), new ByteSink()];
  const part = '0123456789'.repeat(1000);
  while (other.length < 5_000_000) other.longText(part);
  out.text('head ');
  out.append(other);
  assert.is(other.length, 0);
  out.text(' tail');
  other.text('next');
  const taken = out.take();
  assert.is(Buffer.from(taken).toString(), `head ${part.repeat(500)} tail`);
  assert.equal([out.length, Buffer.from(other.bytes.subarray(0, other.length)).toString()], [0, 'next']);
  out.text('again');
  assert.is(Buffer.from(out.take()).toString(), 'again');
  assert.is(taken.length, 5_000_010);
  free(taken);
  assert.is(taken.length, 0);
});

test.run();
