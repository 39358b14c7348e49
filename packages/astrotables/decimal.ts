/**
 * Writes doubles as text into bytes: the same digits as `String(x)`, which are the fewest that read back as x, but
 * without a string that must be copied. That string would take half of the time.
 *
 * The double x is multiplied by the power of ten that gives it 17 digits before the point. The product is the sum of
 * two doubles, without an error (T. J. Dekker, Numer. Math. 18, 224, 1971). It becomes two parts: a, its first 9
 * digits, and b, the other 8 and a fraction, with an error below 10^-8. Every number that is nearer to the product than
 * half the distance to the next double reads back as x. This distance is between 1 and 23 here, so the shortest of
 * these numbers is the nearest multiple of 100, of 10 or of 1. If two candidates are too close, `String` decides.
 */

/** The maximum number of bytes that `writeDecimal` writes: a minus, `0.00000`, 17 digits. */
export const MAX_DECIMAL_BYTES = 25;

/** Only numbers from LEAST (inclusive) to END (exclusive) are written here. */
const LEAST = 1e-6;
const END = 1e9;
const LEAST_EXPONENT = -6;
const DIGITS = 17;
const TEN_TO_8 = 1e8;
const TEN_TO_9 = 1e9;
/** A bound on the total error of b (see above). */
const DOUBT = 1e-6;
const [ZERO, POINT, MINUS] = [0x30, 0x2e, 0x2d];

const powers = (first: number, last: number, power: (exponent: number) => number) =>
  Float64Array.from({ length: last - first + 1 }, (_, i) => power(first + i));
const tenTo = (exponent: number) => Number(`1e${exponent}`);
/** 10^0 to 10^22, which doubles hold exactly. */
const TEN = powers(0, 22, tenTo);
/** The upper 26 bits of each of these powers. */
const TEN_UPPER = TEN.map(upperHalf);
/** 10^-6 to 10^9. */
const BOUNDS = powers(LEAST_EXPONENT, 9, tenTo);
/** 2^-73 to 2^-24: half the distance of doubles from 2^-20 to 2^29 on. */
const LEAST_BINARY = -20;
const HALF_DISTANCE = powers(LEAST_BINARY - 53, 29 - 53, exponent => 2 ** exponent);
/** The four digits of each number below 10,000. */
const FOUR = Uint8Array.from({ length: 40_000 }, (_, i) => ZERO + (Math.floor((i >> 2) / TEN[3 - (i & 3)]!) % 10));

const double = new Float64Array(1);
/** The lower and upper 32-bit words of `double`. */
const words = new Uint32Array(double.buffer);

/** The upper 26 bits of a double. The rest has at most 26 bits, too (Veltkamp). */
function upperHalf(x: number): number {
  const shifted = 134217729 * x;
  return shifted - (shifted - x);
}

/** The exact product of two doubles, minus the double that is nearest to it. */
function productError(x: number, y: number, yUpper: number): number {
  const yLower = y - yUpper;
  const upper = upperHalf(x);
  const lower = x - upper;
  return upper * yUpper - x * y + upper * yLower + lower * yUpper + lower * yLower;
}

/**
 * Writes a number as `String` does.
 * @param at the start offset; MAX_DECIMAL_BYTES from there on may be overwritten
 * @returns the end offset; -1 if the number must be written in another way: not finite, below 1e-6, 1e9 or more, or in
 * doubt
 */
