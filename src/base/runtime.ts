/** What differs between Node and Deno 2.9.5 and cannot be avoided: all of it is here, and no other file asks which of them runs it. */

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
 * Calls `work` when this turn of the event loop is over and what has come in meanwhile is dealt with. In Deno hardly anything comes in before
 * an immediate, and all before a timer, which under Node would idle a millisecond.
 */
export const afterThisTurn: (work: () => void) => void = isDeno
  ? work => void setTimeout(work, 0)
  : work => void setImmediate(work);

/**
 * Calls `work` outside the HTTP parser, in the same turn of the event loop. Under Deno an error that is thrown inside the parser is taken for a
 * request that cannot be parsed: the client is told 400, the error is lost, and so is the end of a thread that ran out of memory there.
 */
export const outsideParser: (work: () => void) => void = isDeno ? work => process.nextTick(work) : work => work();
