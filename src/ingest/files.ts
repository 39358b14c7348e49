import type { Config } from '../config.ts';
import type { BrokerName } from '../store/types.ts';
import { withinMs } from '../within.ts';
import type { Ingester } from './ingester.ts';
import { LineNormaliser } from './line_normaliser.ts';
import { type LineBlock, openSource, readBlocks } from './lines.ts';
import { addOutcomes, noOutcomes } from './outcomes.ts';

/** A batch is committed when it has this many messages, or its first one has waited this long. */
const BATCH_MESSAGES = 1000;
const BATCH_WAIT_MS = 250;

export interface FileOptions {
  readonly broker: BrokerName;
  readonly config: Config;
  readonly ingester: Ingester;
  /** Called after each commit. */
  readonly onBatch?: () => void;
}

/**
 * Ingests a file of a broker's messages, one a line, or standard input (`-`), to its end. Whether that ends well or not, what was read
 * of it is durable afterwards.
 * @throws StoreError; Error where the file cannot be read
 */
export async function ingestFile(file: string, options: FileOptions): Promise<void> {
  const { broker, config, ingester, onBatch } = options;
  const source = openSource(file);
  const normaliser = new LineNormaliser();
  const minReliability = config.MIN_DIASOURCE_RELIABILITY;
  const normalise = (block: LineBlock) =>
    normaliser.normalise({ kind: 'normalise', broker, minReliability, file, block });
  const all = ahead(readBlocks(source, file), normalise, LineNormaliser.PARALLEL);
  let batch = noOutcomes();
  let sinceMs = 0;
  const flush = async () => {
    if (batch.read === 0) return;
    const full = batch;
    batch = noOutcomes();
    await ingester.store(full);
    onBatch?.();
  };
  try {
    for (let next = all.next(); ; ) {
      const result =
        batch.read === 0 ? await next : await withinMs(next, Math.max(0, sinceMs + BATCH_WAIT_MS - performance.now()));
      if (result?.done) break;
      if (result) {
        if (batch.read === 0) sinceMs = performance.now();
        addOutcomes(batch, result.value);
        next = quiet(all.next());
      }
      if (!result || batch.read >= BATCH_MESSAGES) await flush();
    }
  } finally {
    source.destroy();
    await flush();
    await normaliser.close();
  }
}

/**
 * What `work` makes of each item, in their order, up to `limit` of them under way at once. Where the items end with an error, it is
 * thrown after what the items before it came to.
 */
async function* ahead<T, U>(items: AsyncIterator<T>, work: (item: T) => Promise<U>, limit: number): AsyncGenerator<U> {
  const read = () =>
    items.next().then(
      result => ({ result }),
      (error: unknown) => ({ error }),
    );
  const underWay: Promise<U>[] = [];
  let reading = read();
  let end: Awaited<typeof reading> | undefined;
  while (!end || underWay.length > 0) {
    const isFull = underWay.length >= limit;
    const next = end || isFull ? undefined : await Promise.race([reading, ...underWay.slice(0, 1).map(settled)]);
    if (!next) {
      yield await underWay.shift()!;
    } else if ('error' in next || next.result.done) {
      end = next;
    } else {
      underWay.push(quiet(work(next.result.value)));
      reading = read();
    }
  }
  if ('error' in end) throw end.error;
}

/** Resolves with nothing when the promise is settled. */
function settled(promise: Promise<unknown>): Promise<undefined> {
  return promise.then(
    () => undefined,
    () => undefined,
  );
}

/** The promise, which is awaited later: until then its failure is not unhandled. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
