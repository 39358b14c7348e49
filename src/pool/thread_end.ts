/**
 * Delays the end of a thread while it loads an addon, or opens or closes a database. If a thread is ended
 * (`worker.terminate()`) just then, the addon throws, which Node forbids in an ending thread, and the whole process
 * aborts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { steadyMs } from '../base/runtime.ts';
import { threadData } from './thread_data.ts';

/** The `threadData` of every pool. */
interface EndData {
  readonly end: SharedArrayBuffer;
}

/** Indices of the shared counts: the threads that hold their end, and the unfinished calls of `run`. */
const [HOLDS, ENDS] = [0, 1];
const POLL_MS = 5;

/** The pool's side: ends threads of one pool. */
export class ThreadEnd {
  readonly data: EndData = { end: new SharedArrayBuffer(8) };
  readonly #state = new Int32Array(this.data.end);

  /**
   * Calls `end`, which ends one or all threads, when no thread of the pool holds its end, or after `limitMs`. Until
   * `end` has finished, no thread starts to hold its end.
   */
  async run(end: () => unknown, limitMs: number): Promise<void> {
    Atomics.add(this.#state, ENDS, 1);
    try {
      const untilMs = steadyMs() + limitMs;
      while (Atomics.load(this.#state, HOLDS) > 0 && steadyMs() < untilMs) await sleep(POLL_MS);
      await end();
    } finally {
      Atomics.sub(this.#state, ENDS, 1);
      Atomics.notify(this.#state, ENDS);
    }
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
    if (--depth === 0) Atomics.sub(state, HOLDS, 1);
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
    Atomics.add(state, HOLDS, 1);
    const ends = Atomics.load(state, ENDS);
    if (ends === 0) return;
    Atomics.sub(state, HOLDS, 1);
    Atomics.wait(state, ENDS, ends);
  }
}
