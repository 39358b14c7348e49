/** Reads areas in another process, unless they are short strings. */
import type { Budget } from '../../core/base/budget.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import type { TaskData } from '../../core/pool/pool.ts';
import type { ReadingProcesses } from '../uploads/reading_processes.ts';
import type { AreaWritten, ReadAreaTask } from './area_task.ts';

export interface AreaAsked extends TaskData<ReadAreaTask> {
  /** The name under which the area counts against the client's share. */
  readonly client: string;
  readonly inputBytes: number;
}

export class AreaReader {
  readonly #log: Log;
  readonly #processes: ReadingProcesses;

  constructor(log: Log, processes: ReadingProcesses) {
    this.#log = log;
    this.#processes = processes;
  }

  /**
   * Reads an area. Undefined if that takes longer than the budget.
   * @throws Unavailable
   */
  async read({ client, inputBytes, ...asked }: AreaAsked, budget: Budget): Promise<AreaWritten | undefined> {
    const task: ReadAreaTask = { module: 'src/capabilities/areas/area_task', kind: 'readArea', ...asked };
    const isTooLarge = ({ outcome }: AreaWritten) => outcome === 'tooLarge';
    const reading = { kind: 'area', task, inputBytes, isTooLarge, tooLarge: { outcome: 'tooLarge' } } as const;
    try {
      return await this.#processes.inTime<AreaWritten>(client, reading, budget);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      this.#log('area_failed', { error: messageOf(error) });
      throw new Unavailable('the area cannot be read');
    }
  }
}
