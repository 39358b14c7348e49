/** Keeps processes between tasks, so that a small task need not wait for a process to start. */
import type { Task } from '../../core/pool/pool.ts';
import { type Done, type ProcessOptions, type TaskOptions, TaskProcess } from './task_process.ts';

/** Keeps as many processes as there are concurrent tasks; callers limit that number. */
export class ProcessPool {
  readonly #options: ProcessOptions;
  readonly #mostWithSpare: number;
  readonly #idle: TaskProcess[] = [];
  readonly #busy = new Set<TaskProcess>();
  #isClosed = false;

  /**
   * @param mostWithSpare while there are fewer processes than this, there is always an idle one, so that the next task
   * need not wait; 0 by default
   */
  constructor(options: ProcessOptions, mostWithSpare = 0) {
    this.#options = options;
    this.#mostWithSpare = mostWithSpare;
  }

  /** See `TaskProcess.run`. */
  async run<Result>(task: Task<Result>, options: TaskOptions): Promise<Done & { readonly result: Result }> {
    const process = this.#takeIdle() ?? new TaskProcess(this.#options);
    process.isSpare = false;
    this.#busy.add(process);
    this.#startSpare();
    let isKept = false;
    try {
      const done = await process.run(task, options);
      isKept = !done.isLarge && !this.#isClosed;
      return done;
    } finally {
      this.#busy.delete(process);
      if (isKept) this.#idle.push(process);
      else process.kill();
      this.#startSpare();
    }
  }

  #takeIdle(): TaskProcess | undefined {
    let process = this.#idle.pop();
    while (process?.isEnded) process = this.#idle.pop();
    return process;
  }

  #startSpare(): void {
    if (this.#isClosed || this.#mostWithSpare === 0) return;
    let spare = this.#idle.find(({ isEnded }) => !isEnded);
    if (!spare && this.#busy.size < this.#mostWithSpare) this.#idle.push((spare = new TaskProcess(this.#options)));
    // Work that takes all memory ends the others, but not the process of the next small task.
    if (spare) spare.isSpare = true;
  }

  close(): void {
    this.#isClosed = true;
    for (const process of [...this.#idle.splice(0), ...this.#busy]) process.kill();
  }
}
