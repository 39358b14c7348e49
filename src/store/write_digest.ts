/**
 * A digest of writes. If the same records write different data to two archives, their digests differ. It is made from
 * the checksums that values have anyway.
 */
import { checksum } from './checksum.ts';

const P = 0x9e3779b1;
const Q = 0x85ebca77;
const NOTHING = new Uint8Array(0);
const REMOVED = 0x27d4eb2f;

export class WriteDigest {
  #a = 0;
  #b = 0;

  /** @param text as of `text`; by default the digest of no writes */
  constructor(text = '') {
    if (text === '') return;
    [this.#a, this.#b] = [Number.parseInt(text.slice(0, 8), 16), Number.parseInt(text.slice(8), 16)];
  }

  /** 16 hexadecimal digits. */
  get text(): string {
    return [this.#a, this.#b].map(word => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  put(seed: number, key: Uint8Array, value: Uint8Array): void {
    this.#add(checksum(seed, key, value, value.length));
  }

  remove(seed: number, key: Uint8Array): void {
    this.#add(checksum(seed, key, NOTHING, 0) ^ REMOVED);
  }

  #add(sum: number): void {
    this.#a = Math.imul(this.#a ^ sum, P);
    this.#a ^= this.#a >>> 15;
    this.#b = Math.imul(this.#b ^ sum ^ this.#a, Q);
    this.#b ^= this.#b >>> 13;
  }
}

let current: WriteDigest | undefined;

/** The digest to which the current writes are added; undefined if none. */
export const currentDigest = (): WriteDigest | undefined => current;

/** Runs `change`, and adds every write that it makes to the digest, if there is one. */
export function digesting<T>(digest: WriteDigest | undefined, change: () => T): T {
  const before = current;
  current = digest;
  try {
    return change();
  } finally {
    current = before;
  }
}
