import { availableParallelism } from 'node:os';
import { programModule } from '../base/program_files.ts';
import { Pool } from '../pool/pool.ts';
import { unpackDeliveries } from '../store/packed_deliveries.ts';
import type { Outcomes } from './ingester.ts';
import { type NormaliseTask, normaliseLines } from './normalise_lines.ts';

/** An input up to this size is ingested before threads would have started. */
const INLINE_BYTES = 4 * 2 ** 20;
/** Shorter messages, on average, are parsed in less time than their commit takes: threads would only add to the work. */
const MIN_THREADED_LINE_BYTES = 8192;
/**
 * Committing takes the main thread only a fraction of the time, so each core gets a thread, even if there are only two.
 */
const THREADS = Math.max(2, availableParallelism() - 1);
const ENTRY = programModule('workers/normalise_lines');
/**
 * Blocks per thread, one in progress and some waiting: a commit of a thousand alerts blocks the main thread for as long
 * as three blocks take.
 */
const BLOCKS_PER_THREAD = 4;
/** A thread that takes longer than this for a block counts as hung. */
const TIMEOUT_MS = 60_000;

/**
 * Normalises blocks of lines: the first blocks, and those of short lines, on this thread, the others on several
 * threads.
 */
export class LineNormaliser {
  /** The number of blocks worth having under way at once. */
  static readonly PARALLEL = THREADS * BLOCKS_PER_THREAD;
  #bytes = 0;
  #pool: Pool | undefined;

  /** Normalises a block, and takes over its buffer. */
  async normalise(task: NormaliseTask): Promise<Outcomes> {
    const { buffer } = task.block.bytes;
    this.#bytes += buffer.byteLength;
    const isShort = this.#bytes < MIN_THREADED_LINE_BYTES * task.block.firstLine;
    if (this.#bytes <= INLINE_BYTES || isShort) return normaliseLines(task);
    this.#pool ??= new Pool({ threads: THREADS, tasksPerThread: BLOCKS_PER_THREAD, entry: ENTRY });
    const answer = await this.#pool.run(task, { transferList: [buffer], timeoutMs: TIMEOUT_MS });
    return { ...answer, deliveries: unpackDeliveries(answer.deliveries, task.broker) };
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
