/** The unavoidable differences between Node and Deno 2.9.5. No other file checks which runtime it runs on. */

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraryFile, programFile, programModule } from './program_files.ts';

export const isDeno = 'Deno' in globalThis;

/**
 * The command that starts a process with one of our modules, which exports `runProcess`. Under Deno the process may
 * read the checkout and one directory, write to that directory, load native libraries and start programs, but not use
 * the network. Permission to start listed programs only is not enough, because Deno then does not report whether
 * another process is running.
 * @param module its path from the root without an extension
 * @param readsCatalogs whether it may read every file and address, because catalogs can be anywhere
 */
export function processProgram(module: string, directory: string, readsCatalogs = false): string[] {
  const entry = fileURLToPath(programModule('workers/process'));
  return [process.execPath, ...permissions(directory, readsCatalogs), entry, module];
}

function permissions(directory: string, readsCatalogs: boolean): string[] {
  if (!isDeno) return [];
  const libraries = dirname(libraryFile('lmdb'));
  const own = [programFile('.'), libraries, directory, '/usr/bin/ldd'];
  const reads = readsCatalogs ? ['--allow-read', '--allow-net'] : [`--allow-read=${own.join()}`];
  const others = ['--allow-env', '--allow-sys', '--allow-run', `--allow-ffi=${libraries}`];
  return ['run', '--no-prompt', ...reads, `--allow-write=${directory}`, ...others];
}

/**
 * The environment variables that limit this runtime's heap. V8 does not count new objects in the limit, and by default
 * gives them up to 128 MiB. Here each of their two halves gets a sixteenth of it, rounded up to a power of two.
 * @param mib the limit for old objects
 */
export function heapLimit(mib: number): Readonly<Record<string, string>> {
  const semiSpace = Math.max(1, Math.floor(mib / 16));
  return engineFlags(`--max-old-space-size=${mib}`, `--max-semi-space-size=${semiSpace}`);
}

/** The environment variables that pass flags to the JavaScript engine. */
export function engineFlags(...flags: readonly string[]): Readonly<Record<string, string>> {
  return isDeno ? { DENO_V8_FLAGS: flags.join(',') } : { NODE_OPTIONS: flags.join(' ') };
}

/** The environment of a process without flags for its JavaScript engine. */
export function withoutEngineFlags({ NODE_OPTIONS, DENO_V8_FLAGS, ...others }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return others;
}

/** By default, Node runs steps of native libraries in this many threads. Each reserves memory for its stack. */
const LIBRARY_THREADS = 4;
const STACK_MIB = 8;

/**
 * Lets a process run this many steps of native libraries at the same time. Returns the environment variables for that,
 * and the additional memory for the stacks of its threads, MiB. Deno starts as many threads as it needs.
 */
export function libraryThreads(steps: number): { readonly env: Readonly<Record<string, string>>; reservedMib: number } {
  if (isDeno) return { env: {}, reservedMib: 0 };
  const threads = Math.max(LIBRARY_THREADS, steps);
  return { env: { UV_THREADPOOL_SIZE: `${threads}` }, reservedMib: STACK_MIB * (threads - LIBRARY_THREADS) };
}

/**
 * Calls `work` so that running out of memory in it ends the thread with an error. Deno reports exhausted memory only in
 * a function that its event loop calls. In a message handler, or after an `await`, the thread just stops, and only the
 * timeout of its task reveals that.
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
 * A monotonic time in milliseconds that is the same in all threads of the process. Under Deno, a change of the clock
 * shifts `performance.now()` in threads that start later.
 */
export const steadyMs: () => number = isDeno
  ? () => performance.timeOrigin + performance.now()
  : () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Calls `work` after this iteration of the event loop, when all input that arrived in the meantime was handled. Deno
 * needs a timer for this, because it reads hardly any input before an immediate. Under Node a timer would idle for a
 * millisecond.
 */
export const afterThisIteration: (work: () => void) => void = isDeno
  ? work => void setTimeout(work, 0)
  : work => void setImmediate(work);

/**
 * Calls `work` outside the HTTP parser, in the same iteration of the event loop. Under Deno an error thrown inside the
 * parser counts as an invalid request: the client gets a 400, and the error is lost, even if memory is exhausted.
 */
export const outsideParser: (work: () => void) => void = isDeno ? work => process.nextTick(work) : work => work();

/** Whether `node:http` can take over a connection from which a part was read. */
export const isHttpOverSockets = !isDeno;

/** The key of the parser's function that takes a chunk of a body. */
const ON_BODY = 3;

/**
 * Drops what a connection has received of a body. Node's parser would make a buffer for each chunk in the 64 KiB that
 * it has read, which takes 15 ms if each chunk is one byte.
 * @returns a function to call at the end of the body, because the body of another request may follow
 */
export function skipBody(socket: object): () => void {
  const { parser } = socket as { parser?: Record<number, unknown> | null };
  const onBody = parser?.[ON_BODY];
  if (!parser || typeof onBody !== 'function' || onBody.name !== 'parserOnBody') return () => {};
  const end = () => void (parser[ON_BODY] = onBody);
  parser[ON_BODY] = undefined;
  // Before another connection can use the parser.
  afterThisIteration(end);
  return end;
}