export function writeDecimal(bytes: Uint8Array, at: number, value: number): number {
  if ((value | 0) === value && value >= 0 && value < 10) {
    bytes[at] = ZERO + value;
    return at + 1;
  }
  const x = Math.abs(value);
  if (!(x >= LEAST && x < END)) return -1;
  double[0] = x;
  const binary = (words[1]! >>> 20) - 1023;
  // The logarithm of 2 is 1233 / 4096, to four digits: this is the exponent of ten, or one less.
  const estimate = (binary * 1233) >> 12;
  const exponent = estimate + (x >= BOUNDS[estimate + 1 - LEAST_EXPONENT]! ? 1 : 0);

  const ten = TEN[DIGITS - 1 - exponent]!;
  const product = x * ten;
  const error = productError(x, ten, TEN_UPPER[DIGITS - 1 - exponent]!);
  let a = Math.floor(product / TEN_TO_8);
  let b = product - a * TEN_TO_8 + error;
  if (b < 0) {
    a--;
    b += TEN_TO_8;
  }

  // Below a power of 2 the next double is nearer. But the powers of 2 in the range here have at most 14 digits, and are
  // written exactly.
  const half = HALF_DISTANCE[binary - LEAST_BINARY]! * ten;
  let step = 100;
  let rest = 100 * Math.round(b / 100);
  if (Math.abs(rest - b) > half + DOUBT) {
    step = 10;
    rest = 10 * Math.round(b / 10);
  }
  if (Math.abs(rest - b) > half + DOUBT) {
    step = 1;
    rest = Math.round(b);
  }
  const distance = Math.abs(rest - b);
  if (distance > half - DOUBT || distance > step / 2 - DOUBT) return -1;
  if (rest === TEN_TO_8) {
    rest = 0;
    if (++a === TEN_TO_9) return -1;
  }
  if (value < 0) bytes[at++] = MINUS;
  return writeDigits(bytes, at, exponent, a, rest);
}

/** Writes a number from the 9 digits of `a` and the 8 digits of `b`; the first digit stands for 10^exponent. */
function writeDigits(bytes: Uint8Array, at: number, exponent: number, a: number, b: number): number {
  for (let before = exponent; before < 0; before++) {
    bytes[at++] = ZERO;
    if (before === exponent) bytes[at++] = POINT;
  }
  const begin = at;
  if (exponent >= 0) at++;
  const first = (a / 100_000) | 0;
  const others = a - 100_000 * first;
  const middle = (others / 10) | 0;
  at = writeFour(bytes, at, first);
  at = writeFour(bytes, at, middle);
  bytes[at++] = ZERO + others - 10 * middle;
  if (exponent >= 0) {
    const point = begin + exponent + 1;
    for (let i = begin; i < point; i++) bytes[i] = bytes[i + 1]!;
    bytes[point] = POINT;
  }
  if (b > 0) {
    const upper = (b / 10_000) | 0;
    at = writeFour(bytes, at, upper);
    at = writeFour(bytes, at, b - 10_000 * upper);
  }
  while (bytes[at - 1] === ZERO) at--;
  return bytes[at - 1] === POINT ? at - 1 : at;
}

/** Writes a number below 10,000 with four digits. */
function writeFour(bytes: Uint8Array, at: number, number: number): number {
  const from = 4 * number;
  bytes[at] = FOUR[from]!;
  bytes[at + 1] = FOUR[from + 1]!;
  bytes[at + 2] = FOUR[from + 2]!;
  bytes[at + 3] = FOUR[from + 3]!;
  return at + 4;
}

/** A double holds each integer of so many digits. */
const EXACT_DIGITS = 15;

/**
 * Reads the text of a number, as `Number` does, in a fifth of the time if it has no sign and no exponent, and at most
 * 22 decimals. `Number` decides if two doubles are too close.
 * @param from inclusive
 * @param to exclusive
 */
export function readDecimal(bytes: Uint8Array, from: number, to: number): number {
  // The digits are a and, after the first 15, b. The value is (a + b / 10^rest) / 10^decimals.
  let [a, b, count, rest] = [0, 0, 0, 0];
  let point = -1;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (count < EXACT_DIGITS) a = 10 * a + digit;
      else {
        b = 10 * b + digit;
        rest++;
      }
      if (a > 0) count++;
    } else if (bytes[at] === POINT && point < 0) point = at;
    else return numberOf(bytes, from, to);
  }
  const decimals = (point < 0 ? 0 : to - point - 1) - rest;
  if (from === to || decimals < 0 || decimals >= TEN.length || rest > EXACT_DIGITS) return numberOf(bytes, from, to);
  const ten = TEN[decimals]!;
  const quotient = a / ten;
  // Both are exact, so the quotient is the nearest double.
  if (b === 0) return quotient;
  const remainder = a - quotient * ten - productError(quotient, ten, TEN_UPPER[decimals]!) + b / TEN[rest]!;
  const correction = remainder / ten;
  const number = quotient + correction * (1 - DOUBT);
  return number === quotient + correction * (1 + DOUBT) ? number : numberOf(bytes, from, to);
}

const LATIN1 = new TextDecoder('latin1');
const numberOf = (bytes: Uint8Array, from: number, to: number) => Number(LATIN1.decode(bytes.subarray(from, to)));
