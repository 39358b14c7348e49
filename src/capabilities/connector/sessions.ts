/**
 * Session ids, which are opaque to clients and not stored. An id carries its time of issue and 16 random bytes, signed,
 * so that any process with the same secret recognizes an id that the service issued.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const SIGNED_BYTES = TIME_BYTES + RANDOM_BYTES;
/** The form of an id: its 54 bytes fill 72 characters of base64url exactly, so there is only one spelling. */
const ID = /^[\w-]{72}$/;

interface SessionOptions {
  readonly maxAgeSeconds: number;
  /** The secret that signs the ids. */
  readonly secret: string | Uint8Array;
  /** Now, milliseconds since 1970. */
  readonly now?: () => number;
}

export class Sessions {
  readonly #maxAgeMs: number;
  readonly #secret: string | Uint8Array;
  readonly #now: () => number;

  constructor({ maxAgeSeconds, secret, now = Date.now }: SessionOptions) {
    this.#maxAgeMs = maxAgeSeconds * 1000;
    this.#secret = secret;
    this.#now = now;
  }

  /** A new id, different each time. */
  issue(): string {
    const signed = Buffer.alloc(SIGNED_BYTES);
    signed.writeUIntBE(this.#now(), 0, TIME_BYTES);
    randomBytes(RANDOM_BYTES).copy(signed, TIME_BYTES);
    return Buffer.concat([signed, this.#sign(signed)]).toString('base64url');
  }

  /** Whether this service issued the id, unchanged, and recently enough. */
  isValid(id: string): boolean {
    if (!ID.test(id)) return false;
    const bytes = Buffer.from(id, 'base64url');
    const signed = bytes.subarray(0, SIGNED_BYTES);
    if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), this.#sign(signed))) return false;
    const ageMs = this.#now() - signed.readUIntBE(0, TIME_BYTES);
    return ageMs <= this.#maxAgeMs;
  }

  #sign(signed: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(signed).digest();
  }
}
