/**
 * Converts answers from JSON to MessagePack, so that both have the same content. It reads the JSON byte by byte,
 * because parsing it with every digit for msgpackr would take four times as long.
 *
 * An integer literal becomes an integer of up to 64 bits, any other number a float64. A container has the short header
 * if it is small and has up to 15 members; otherwise it has the 32-bit header.
 */

import type { ByteSink } from '@nearsky/astrotables/bytes';
import type { Clock, QueryContext, Steps } from '../../core/answers/context.ts';
import type { Query } from '../../core/answers/queries.ts';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../core/base/json_reader.ts';

const MINUS = 0x2d;
const ZERO = 0x30;

/** If a container has at most this many bytes, its members are moved to make its header shorter. */
const MAX_MOVED_BYTES = 1024;
const WIDE_HEADER_BYTES = 5;
const TOKENS_AT_ONCE = 500;
/** An integer of this many digits always fits in a safe integer. */
const SAFE_DIGITS = 15;

const utf8 = new TextEncoder();
const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

/** A list or an object whose end was not yet read. */
interface Container {
  /** The offset of the container's header in the output. */
  readonly start: number;
  readonly isObject: boolean;
  members: number;
}

/**
 * Appends the MessagePack form of a JSON text to `out`. The JSON must have the form that `toJson` writes: ASCII, with
 * ", " and ": " between members, and no other white space.
 */
export function* writeMsgpack(json: ByteSink, from: number, out: ByteSink, clock: Clock): Steps {
  const { buffer, byteOffset } = json.bytes;
  const transcoder = new Transcoder(Buffer.from(buffer, byteOffset + from, json.length - from), out);
  while (!transcoder.some()) if (clock.due) yield;
}

class Transcoder {
  readonly #json: Buffer;
  readonly #out: ByteSink;
  readonly #open: Container[] = [];
  #at = 0;

  constructor(json: Buffer, out: ByteSink) {
    this.#json = json;
    this.#out = out;
  }

  /** Reads more of the text. Returns whether its end is reached. */
  some(): boolean {
    for (let i = 0; i < TOKENS_AT_ONCE; i++) {
      this.#token();
      if (this.#open.length === 0) return true;
    }
    return false;
  }

  /** Reads either one member of the open container, or the container's end. */
  #token(): void {
    const json = this.#json;
    const container = this.#open.at(-1);
    if (!container) {
      this.#value();
      return;
    }
    if (json[this.#at] === COMMA) this.#at += 2;
    if (json[this.#at] === (container.isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
      this.#close(container);
      return;
    }
    container.members++;
    if (container.isObject) {
      this.#string();
      this.#at += 2;
    }
    this.#value();
  }

  #value(): void {
    const byte = this.#json[this.#at];
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#begin(byte === OPEN_OBJECT);
    else if (byte === 0x6e) this.#word('null', 0xc0);
    else if (byte === 0x74) this.#word('true', 0xc3);
    else if (byte === 0x66) this.#word('false', 0xc2);
    else this.#number();
  }

  #word({ length }: string, byte: number): void {
    this.#out.byte(byte);
    this.#at += length;
  }

  #begin(isObject: boolean): void {
    this.#open.push({ start: this.#out.length, isObject, members: 0 });
    for (let i = 0; i < WIDE_HEADER_BYTES; i++) this.#out.byte(0);
    this.#at++;
  }

  #close({ start, isObject, members }: Container): void {
    const out = this.#out;
    const first = start + WIDE_HEADER_BYTES;
    if (members < 16 && out.length - first <= MAX_MOVED_BYTES) {
      out.bytes[start] = (isObject ? 0x80 : 0x90) + members;
      out.bytes.copyWithin(start + 1, first, out.length);
      out.length -= WIDE_HEADER_BYTES - 1;
    } else {
      out.bytes[start] = isObject ? 0xdf : 0xdd;
      scratch.setUint32(0, members);
      out.bytes.set(scratchBytes.subarray(0, 4), start + 1);
    }
    this.#open.pop();
    this.#at++;
  }

  #string(): void {
    const json = this.#json;
    const start = this.#at + 1;
    let end = start;
    while (json[end] !== QUOTE && json[end] !== BACKSLASH) end++;
    if (json[end] === BACKSLASH) {
      this.#escapedString(start);
      return;
    }
    this.#textHeader(end - start);
    this.#out.range(json, start, end);
    this.#at = end + 1;
  }

  #escapedString(start: number): void {
    const json = this.#json;
    let end = start;
    for (; json[end] !== QUOTE; end++) if (json[end] === BACKSLASH) end++;
    const text = utf8.encode(JSON.parse(json.toString('latin1', start - 1, end + 1)));
    this.#textHeader(text.length);
    this.#out.fragment(text);
    this.#at = end + 1;
  }

  #textHeader(length: number): void {
    if (length < 32) this.#out.byte(0xa0 + length);
    else if (length < 0x100) this.#sized(0xd9, length, 1);
    else this.#sized(0xdb, length, 4);
  }

  #number(): void {
    const json = this.#json;
    const start = this.#at;
    const isNegative = json[start] === MINUS;
    let end = isNegative ? start + 1 : start;
    let magnitude = 0;
    for (let digit = json[end]! - ZERO; digit >= 0 && digit <= 9; digit = json[++end]! - ZERO)
      magnitude = 10 * magnitude + digit;
    const isInteger = !isOfNumber(json[end]);
    while (isOfNumber(json[end])) end++;
    this.#at = end;
    if (isInteger && end - start <= SAFE_DIGITS) this.#integer(isNegative ? -magnitude : magnitude);
    else if (isInteger) this.#wideInteger(BigInt(json.toString('latin1', start, end)));
    else this.#float(Number(json.toString('latin1', start, end)));
  }

  #wideInteger(value: bigint): void {
    if (value >= -(2n ** 63n) && value < 2n ** 64n) {
      scratch.setBigUint64(0, BigInt.asUintN(64, value));
      this.#out.byte(value < 0n ? 0xd3 : 0xcf);
      this.#out.fragment(scratchBytes);
    } else this.#float(Number(value));
  }

  #float(value: number): void {
    scratch.setFloat64(0, value);
    this.#out.byte(0xcb);
    this.#out.fragment(scratchBytes);
  }

  /** @param value a safe integer */
  #integer(value: number): void {
    if (value >= -32 && value < 0x80) this.#out.byte(value & 0xff);
    else if (value >= 0 && value < 0x100) this.#sized(0xcc, value, 1);
    else if (value >= 0 && value < 0x1_0000_0000) this.#sized(0xce, value, 4);
    else this.#wideInteger(BigInt(value));
  }

  /** Writes a byte, and after it a big-endian number. */
  #sized(byte: number, value: number, bytes: 1 | 4): void {
    this.#out.byte(byte);
    if (bytes === 4) {
      scratch.setUint32(0, value);
      this.#out.fragment(scratchBytes.subarray(0, 4));
    } else this.#out.byte(value);
  }
}

function isOfNumber(byte: number | undefined): boolean {
  return byte !== undefined && byte !== COMMA && byte !== CLOSE_LIST && byte !== CLOSE_OBJECT;
}

/** Writes an answer in MessagePack, converted from its JSON. */
export function* msgpackAnswer(query: Query, context: QueryContext): Steps {
  const { out, body, clock } = context;
  yield* query.kind.answer(query, context);
  yield* writeMsgpack(out, 0, body, clock);
  out.length = 0;
  out.append(body);
}
