/**
 * A 32-bit checksum of a stored value, its key and its table: a value that has changed on disk, or that was moved to
 * another key, is detected when it is read. Any change within four bytes that start at a multiple of four is always
 * detected; another change is missed with a probability of 2^-32.
 *
 * The checksum multiplies four words at a time. A call of `zlib.crc32` alone takes longer than this for an object's
 * bytes.
 */

export const CHECKSUM_BYTES = 4;

// Odd, so that multiplication loses no information.
const P = 0x9e3779b1;
const Q = 0x85ebca77;
const R = 0xc2b2ae3d;
const S = 0x27d4eb2f;
const FNV_PRIME = 0x01000193;

// The same memory as words: a view of the buffer that was used last, because the next value usually lies in the same
// buffer.
let buffer: ArrayBufferLike = new ArrayBuffer(0);
let words: Uint32Array<ArrayBufferLike> = new Uint32Array(0);

let scratch = new Uint8Array(1 << 16);

/** The initial value of a table's checksums. */
export function seedOf(tableName: string): number {
  return mixKey(0x811c9dc5, new TextEncoder().encode(tableName));
}

/** The checksum of the first `length` bytes of a value, an unsigned 32-bit integer. */
export function checksum(seed: number, key: Uint8Array, value: Uint8Array, length: number): number {
  const aligned = (value.byteOffset & 3) === 0 && (value.buffer.byteLength & 3) === 0 ? value : copied(value, length);
  if (aligned.buffer !== buffer) {
    buffer = aligned.buffer;
    words = new Uint32Array(buffer);
  }
  const at32 = words;
  let a = mixKey(seed, key) ^ length;
  let b = a ^ P;
  let c = a ^ Q;
  let d = a ^ R;
  let at = aligned.byteOffset >> 2;
  const end = at + (length >> 2);
  for (const last = end - 3; at < last; at += 4) {
    a = Math.imul(a ^ at32[at]!, P);
    a ^= a >>> 15;
    b = Math.imul(b ^ at32[at + 1]!, Q);
    b ^= b >>> 15;
    c = Math.imul(c ^ at32[at + 2]!, R);
    c ^= c >>> 15;
    d = Math.imul(d ^ at32[at + 3]!, S);
    d ^= d >>> 15;
  }
  for (; at < end; at++) {
    a = Math.imul(a ^ at32[at]!, P);
    a ^= a >>> 15;
  }
  for (let i = length & ~3; i < length; i++) {
    a = Math.imul(a ^ value[i]!, P);
    a ^= a >>> 15;
  }
  a = Math.imul(a ^ b, Q);
  a ^= a >>> 13;
  a = Math.imul(a ^ c, R);
  a ^= a >>> 16;
  a = Math.imul(a ^ d, S);
  return (a ^ (a >>> 15)) >>> 0;
}

/** Aligned words of bytes that need not begin at a multiple of four. */
function copied(value: Uint8Array, length: number): Uint8Array {
  roomFor(length).set(value.subarray(0, length));
  return scratch;
}

function roomFor(length: number): Uint8Array {
  if (length > scratch.length) scratch = new Uint8Array(Math.ceil(length / 2048) * 4096);
  return scratch;
}

function mixKey(seed: number, key: Uint8Array): number {
  let mixed = seed;
  for (let i = 0; i < key.length; i++) mixed = Math.imul(mixed ^ key[i]!, FNV_PRIME);
  return mixed;
}

/** A value followed by its checksum, in a buffer that the next call of this module overwrites. */
export function seal(seed: number, key: Uint8Array, value: Uint8Array): Uint8Array {
  const { length } = value;
  const sealed = roomFor(length + CHECKSUM_BYTES);
  sealed.set(value);
  const sum = checksum(seed, key, sealed, length);
  sealed[length] = sum;
  sealed[length + 1] = sum >>> 8;
  sealed[length + 2] = sum >>> 16;
  sealed[length + 3] = sum >>> 24;
  return sealed.subarray(0, length + CHECKSUM_BYTES);
}

/**
 * The value without its checksum, or undefined if the checksum is wrong. The bytes are the given ones, not a copy.
 */
export function unseal(seed: number, key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  const length = sealed.length - CHECKSUM_BYTES;
  if (length < 0) return undefined;
  const stored =
    (sealed[length]! | (sealed[length + 1]! << 8) | (sealed[length + 2]! << 16) | (sealed[length + 3]! << 24)) >>> 0;
  return checksum(seed, key, sealed, length) === stored ? sealed.subarray(0, length) : undefined;
}
