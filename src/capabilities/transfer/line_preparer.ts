import { availableParallelism } from 'node:os';
import { Pool } from '../../core/pool/pool.ts';
import type { LineBlock } from '../ingest/lines.ts';
import type { ImportLinesTask } from './import_lines.ts';
import { type Prepared, unpackPieces } from './pieces.ts';

/** An input of up to this size is imported in less time than threads need to start. */
const INLINE_BYTES = 4 * 2 ** 20;
/** Preparing lines takes longer than committing them, so each core gets a thread, even if there are only two. */
const THREADS = Math.max(2, availableParallelism() - 1);
/** The number of blocks per thread: one in progress, and others that wait while the main thread commits. */
const BLOCKS_PER_THREAD = 4;
/** A thread that takes longer than this for a block counts as hung. */
const TIMEOUT_MS = 60_000;

/** Some lines of a block. If a thread has prepared them, also the object that they describe. */
export interface Lines {
  readonly lines: LineBlock;
  readonly prepared?: Prepared | undefined;
  /** The number of blank lines among these lines. */
  readonly blankLines?: number;
}

/** Prepares blocks of lines on several threads. It passes on the first blocks unprepared. */
export class LinePreparer {
  /** The number of blocks that are worth having in progress at once. */
  static readonly PARALLEL = THREADS * BLOCKS_PER_THREAD;
  readonly #dataDir: string;
  readonly #inlineBytes: number;
  #bytes = 0;
  #pool: Pool | undefined;

  constructor(dataDir: string, inlineBytes = INLINE_BYTES) {
    this.#dataDir = dataDir;
    this.#inlineBytes = inlineBytes;
  }

  async prepare(block: LineBlock): Promise<Lines[]> {
    this.#bytes += block.bytes.length;
    if (this.#bytes <= this.#inlineBytes) return [{ lines: block }];
    const threadData = { dataDir: this.#dataDir };
    this.#pool ??= new Pool({ threads: THREADS, tasksPerThread: BLOCKS_PER_THREAD, threadData });
    const { bytes, ...place } = block;
    const task: ImportLinesTask = {
      module: 'src/capabilities/transfer/import_lines',
      kind: 'importLines',
      bytes: bytes.buffer,
      ...place,
    };
    const pieces = unpackPieces(await this.#pool.run(task, { timeoutMs: TIMEOUT_MS }));
    return pieces.map(({ start, firstLine, prepared }, i) => {
      // The line break at the end of a piece is not part of the piece.
      const end = i + 1 < pieces.length ? pieces[i + 1]!.start - 1 : bytes.length;
      const missingBytes = start === 0 ? block.missingBytes : 0;
      const lines = { bytes: bytes.subarray(start, end), firstLine, missingBytes };
      if (!prepared) return { lines };
      const { crossmatch_record, match, tns_association } = prepared.counts;
      // The last piece of a block is never prepared.
      const all = pieces[i + 1]!.firstLine - firstLine;
      return { lines, prepared, blankLines: all - 1 - crossmatch_record - match - tns_association };
    });
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
