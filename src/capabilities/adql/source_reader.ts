/** Reads the parts of catalogs that queries need, in another process. */
import type { Budget } from '../../core/base/budget.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { JobError } from '../jobs/job_queue.ts';
import type { Reading, ReadingProcesses } from '../uploads/reading_processes.ts';
import type { PartRead, PartWanted } from './query_sources.ts';
import type { ReadingLeft, ReadSourcesTask, SourcesRead } from './read_sources_task.ts';
import type { AdqlConfig } from './settings.ts';

const TOO_LARGE =
  'the parts of catalogs that the query reads take more memory than is allowed: name fewer columns, or a smaller area';

const MIB = 2 ** 20;
/** A small process has the memory for this much, and reads it within 50 ms. */
const QUICK_BYTES = 8 * MIB;

type Read = (reading: Reading<SourcesRead>) => Promise<SourcesRead | undefined>;

/** Reads parts of catalogs to a directory. */
export type ReadSources = (parts: readonly PartWanted[], directory: string) => Promise<readonly PartRead[]>;

export class SourceReader {
  readonly #config: AdqlConfig;
  readonly #log: Log;
  readonly #processes: ReadingProcesses;

  constructor(config: AdqlConfig, log: Log, processes: ReadingProcesses) {
    this.#config = config;
    this.#log = log;
    this.#processes = processes;
  }

  /** The limits for a query whose client waits. */
  inTime(client: string, budget: Budget, gone: AbortSignal): ReadSources {
    return this.#reader(reading => this.#processes.inTime(client, reading, budget, gone));
  }

  /** The limits for a query that runs as a job. */
  forJob(ends: AbortSignal): ReadSources {
    return this.#reader(reading => this.#processes.forJob(reading, ends));
  }

  /** Reads for one query, which may need several reads. */
  #reader(read: Read): ReadSources {
    let left: ReadingLeft = { bytes: this.#config.TAP_MAX_SOURCES_MIB * MIB, opened: [] };
    return async (parts, directory) => {
      const result = await this.#read(parts, directory, left, read);
      left = result.left;
      return result.parts;
    };
  }

  /**
   * @throws JobError if the query needs too much
   * @throws Unavailable if a catalog cannot be read
   */
  async #read(
    parts: readonly PartWanted[],
    directory: string,
    left: ReadingLeft,
    read: Read,
  ): Promise<SourcesRead & { outcome: 'read' }> {
    const maxBytes = this.#config.TAP_MAX_SOURCES_MIB * MIB;
    const task: ReadSourcesTask = {
      module: 'src/capabilities/adql/read_sources_task',
      kind: 'readSources',
      parts,
      directory,
      maxBytes,
      left,
    };
    const reading: Reading<SourcesRead> = {
      kind: 'table',
      task,
      quickTask: { ...task, quickBytes: QUICK_BYTES } as ReadSourcesTask,
      isLargeUnlessQuick: true,
      // Other hosts may be slow, and must not delay small tables.
      inputBytes: parts.some(({ isFar }) => isFar) ? Number.POSITIVE_INFINITY : 0,
      isTooLarge: ({ outcome }) => outcome === 'tooLarge',
      tooLarge: { outcome: 'tooLarge' },
    };
    let result: SourcesRead | undefined;
    try {
      result = await read(reading);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      this.#log('tap_sources_failed', { error: messageOf(error) });
      throw new Unavailable('the catalogs that the query names cannot be read');
    }
    if (!result)
      throw new JobError(
        'reading the catalogs takes longer than is allowed for a query: ask for a smaller area, or as a job',
      );
    if (result.outcome === 'read') return result;
    if (result.outcome === 'tooLarge') throw new JobError(TOO_LARGE);
    if (result.outcome === 'refused') throw new JobError(result.message);
    this.#log('catalog_unreadable', { error: result.message });
    throw new Unavailable('a catalog that the query names cannot be read now');
  }
}
