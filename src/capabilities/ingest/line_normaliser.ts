import { availableParallelism } from 'node:os';
import { Pool, type TaskData } from '../../core/pool/pool.ts';
import { unpackDeliveries } from '../../core/store/packed_deliveries.ts';
import type { Outcomes } from './ingester.ts';
import { type NormaliseTask, normaliseLines } from './normalise_lines.ts';

/** An input of up to this size is ingested in less time than threads need to start. */
const INLINE_BYTES = 4 * 2 ** 20;
/**
 * If messages are on average shorter than this, parsing takes less time than committing, so threads would only add
 * work.
 */
const MIN_THREADED_LINE_BYTES = 8192;
/**
 * Committing on the main thread takes much less time than normalising, so there is one thread per core, even with only
 * two cores.
 */
const THREADS = Math.max(2, availableParallelism() - 1);
/**
 * The number of blocks per thread: one in progress, and some that wait. Committing a thousand alerts blocks the main
 * thread for as long as three blocks take.
 */
const BLOCKS_PER_THREAD = 4;
/** A thread that takes longer than this for a block counts as hung. */
const TIMEOUT_MS = 60_000;

/**
 * Normalises blocks of lines. The first blocks, and blocks of short lines, are normalised on this thread, the others on
 * several threads.
 */
export class LineNormaliser {
  /** The number of blocks that are worth having in progress at once. */
  static readonly PARALLEL = THREADS * BLOCKS_PER_THREAD;
  #bytes = 0;
  #pool: Pool | undefined;

  /** Normalises a block. The buffer of the block then belongs to this class. */
  async normalise(lines: TaskData<NormaliseTask>): Promise<Outcomes> {
    const { buffer } = lines.block.bytes;
    this.#bytes += buffer.byteLength;
    const isShort = this.#bytes < MIN_THREADED_LINE_BYTES * lines.block.firstLine;
    if (this.#bytes <= INLINE_BYTES || isShort) return normaliseLines(lines);
    this.#pool ??= new Pool({ threads: THREADS, tasksPerThread: BLOCKS_PER_THREAD });
    const task: NormaliseTask = { module: 'src/capabilities/ingest/normalise_lines', kind: 'normalise', ...lines };
    const answer = await this.#pool.run(task, { transferList: [buffer], timeoutMs: TIMEOUT_MS });
    return { ...answer, deliveries: unpackDeliveries(answer.deliveries, lines.broker) };
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
