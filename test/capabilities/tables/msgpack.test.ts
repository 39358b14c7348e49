/** Answers converted to MessagePack and read by msgpackr have the content of the JSON. */
import { isDeepStrictEqual } from 'node:util';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import fc from 'fast-check';
import { Unpackr } from 'msgpackr';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeMsgpack } from '../../../src/capabilities/tables/msgpack.ts';
import { Clock } from '../../../src/core/answers/context.ts';

const test = suite('answers/msgpack');

const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: 'bigint' });

/** The number of times that the conversion has yielded. */
let interrupted = 0;

/** The MessagePack of a JSON text that follows other bytes. */
function packed(json: string): Uint8Array {
  const source = new ByteSink();
  source.text('"before"');
  const from = source.length;
  source.longText(json);
  const out = new ByteSink();
  out.text('kept');
  const clock = new Clock();
  // A clock that has not begun a step is always due.
  for (const steps = writeMsgpack(source, from, out, clock); !steps.next().done; ) interrupted++;
  assert.is(Buffer.from(out.bytes.buffer, 0, 4).toString(), 'kept');
  return out.bytes.slice(4, out.length);
}

/** The value as msgpackr reads it without loss: objects as maps, integers beyond 32 bits as bigints. */
function expected(value: unknown): unknown {
  if (typeof value === 'bigint') return value < 2n ** 32n && value > -33n ? Number(value) : value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return null;
    const isSmall = value >= -32 && value < 2 ** 32;
    return Number.isInteger(value) && !isSmall && /^-?\d{1,20}$/.test(`${value}`) ? wide(`${value}`) : value + 0;
  }
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, expected(member)]));
}

function wide(digits: string): bigint | number {
  const value = BigInt(digits);
  return value >= -(2n ** 63n) && value < 2n ** 64n ? value : Number(digits);
}

const scalar = fc.oneof(
  fc.double(),
  fc.integer({ min: -1000, max: 100_000 }),
  fc.constantFrom(0, -32, -33, 127, 128, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e21, 1e-7),
  fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n),
  fc.string(),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom('\\', '\\"', '"', 'a'.repeat(31), 'a'.repeat(32), 'a'.repeat(255), 'a'.repeat(256), 'é\n'.repeat(90)),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 18, size: 'small' }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 18, size: 'small', noNullPrototype: true }),
  ),
}));

test('any value', () => {
  fc.assert(
    fc.property(value, any => {
      // Not `assert.equal`, whose differences of large values take all memory.
      return isDeepStrictEqual(unpackr.unpack(packed(toJson(any))), expected(any));
    }),
    { numRuns: 1000 },
  );
});

test('large containers, of short and of long members', () => {
  for (const member of ['x', 'x'.repeat(1000)]) {
    for (const count of [0, 1, 15, 16, 1000]) {
      const list = Array.from({ length: count }, (_, i) => `${i}${member}`);
      interrupted = 0;
      assert.equal(unpackr.unpack(packed(toJson(list))), list, `${count} of ${member.length}`);
      assert.is(interrupted > 0, count === 1000);
    }
  }
});

test('literals that were sent as they are: integers and decimals differ', () => {
  assert.equal(
    [...packed('[1, 1.0, 1e2, -0]')],
    [0x94, 1, 0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xcb, 0x40, 0x59, 0, 0, 0, 0, 0, 0, 0],
  );
});

test.run();
