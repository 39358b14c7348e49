/** A buffer of bytes that grows; nearly all of the bytes are ASCII. */
import { MAX_DECIMAL_BYTES, writeDecimal } from './decimal.ts';

export { readDecimal } from './decimal.ts';

const utf8 = new TextEncoder();
const FIRST_BYTES = 1 << 16;
/** Up to this many characters, a loop is faster than a call of the encoder. */
const SHORT_CHARACTERS = 64;
/** A sink that needs more bytes uses a mapped buffer. */
const MAX_HEAP_BYTES = 1 << 21;
/**
 * Malloc always maps a buffer of more than 32 MiB separately. Such a buffer takes memory only for the parts that were
 * written, and all of that memory returns to the system when the buffer is freed.
 */
const MAPPED_BYTES = 40 << 20;

/** The bytes of a string that is written often. Copying them costs as much as writing a few single characters. */
export function fragment(text: string): Uint8Array {
  return utf8.encode(text);
}

const TRUE = fragment('true');
const FALSE = fragment('false');
const NULL = fragment('null');

/** The bytes as a string, one character for each byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Whether the bytes begin like gzip. */
export function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

const NO_MEMORY =
  /array buffer allocation failed|invalid string length|cannot create a string longer|out of memory|insufficient memory|failed to allocate memory|cannot allocate memory|memory\.grow/i;
const INVALID_LENGTH = /invalid (?:typed )?array(?: buffer)? length/i;

/** Whether memory for an array, a string, or a library was exhausted: the error, or its cause. */
export function isOutOfMemory(error: unknown): boolean {
  return isAllocationFailure(error) || INVALID_LENGTH.test(messageOf(error));
}

/** The same for a reader of bytes that may be damaged: these state lengths that no array can have. */
export function isAllocationFailure(error: unknown): boolean {
  return NO_MEMORY.test(messageOf(error)) || (error instanceof Error && NO_MEMORY.test(messageOf(error.cause)));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Frees the memory of a buffer at once, without waiting for a garbage collection. Any other holder of the buffer then
 * finds it empty.
 */
export function free({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0);
}

export class ByteSink {
  /** The buffer; its bytes from `length` on are undefined. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_BYTES);
  length = 0;

  /** Appends prepared bytes. */
  fragment(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.bytes.set(bytes, at);
  }

  /** Appends a short text, ASCII only. */
  text(text: string): void {
    this.part(text, 0, text.length);
  }

  /** Appends the characters from `from` (inclusive) to `to` (exclusive), ASCII only. */
  part(text: string, from: number, to: number): void {
    const at = this.#grow(to - from) - from;
    const { bytes } = this;
    for (let i = from; i < to; i++) bytes[at + i] = text.charCodeAt(i);
  }

  /** Appends a short text as UTF-8. */
  utf8(text: string): void {
    const { length } = text;
    const at = this.#grow(length);
    const { bytes } = this;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.length = at;
        this.fragment(utf8.encode(text));
        return;
      }
      bytes[at + i] = code;
    }
  }

  /** Appends a text of any length, ASCII only. */
  longText(text: string): void {
    if (text.length <= SHORT_CHARACTERS) this.text(text);
    else {
      const at = this.#grow(text.length);
      utf8.encodeInto(text, this.bytes.subarray(at));
    }
  }

  /** Appends a few bytes of another buffer, from `from` (inclusive) to `to` (exclusive). */
  range(source: Uint8Array, from: number, to: number): void {
    const at = this.#grow(to - from) - from;
    const { bytes } = this;
    for (let i = from; i < to; i++) bytes[at + i] = source[i]!;
  }

  /** Takes the bytes of another sink, which is empty afterwards. */
  append(sink: ByteSink): void {
    if (sink.#isMapped) this.#exchange(sink);
    else this.fragment(sink.bytes.subarray(0, sink.length));
    sink.length = 0;
  }

  /** Returns the written bytes. The caller owns them, and frees them after use; the sink is then empty. */
  take(): Uint8Array<ArrayBuffer> {
    const written = this.bytes.subarray(0, this.length);
    const taken = this.#isMapped ? written : written.slice();
    if (this.#isMapped) this.bytes = new Uint8Array(FIRST_BYTES);
    this.length = 0;
    return taken;
  }

  /** Empties the sink, and frees memory beyond what a short text needs. */
  clear(): void {
    this.length = 0;
    if (!this.#isMapped) return;
    free(this.bytes);
    this.bytes = new Uint8Array(FIRST_BYTES);
  }

  /** Appends a JSON number in its shortest round-trip form; null for NaN and the infinities. */
  number(value: number): void {
    const at = this.#grow(MAX_DECIMAL_BYTES);
    const end = writeDecimal(this.bytes, at, value);
    this.length = end < 0 ? at : end;
    if (end >= 0) return;
    if (Number.isFinite(value)) this.text(`${value}`);
    else this.null();
  }

  boolean(value: boolean): void {
    this.fragment(value ? TRUE : FALSE);
  }

  null(): void {
    this.fragment(NULL);
  }

  byte(byte: number): void {
    // In two steps, because reserving space may replace the buffer.
    const at = this.#grow(1);
    this.bytes[at] = byte;
  }

  /** Appends `number` in decimal with `digits` digits, at most 6, including leading zeros. */
  digits(number: number, digits: number): void {
    const at = this.#grow(digits);
    const { bytes } = this;
    for (let i = at + digits - 1, rest = number; i >= at; i--) {
      const next = (rest / 10) | 0;
      bytes[i] = 0x30 + rest - 10 * next;
      rest = next;
    }
  }

  /** Reserves space, which then counts as written. Returns the offset of the space. */
  #grow(length: number): number {
    const at = this.length;
    this.length = at + length;
    if (this.length > this.bytes.length) this.#enlarge();
    return at;
  }

  #enlarge(): void {
    const needed = Math.max(this.length, 2 * this.bytes.length);
    const larger = new Uint8Array(needed <= MAX_HEAP_BYTES ? needed : Math.max(needed, MAPPED_BYTES));
    larger.set(this.bytes);
    if (this.#isMapped) free(this.bytes);
    this.bytes = larger;
  }

  get #isMapped(): boolean {
    return this.bytes.length >= MAPPED_BYTES;
  }

  /**
   * Prepends the bytes of this sink to the other sink, and takes over the other's buffer. So a long text is not copied
   * to another buffer.
   */
  #exchange(sink: ByteSink): void {
    const { bytes, length } = this;
    const held = sink.length;
    sink.#grow(length);
    sink.bytes.copyWithin(length, 0, held);
    sink.bytes.set(bytes.subarray(0, length));
    this.bytes = sink.bytes;
    this.length = length + held;
    sink.bytes = bytes;
  }
}
