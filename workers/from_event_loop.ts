/**
 * Calls `work` so that running out of memory in it ends the thread with an error. Deno 2.9.5 reports that of what its event loop calls, but
 * a thread that runs out of memory in the handler of a message, or after an `await`, just stops, and is only found out by its task's deadline.
 */
export function fromEventLoop<T>(work: () => T | Promise<T>): T | Promise<T> {
  if (!('Deno' in globalThis)) return work();
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
