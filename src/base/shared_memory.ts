/**
 * Frees shared memory. V8 frees a SharedArrayBuffer only after every thread that has seen it has collected its garbage.
 * Shared bytes do not prompt a thread to collect, so an idle thread would keep arenas that were replaced long ago.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The number of unneeded bytes that justify a collection, which takes some milliseconds. */
const COLLECTED_BYTES = 2 ** 25;

/** The pause before a collection, because the caller, or its caller, often still holds the bytes. */
const DELAY_MS = 500;

type Collect = (options: { readonly type: 'major'; readonly execution: 'async' }) => Promise<void>;

/** The pause between a large piece of work and the collection of its garbage. */
const QUIET_MS = 3000;

let collect: Collect | undefined;
let discardedBytes = 0;
let workedMs = 0;
let isWaiting = false;

/**
 * Counts bytes that this thread will soon no longer need. Once they are many, the thread collects its garbage in a
 * pause of its work.
 */
export function discard(bytes: number): void {
  discardedBytes += bytes;
  if (discardedBytes < COLLECTED_BYTES) return;
  discardedBytes = 0;
  setTimeout(collectGarbage, DELAY_MS).unref();
}

/**
 * Call after work that leaves much garbage. The thread collects the garbage in the next pause, because an idle thread
 * never collects by itself.
 */
export function collectWhenQuiet(): void {
  workedMs = performance.now();
  if (!isWaiting) waitForQuiet(QUIET_MS);
}

function waitForQuiet(ms: number): void {
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    const leftMs = workedMs + QUIET_MS - performance.now();
    if (leftMs > 0) waitForQuiet(leftMs);
    else collectGarbage();
  }, ms).unref();
}

function collectGarbage(): void {
  if (!collect) {
    // The only access to the garbage collector that both runtimes offer without a command-line option.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  void collect({ type: 'major', execution: 'async' });
}
