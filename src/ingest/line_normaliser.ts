import { availableParallelism } from 'node:os';
import { programModule } from '../base/program_files.ts';
import { Pool } from '../pool/pool.ts';
import { type NormaliseTask, normaliseLines } from './normalise_lines.ts';
import type { Outcomes } from './outcomes.ts';
import { unpackDeliveries } from './packed_deliveries.ts';

/** An input of at most this much is done before threads would have started. */
const INLINE_BYTES = 4 * 2 ** 20;
/** Shorter messages, on average, are parsed in less time than their commit takes: threads would only add to the work. */
const MIN_THREADED_LINE_BYTES = 8192;
/** The commits take the main thread a fraction of the time: even of two cores each gets a thread. */
const THREADS = Math.max(2, availableParallelism() - 1);
const ENTRY = programModule('workers/normalise_lines');
/** One that is worked on and some that wait: a commit of a thousand alerts holds up the main thread for as long as three blocks take. */
const BLOCKS_PER_THREAD = 4;
/** How long a thread may take for a block before it counts as hung. */
const TIMEOUT_MS = 60_000;

/** Normalises blocks of lines: the first ones, and those of short lines, on this thread, the others on several threads. */
export class LineNormaliser {
  /** As many blocks as are worth having under way at once. */
  static readonly PARALLEL = THREADS * BLOCKS_PER_THREAD;
  #bytes = 0;
  #pool: Pool | undefined;

  /** The buffer of the block is taken. */
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
