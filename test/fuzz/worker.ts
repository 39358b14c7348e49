/** Runs one target: its corpus, then mutations of it. The input under way lies in shared memory, so that one that never ends can be named. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mutator } from './mutate.ts';
import { corpusOf } from './target.ts';
import { TARGETS } from './targets.ts';

export interface Task {
  readonly target: string;
  readonly seed: number;
  /** Ends after so many inputs, or at that time (ms since 1970). */
  readonly inputs: number;
  readonly untilMs: number;
  /** Two integers, the number of the input under way and its length; then the input. */
  readonly current: SharedArrayBuffer;
}

export type Report =
  | { readonly kind: 'finding'; readonly input: Uint8Array; readonly from: string; readonly why: string }
  | { readonly kind: 'done'; readonly inputs: number };

/** Memory that one input may take beyond what there was before. */
const MAX_GROWTH_KIB = 400 * 1024;
/** Findings beyond this, of one target, add nothing. */
const MAX_FINDINGS = 20;

const { target: name, seed, inputs, untilMs, current } = workerData as Task;
const target = TARGETS.find(each => each.name === name)!;
const corpus = corpusOf(name);
const mutator = new Mutator(
  seed,
  corpus.map(({ bytes }) => bytes),
);
const running = await target.start();
const state = new Int32Array(current, 0, 2);
const shared = new Uint8Array(current, 8);
const report = (message: Report) => parentPort!.postMessage(message);

/** The most memory that this process has had, KiB (Linux); 0 where that cannot be told. */
function peakKib(): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

let findings = 0;
let peak = peakKib();
async function run(input: Buffer, from: string): Promise<void> {
  shared.set(input.subarray(0, shared.length));
  Atomics.store(state, 1, Math.min(input.length, shared.length));
  Atomics.add(state, 0, 1);
  let why: string | undefined;
  try {
    // A copy: what reads it may write to it.
    await running.run(Buffer.from(input));
  } catch (error) {
    why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const now = peakKib();
  if (now - peak > MAX_GROWTH_KIB) why ??= `it took ${(now - peak) >> 10} MiB`;
  peak = Math.max(peak, now);
  if (why !== undefined && findings++ < MAX_FINDINGS) report({ kind: 'finding', input, from, why });
}

const wrapped = (bytes: Buffer) => target.wrap?.(bytes, mutator) ?? bytes;
for (const { file, bytes } of corpus) {
  await run(bytes, file);
  if (target.wrap) await run(target.wrap(bytes, mutator), file);
}
let count = 0;
for (; count < inputs && findings < MAX_FINDINGS && Date.now() < untilMs; count++)
  await run(wrapped(mutator.next(target.isText)), `input ${count} of seed ${seed}`);
await running.close?.();
report({ kind: 'done', inputs: count });
parentPort!.close();
// Threads that a target has started may outlive it.
setTimeout(() => process.exit(), 1000).unref();
