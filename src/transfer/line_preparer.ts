import { availableParallelism } from 'node:os';
import { programModule } from '../base/program_files.ts';
import type { LineBlock } from '../ingest/lines.ts';
import { Pool } from '../pool/pool.ts';
import type { ImportLinesTask } from './import_lines.ts';
import { type Prepared, unpackPieces } from './pieces.ts';

/** An input up to this size is imported before threads would have started. */
const INLINE_BYTES = 4 * 2 ** 20;
/** The commits take less time than the threads' work: each core gets a thread, even where there are only two. */
const THREADS = Math.max(2, availableParallelism() - 1);
/** Blocks for one thread, one in work and some waiting while the main thread commits. */
const BLOCKS_PER_THREAD = 4;
/** A thread that takes longer than this for a block counts as hung. */
const TIMEOUT_MS = 60_000;
const THREAD_OPTIONS = {
  threads: THREADS,
  tasksPerThread: BLOCKS_PER_THREAD,
  entry: programModule('workers/import_lines'),
};

/** Lines of a block, and the object made of them where a thread has prepared it. */
export interface Lines {
  readonly lines: LineBlock;
  readonly prepared?: Prepared | undefined;
  /** The number of blank lines among the lines of a prepared object. */
  readonly blankLines?: number;
}

/** Prepares blocks of lines on several threads, except for the first blocks, which are left unprepared. */
export class LinePreparer {
  /** The number of blocks worth having under way at once. */
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
    this.#pool ??= new Pool({ ...THREAD_OPTIONS, threadData: { dataDir: this.#dataDir } });
    const { bytes, ...place } = block;
    const task: ImportLinesTask = { kind: 'importLines', bytes: bytes.buffer, ...place };
    const pieces = unpackPieces(await this.#pool.run(task, { timeoutMs: TIMEOUT_MS }));
    return pieces.map(({ start, firstLine, prepared }, i) => {
      // The last line break of a piece does not belong to the piece.
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
