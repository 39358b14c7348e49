/** Seeded mutations of an input: of its bytes, of its tokens where it is text, and of its values where it is JSON. */
import { seededRandom } from '../oracle/skies.ts';

/** Numbers at which counts, lengths and offsets go wrong. */
const EDGES = [
  0,
  1,
  2,
  4,
  7,
  8,
  15,
  16,
  31,
  32,
  63,
  64,
  100,
  127,
  128,
  255,
  256,
  32767,
  32768,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
];

/** Strings that replace a value. */
const TOKENS = [
  '',
  ' ',
  ',',
  ':',
  '"',
  '\\',
  '\\"',
  '{',
  '}',
  '[',
  ']',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '\0',
  ';',
  '=',
  '&',
  '%',
  '%00',
  '%2',
  '%C3%28',
  '+',
  '-',
  '/',
  '..',
  '#',
  '?',
  '*',
  'null',
  'true',
  'false',
  'NaN',
  '-Infinity',
  'Infinity',
  'undefined',
  '0',
  '-0',
  '-0.0',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1',
  '01',
  '1.',
  '.5',
  '1e3',
  '0x10',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '-9223372036854775809',
  '170055002004914266',
  '360',
  '-90',
  '90.000001',
  '2147483648',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"diaObjectId"',
  '\\u0000',
  '\\ud800',
  '\\u0022',
  '\u{1F600}',
  '\uFEFF',
  'é',
  '\u2028',
  '2026-02-30T00:00:00Z',
  '9999-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00Z',
  '2026-01-01T00:00:00+99:99',
  '{"a":1}',
  '[[[[[[]]]]]]',
  '{}',
  '[]',
];

export class Mutator {
  readonly #random: () => number;
  readonly #corpus: readonly Buffer[];

  /** @param corpus whose parts are put together */
  constructor(seed: number, corpus: readonly Uint8Array[]) {
    this.#random = seededRandom(seed);
    this.#corpus = corpus.map(bytes => Buffer.from(bytes));
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** The next input: one of the corpus, changed in one to eight places. */
  next(isText: boolean): Buffer {
    let bytes: Buffer = Buffer.from(this.pick(this.#corpus));
    for (let changes = 1 + this.below(2 ** (1 + this.below(3))); changes > 0; changes--)
      bytes = isText && this.#random() < 0.75 ? this.#changeText(bytes) : this.#changeBytes(bytes);
    return bytes;
  }

  #changeBytes(bytes: Buffer): Buffer {
    const at = this.below(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + this.below(2 ** this.below(8)));
    switch (this.below(9)) {
      case 0:
        return this.#set(bytes, at, (bytes[at] ?? 0) ^ (1 << this.below(8)));
      case 1:
        return this.#set(bytes, at, this.pick(EDGES) & 255);
      case 2:
        return this.#write(bytes, at);
      case 3:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
      case 4:
        return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at, end), bytes.subarray(end)]);
      case 5:
        return Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(Array.from({ length: end - at }, () => this.below(256))),
          bytes.subarray(at),
        ]);
      case 6:
        return this.#random() < 0.3 ? bytes.subarray(0, at) : this.#set(bytes, at, this.below(256));
      case 7: {
        const other = this.pick(this.#corpus);
        const from = this.below(other.length + 1);
        return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + this.below(64)), bytes.subarray(end)]);
      }
      default:
        return this.#set(bytes, at, ((bytes[at] ?? 0) + this.pick([-1, 1])) & 255);
    }
  }

  #set(bytes: Buffer, at: number, value: number): Buffer {
    if (at < bytes.length) bytes[at] = value;
    return bytes;
  }

  /** An edge as an integer of 2, 4 or 8 bytes, in either order. */
  #write(bytes: Buffer, at: number): Buffer {
    const width = this.pick([2, 4, 8]);
    if (at + width > bytes.length) return bytes;
    const value = BigInt.asUintN(8 * width, BigInt(this.pick(EDGES)) * (this.#random() < 0.2 ? -1n : 1n));
    const littleEndian = Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
    bytes.set(this.#random() < 0.5 ? littleEndian : littleEndian.reverse(), at);
    return bytes;
  }

  #changeText(bytes: Buffer): Buffer {
    const text = bytes.toString();
    // Words, numbers and strings; white space and punctuation one at a time.
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\w+|\s+|./gsu) ?? [];
    const at = this.below(tokens.length + 1);
    switch (this.below(6)) {
      case 0:
        tokens.splice(at, 1, this.pick(TOKENS));
        break;
      case 1:
        tokens.splice(at, 0, this.pick(TOKENS));
        break;
      case 2:
        tokens.splice(at, 1 + this.below(4));
        break;
      case 3:
        tokens.splice(at, 0, ...tokens.slice(this.below(tokens.length + 1)).slice(0, 1 + this.below(20)));
        break;
      case 4: {
        const other = this.below(tokens.length + 1);
        [tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? ''];
        break;
      }
      default:
        // Deep, or long.
        if (this.#random() < 0.05)
          tokens.splice(at, 0, this.pick(['[', '{"a":', '"', '1', 'a', ' ', '\\']).repeat(2 ** (4 + this.below(10))));
        else tokens.splice(at, 1, (tokens[at] ?? '').repeat(2));
    }
    return Buffer.from(tokens.join(''));
  }
}
