/** Answers as they are written: ASCII bytes in one buffer that grows. */

const ascii = new TextEncoder();
const FIRST_BYTES = 1 << 16;

/** The bytes of a text that is written often: copying them costs as much as a few characters do one by one. */
export function fragment(text: string): Uint8Array {
  return ascii.encode(text);
}

const TRUE = fragment('true');
const FALSE = fragment('false');
const NULL = fragment('null');

/** A text with a character for each byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export class ByteSink {
  /** Everything from `length` on is undefined. */
  bytes = new Uint8Array(FIRST_BYTES);
  length = 0;

  /** Bytes that were prepared. */
  fragment(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.bytes.set(bytes, at);
  }

  /** A short text, ASCII only. */
  text(text: string): void {
    const length = text.length;
    const at = this.#grow(length);
    const { bytes } = this;
    for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
  }

  /** A long text, ASCII only. */
  longText(text: string): void {
    const at = this.#grow(text.length);
    ascii.encodeInto(text, this.bytes.subarray(at));
  }

  /** A few bytes of another buffer, from `from` (inclusive) to `to` (exclusive). */
  range(source: Uint8Array, from: number, to: number): void {
    const at = this.#grow(to - from) - from;
    const { bytes } = this;
    for (let i = from; i < to; i++) bytes[at + i] = source[i]!;
  }

  /** What another sink holds. */
  append(sink: ByteSink): void {
    this.fragment(sink.bytes.subarray(0, sink.length));
  }

  /** A JSON number: shortest round-trip; what is not finite is null. */
  number(value: number): void {
    if (Number.isFinite(value)) this.text(`${value}`);
    else this.fragment(NULL);
  }

  boolean(value: boolean): void {
    this.fragment(value ? TRUE : FALSE);
  }

  null(): void {
    this.fragment(NULL);
  }

  byte(byte: number): void {
    // In two steps: making room may replace the buffer.
    const at = this.#grow(1);
    this.bytes[at] = byte;
  }

  /** `number` in decimal with leading zeros, `digits` of them, at most 6. */
  digits(number: number, digits: number): void {
    const at = this.#grow(digits);
    const { bytes } = this;
    for (let i = at + digits - 1, rest = number; i >= at; i--) {
      const next = (rest / 10) | 0;
      bytes[i] = 0x30 + rest - 10 * next;
      rest = next;
    }
  }

  /** Makes room, which counts as written; returns where it begins. */
  #grow(length: number): number {
    const at = this.length;
    this.length = at + length;
    if (this.length > this.bytes.length) this.#enlarge();
    return at;
  }

  #enlarge(): void {
    const larger = new Uint8Array(Math.max(this.length, 2 * this.bytes.length));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}
