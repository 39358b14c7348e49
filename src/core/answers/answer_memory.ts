/**
 * Limits the memory of long answers, from the first step of the query until the client has read the last byte. The
 * amount is fixed per process. A query starts when the memory that its answer may need is reserved. It returns what it
 * does not need as soon as the size is known.
 */
import { free, latin1 } from '@nearsky/astrotables/bytes';
import { TooExpensive, Unavailable } from '../base/refusal.ts';
import { collectWhenQuiet } from '../base/shared_memory.ts';
import type { SharedState } from '../base/shared_state.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Body } from './body.ts';

const KIB = 1024;
/** After an answer of this length, a garbage collection is worth its time. */
const LONG_BYTES = 1024 * KIB;
/** After a query found too little memory, clients must read faster for this time. */
const WANTED_MS = 3000;

interface AnswerMemoryOptions {
  /** The memory for the answers of all threads together. */
  readonly limitMib: number;
  readonly state: SharedState;
  readonly metrics: ThreadMetrics;
}

/** One thread's access to the memory for answers. */
export class AnswerMemory {
  readonly #limitKib: number;
  readonly #state: SharedState;
  readonly #metrics: ThreadMetrics;
  /** The memory that each client has on this thread, KiB. */
  readonly #ofClient = new Map<string, number>();

  constructor({ limitMib, state, metrics }: AnswerMemoryOptions) {
    this.#limitKib = limitMib * KIB;
    this.#state = state;
    this.#metrics = metrics;
  }

  /**
   * Reserves memory for an answer of an expected size, but at most a quarter of the total. The last quarter is for
   * clients that have no memory yet, so a client that does not read its answers leaves room for others. Returns
   * undefined if other answers hold too much now.
   */
  reserve(bytes: number, client: string): AnswerRoom | undefined {
    const kib = Math.ceil(Math.min(bytes / KIB, this.#limitKib / 4));
    const limitKib = this.#ofClient.has(client) ? this.#limitKib - this.#limitKib / 4 : this.#limitKib;
    if (this.change(kib, client, limitKib)) return new AnswerRoom(this, client, kib);
    this.#state.memoryWantedMs = Date.now();
    return undefined;
  }

  /** Reserves this many more KiB, or returns them if the number is negative. Returns whether that was possible. */
  change(kib: number, client: string, limitKib = this.#limitKib): boolean {
    if (kib > 0 && !this.#state.reserveAnswers(kib, limitKib)) return false;
    if (kib < 0) this.#state.freeAnswers(-kib);
    const own = (this.#ofClient.get(client) ?? 0) + kib;
    if (own > 0) this.#ofClient.set(client, own);
    else this.#ofClient.delete(client);
    this.#metrics.add('answerKib', kib);
    return true;
  }

  /** Always throws: TooExpensive if an answer of this size never fits, otherwise Unavailable. */
  refuse(kib: number): never {
    if (kib <= this.#limitKib) {
      this.#state.memoryWantedMs = Date.now();
      throw new Unavailable('other answers use the memory that this one needs');
    }
    throw new TooExpensive(`because the answer takes more than ${this.#limitKib / KIB} MiB`);
  }
}

/** Whether a query of any thread recently found too little memory for its answer. */
export function isMemoryWanted(state: SharedState): boolean {
  return Date.now() - state.memoryWantedMs < WANTED_MS;
}

export class AnswerRoom {
  readonly #memory: AnswerMemory;
  readonly #client: string;
  #kib: number;

  constructor(memory: AnswerMemory, client: string, kib: number) {
    this.#memory = memory;
    this.#client = client;
    this.#kib = kib;
  }

  /**
   * Reserves more memory if `bytes` exceed the expected size.
   * @throws Unavailable if there is not enough now; TooExpensive if there never will be
   */
  cover(bytes: number): void {
    const kib = Math.ceil(bytes / KIB);
    if (kib <= this.#kib) return;
    if (!this.#memory.change(kib - this.#kib, this.#client)) this.#memory.refuse(kib);
    this.#kib = kib;
  }

  /** Returns the reserved memory that `bytes` do not need. */
  shrink(bytes: number): void {
    const kib = Math.min(this.#kib, Math.ceil(bytes / KIB));
    this.#memory.change(kib - this.#kib, this.#client);
    this.#kib = kib;
  }
}

interface Kept {
  readonly room: AnswerRoom | undefined;
  /** Whether nothing else uses the body's buffer. */
  readonly isWhole: boolean;
}

/** The bodies whose memory is to be freed, by their buffers. */
const kept = new WeakMap<ArrayBuffer, Kept>();

/**
 * Registers a body, so that its memory and its reservation, if any, are freed after it was sent. No other answer may
 * use the body.
 */
export function keep(body: Uint8Array<ArrayBuffer>, room: AnswerRoom | undefined, isWhole = true): void {
  room?.shrink(body.length);
  kept.set(body.buffer, { room, isWhole });
}

/** Replaces a registered body by a shorter one. */
export function replace(body: Body, shorter: Uint8Array<ArrayBuffer>): void {
  const room = forget(body);
  // The runtime's compression may return a part of a larger buffer.
  if (room) keep(shorter, room, false);
}

/**
 * Frees a registered body after it was sent or dropped. Bodies that several answers share are not registered, and are
 * kept.
 */
export function letGo(body: Body | null): void {
  const room = body === null ? undefined : forget(body);
  if (!room) return;
  room.shrink(0);
  if (body!.length >= LONG_BYTES) collectWhenQuiet();
}

/** Whether memory was reserved for this body. */
export function isReserved(body: Body | null): boolean {
  return body !== null && typeof body !== 'string' && kept.get(body.buffer)?.room !== undefined;
}

/** The text of an ASCII body. Frees the body's memory. */
export function takeText(body: Body): string {
  const text = typeof body === 'string' ? body : latin1(body);
  letGo(body);
  return text;
}

function forget(body: Body): AnswerRoom | undefined {
  if (typeof body === 'string') return undefined;
  const { buffer } = body;
  const found = kept.get(buffer);
  if (!found) return undefined;
  kept.delete(buffer);
  if (found.isWhole) free(body);
  return found.room;
}
