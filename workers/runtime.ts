/** What differs between Node and Deno 2.9.5 and cannot be avoided: all of it is here, and no other file asks which of them runs it. */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';

export const isDeno = 'Deno' in globalThis;

/**
 * Calls `work` so that running out of memory in it ends the thread with an error. Deno reports that of what its event loop calls, but a
 * thread that runs out of memory in the handler of a message, or after an `await`, just stops, and is only found out by its task's deadline.
 */
export function fromEventLoop<T>(work: () => T | Promise<T>): T | Promise<T> {
  if (!isDeno) return work();
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/**
 * The end of a turn of the event loop, in which messages have come in. In Deno hardly any do before an immediate, and all before a timer,
 * which under Node would idle a millisecond.
 */
export const nextTurn: () => Promise<unknown> = isDeno ? () => sleep(0) : () => immediate();

/**
 * Up to this size answers cross to the main thread as text. The garbage collector counts what lies outside its heap: with a buffer for each
 * batch it marked all of the heap 2.6 times a second, for 14 ms each (Node 24). A longer text would get pages of its own. Under Deno texts
 * cost an answer 5 µs more than buffers.
 */
export const MAX_CROSSING_TEXT = isDeno ? 0 : 120_000;
