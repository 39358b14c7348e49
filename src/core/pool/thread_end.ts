/**
 * Delays the end of a thread while it loads an addon, or opens or closes a database. If a thread is ended
 * (`worker.terminate()`) just then, the addon throws, which Node forbids in an ending thread, and the whole process
 * aborts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { steadyMs } from '../base/runtime.ts';
import { threadData } from './thread_data.ts';

/** The `threadData` of every pool. */
interface EndData {
  readonly end: SharedArrayBuffer;
}

/**
 * The shared integers: the number of ends that wait or run, then the ids of the threads that hold their end, 0 for none.
 * An id has its own place, so that a thread that died does not hold its end for ever. Two threads of a pool would share
 * a place only if their ids differed by a multiple of `PLACES`.
 */
const ENDS = 0;
const PLACES = 1024;
const placeOf = (id: number) => 1 + (id % PLACES);
const POLL_MS = 5;

/** The pool's side: ends threads of one pool. */
export class ThreadEnd {
  readonly data: EndData = { end: new SharedArrayBuffer(4 * (1 + PLACES)) };
  readonly #state = new Int32Array(this.data.end);

  /** Called when a thread of the pool has ended. It may have ended by itself while it delayed its end. */
  gone(id: number): void {
    Atomics.compareExchange(this.#state, placeOf(id), id, 0);
  }

  /**
   * Calls `end`, which ends one or all threads, when no thread of the pool holds its end, or after `limitMs`. Until
   * `end` has finished, no thread starts to hold its end.
   */
  async run(end: () => unknown, limitMs: number): Promise<void> {
    Atomics.add(this.#state, ENDS, 1);
    try {
      const untilMs = steadyMs() + limitMs;
      while (this.#isHeld() && steadyMs() < untilMs) await sleep(POLL_MS);
      await end();
    } finally {
      Atomics.sub(this.#state, ENDS, 1);
      Atomics.notify(this.#state, ENDS);
    }
  }

  #isHeld(): boolean {
    return this.#state.some((_, i) => i !== ENDS && Atomics.load(this.#state, i) !== 0);
  }
}

const { end } = threadData<EndData>();
const state = end && new Int32Array(end);
let depth = 0;

/** Runs `work`, during which the pool does not end this thread. If the end has begun, waits for it instead. */
export function holdEnd<T>(work: () => T): T {
  if (!state) return work();
  if (depth++ === 0) hold(state);
  const release = () => {
    if (--depth === 0) Atomics.store(state, placeOf(threadId), 0);
  };
  let result: T | undefined;
  try {
    result = work();
    return result instanceof Promise ? (result.finally(release) as T) : result;
  } finally {
    if (!(result instanceof Promise)) release();
  }
}

function hold(state: Int32Array<SharedArrayBuffer>): void {
  for (;;) {
    Atomics.store(state, placeOf(threadId), threadId);
    const ends = Atomics.load(state, ENDS);
    if (ends === 0) return;
    Atomics.store(state, placeOf(threadId), 0);
    Atomics.wait(state, ENDS, ends);
  }
}
