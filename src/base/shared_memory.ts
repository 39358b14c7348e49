/**
 * Letting go of shared memory. V8 frees a SharedArrayBuffer when the last thread that has seen it has collected its garbage, but shared
 * bytes do not move any thread to collect: without a word from us an idle thread keeps arenas that were replaced long ago.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So many bytes let go of are worth a collection, which takes some milliseconds. */
const COLLECTED_BYTES = 2 ** 25;

/** Who lets go is often still holding on, as its caller does. */
const DELAY_MS = 500;

type Collect = (options: { readonly type: 'major'; readonly execution: 'async' }) => Promise<void>;

/** So long after the last of much work there is time to tidy up. */
const QUIET_MS = 3000;

let collect: Collect | undefined;
let releasedBytes = 0;
let workedMs = 0;
let isWaiting = false;

/** Notes bytes that this thread will no longer need in a moment; when they have become many, its garbage is collected between other work. */
export function release(bytes: number): void {
  releasedBytes += bytes;
  if (releasedBytes < COLLECTED_BYTES) return;
  releasedBytes = 0;
  setTimeout(collectGarbage, DELAY_MS).unref();
}

/** Notes work that leaves much garbage; it is collected when there has been none for a while, because an idle thread never does so by itself. */
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
    // The one way to it that both runtimes have without an option of the command line.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  void collect({ type: 'major', execution: 'async' });
}
