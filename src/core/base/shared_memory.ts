/**
 * Frees memory that V8 would keep. V8 frees a SharedArrayBuffer only after every thread that has seen it has collected
 * its garbage. Shared bytes do not prompt a thread to collect, so an idle thread would keep arenas that were replaced
 * long ago. Under Node, V8 also keeps the pages of a heap that has shrunk, for new objects.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The number of unneeded bytes that justify a collection, which takes some milliseconds. */
const COLLECTED_BYTES = 2 ** 25;

/** The pause before a collection, because the caller, or its caller, often still holds the bytes. */
const DELAY_MS = 500;

type Collect = (options: {
  readonly type: 'major';
  readonly execution: 'async' | 'sync';
  readonly flavor?: 'last-resort';
}) => unknown;

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
export function noteGarbage(bytes: number): void {
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

/** How often the size of a heap is looked at. That takes a microsecond. */
const LOOK_MS = 1000;

/**
 * Returns the memory of this thread's heap to the system whenever the heap has grown, even if it has shrunk since. This
 * stops the thread: for 30 ms with few live objects, and 90 ms with 40 MiB of them.
 * @param growthMib how much the heap may grow
 * @param pauseMs the minimum time between two returns, milliseconds
 * @returns a function that ends the watch
 */
export function boundHeap(growthMib: number, pauseMs: number): () => void {
  const sizeMib = () => getHeapStatistics().total_physical_size / 2 ** 20;
  let [leastMib, mostMib, atMs] = [sizeMib(), 0, performance.now()];
  const look = () => {
    const mib = sizeMib();
    [leastMib, mostMib] = [Math.min(leastMib, mib), Math.max(mostMib, mib)];
    if (mostMib < leastMib + growthMib || performance.now() < atMs + pauseMs) return;
    collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    [leastMib, mostMib, atMs] = [sizeMib(), 0, performance.now()];
  };
  const timer = setInterval(look, Math.min(LOOK_MS, pauseMs)).unref();
  return () => clearInterval(timer);
}

/** Collects garbage now. This stops the thread for some milliseconds. */
export function collectNow(): void {
  collector()({ type: 'major', execution: 'sync' });
}

function collectGarbage(): void {
  void collector()({ type: 'major', execution: 'async' });
}

/** The only access to the garbage collector that both runtimes offer without a command-line option. */
function collector(): Collect {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  return collect;
}
