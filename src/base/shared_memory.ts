/**
 * Frees shared memory. V8 frees a SharedArrayBuffer when the last thread that has seen it has collected its garbage.
 * Shared bytes do not prompt a thread to collect, so an idle thread would keep arenas that were replaced long ago.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The number of unneeded bytes that are worth a collection, which takes some milliseconds. */
const COLLECTED_BYTES = 2 ** 25;

/** The pause before a collection: the caller, or its own caller, often still holds the bytes. */
const DELAY_MS = 500;

type Collect = (options: { readonly type: 'major'; readonly execution: 'async' }) => Promise<void>;

/** The pause after much work, before its garbage is collected. */
const QUIET_MS = 3000;

let collect: Collect | undefined;
let discardedBytes = 0;
let workedMs = 0;
let isWaiting = false;

/**
 * Counts bytes that this thread will soon no longer need. When there are many, the thread collects its garbage between
 * other work.
 */
export function discard(bytes: number): void {
  discardedBytes += bytes;
  if (discardedBytes < COLLECTED_BYTES) return;
  discardedBytes = 0;
  setTimeout(collectGarbage, DELAY_MS).unref();
}

/**
 * Notes work that leaves much garbage. The garbage is collected after a pause in such work, because an idle thread
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
    // The only access to the collector that both runtimes offer without a command line option.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  void collect({ type: 'major', execution: 'async' });
}
