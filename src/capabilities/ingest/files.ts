import { withTimeout } from '../../core/base/timeout.ts';
import type { Config } from '../../core/config/config.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import { ahead, quiet } from './ahead.ts';
import { addOutcomes, type Ingester, noOutcomes } from './ingester.ts';
import { LineNormaliser } from './line_normaliser.ts';
import { type LineBlock, openByteStream, readBlocks, STORED_BEFORE } from './lines.ts';

/** A batch is committed when it has this many messages, or `BATCH_WAIT_MS` after its first message arrived. */
const BATCH_MESSAGES = 1000;
const BATCH_WAIT_MS = 250;

export interface FileOptions {
  readonly broker: BrokerName;
  readonly config: Config;
  readonly ingester: Ingester;
  /** Called after each commit. */
  readonly onBatch?: () => void;
  /** Called after each read, with the number of bytes read. */
  readonly onRead?: (bytes: number) => void;
}

/**
 * Ingests a file of a broker's messages, one per line, or standard input (`-`), to its end. What was read is then
 * durable, even if reading fails.
 * @throws StoreError; Error if the file cannot be read
 */
export async function ingestFile(file: string, options: FileOptions): Promise<void> {
  const { broker, config, ingester, onBatch, onRead } = options;
  const stream = openByteStream(file, onRead);
  const normaliser = new LineNormaliser();
  const minReliability = config.MIN_DIASOURCE_RELIABILITY;
  const normalise = (block: LineBlock) => normaliser.normalise({ broker, minReliability, file, block });
  const all = ahead(readBlocks(stream, file, STORED_BEFORE), normalise, LineNormaliser.PARALLEL);
  let batch = noOutcomes();
  let sinceMs = 0;
  const flush = async () => {
    if (batch.read + batch.blank === 0) return;
    const full = batch;
    batch = noOutcomes();
    await ingester.store(full);
    onBatch?.();
  };
  try {
    for (let next = all.next(); ; ) {
      const result =
        batch.read === 0
          ? await next
          : await withTimeout(next, Math.max(0, sinceMs + BATCH_WAIT_MS - performance.now()));
      if (result?.done) break;
      if (result) {
        if (batch.read === 0) sinceMs = performance.now();
        addOutcomes(batch, result.value);
        next = quiet(all.next());
      }
      if (!result || batch.read >= BATCH_MESSAGES) await flush();
    }
  } finally {
    stream.destroy();
    await flush();
    await normaliser.close();
  }
}
