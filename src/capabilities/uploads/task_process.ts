/** Processes that run tasks on untrusted input, each within a memory limit that the kernel enforces. */
import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../core/base/error_text.ts';
import { heapLimit, processProgram } from '../../core/base/runtime.ts';
import type { Task } from '../../core/pool/pool.ts';
import { boundedCommand, FEW_HEAPS } from './bounded_command.ts';
import { type ChildMemory, IDLE_MIB, type Member, MemoryTaken } from './child_memory.ts';

export type ToProcess =
  | { readonly kind: 'start'; readonly data: object; readonly modules: readonly string[] }
  | { readonly kind: 'task'; readonly task: Task<unknown> }
  | { readonly kind: 'answer'; readonly answer: unknown };
export type FromProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'question'; readonly question: unknown }
  | { readonly kind: 'note'; readonly note: unknown }
  | { readonly kind: 'done'; readonly result: unknown; readonly cpuSeconds: number; readonly isLarge: boolean }
  | { readonly kind: 'failed'; readonly error: string };

/** The process has ended, by itself or by force, before its task was done. */
export class ProcessEnded extends Error {
  override name = 'ProcessEnded';
  /** Whether the process may have ended because it ran out of memory. */
  readonly isOutOfMemory: boolean;

  constructor(end: string) {
    super(`the process ended with ${end}`);
    this.isOutOfMemory = /^(?:SIG[A-Z]+|\d+)$/.test(end) && !OTHER_ENDS.includes(end);
  }
}

/**
 * The exit statuses with other causes: errors of the program, and signals from outside, in the notation of a shell. A
 * runtime that runs out of memory ends by SIGABRT, SIGTRAP, SIGILL or SIGSEGV. If one of its threads fails, it ends
 * with its own exit status.
 */
const OTHER_ENDS = ['0', '1', '2', 'SIGKILL', '9', '137', 'SIGTERM', '15', '143'];

export interface ProcessOptions {
  /** The directory that it may write to. */
  readonly dataDir: string;
  /** The memory that it may use in addition to an idle process, MiB. */
  readonly memoryMib: number;
  /** See `boundedCommand`. */
  readonly niceness: number;
  /** The memory limit of all child processes together. */
  readonly childMemory: ChildMemory;
  /** The `threadData` of its tasks. */
  readonly data: object;
  /** The modules that it loads when it starts, because most of its tasks are theirs: see `Task.module`. */
  readonly modules: readonly string[];
}

export interface TaskOptions {
  /** Answers the task's questions, one at a time. */
  readonly answer?: (question: unknown) => Promise<unknown>;
  /** Receives the messages that the task sends while it runs. */
  readonly note?: (note: unknown) => void;
  /** Called when the process has started, which may take seconds while many others work. */
  readonly onReady?: () => void;
  /** When it fires, the process is ended. */
  readonly ends?: AbortSignal;
}

/**
 * A process that has worked within this time counts as busy, because its client may send small tables one after
 * another.
 */
const WARM_MS = 2000;

/** The maximum share of the memory for objects; the rest is for bytes outside the heap. */
const HEAP_SHARE = 0.75;

export interface Done {
  readonly result: unknown;
  /** The processor time of the task. */
  readonly cpuSeconds: number;
  /** Whether the process has too much memory for another task. */
  readonly isLarge: boolean;
}

/** A process that runs one task at a time. */
export class TaskProcess implements Member {
  readonly #child: ChildProcess;
  readonly #childMemory: ChildMemory;
  #running: (TaskOptions & PromiseWithResolvers<Done>) | undefined;
  #isEnded = false;
  #isReady = false;
  /** If true, an idle small process is kept even if others need memory. */
  isSpare = false;
  /** When its last task ended, by `performance.now()`. */
  #idleSinceMs = Number.NEGATIVE_INFINITY;

  constructor({ dataDir, memoryMib, niceness, childMemory, data, modules }: ProcessOptions) {
    const program = processProgram('src/capabilities/uploads/process_tasks', dataDir, true);
    const [command, ...args] = boundedCommand(memoryMib, niceness, program);
    this.#child = spawn(command!, args, {
      env: { ...process.env, ...FEW_HEAPS, ...heapLimit(Math.floor(HEAP_SHARE * memoryMib)) },
      serialization: 'advanced',
      // A runtime that runs out of memory prints a stack trace, which is of no use.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (message: FromProcess) => void this.#heard(message));
    this.#child.on('error', error => this.#ended(messageOf(error)));
    this.#child.on('exit', (code, signal) => this.#ended(`${signal ?? code}`));
    this.#child.unref();
    this.#child.channel?.unref();
    this.#childMemory = childMemory;
    childMemory.add(this, this.#child);
    this.#send({ kind: 'start', data, modules });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get pid(): number | undefined {
    return this.#isEnded ? undefined : this.#child.pid;
  }

  get isBusy(): boolean {
    return this.#running !== undefined || performance.now() - this.#idleSinceMs < WARM_MS;
  }

  end(mib: number, isAlone: boolean): boolean {
    if (this.isSpare && !this.#running && mib <= IDLE_MIB) return false;
    this.#running?.reject(new MemoryTaken(isAlone));
    this.kill();
    return true;
  }

  /**
   * @throws ProcessEnded if the process ends first; MemoryTaken; the signal's reason
   * @throws Error with the message of the task's error
   */
  async run<Result>(task: Task<Result>, options: TaskOptions = {}): Promise<Done & { readonly result: Result }> {
    const { ends } = options;
    ends?.throwIfAborted();
    if (this.#isEnded) throw new ProcessEnded('nothing to do');
    const running = { ...options, ...Promise.withResolvers<Done>() };
    this.#running = running;
    if (this.#isReady) options.onReady?.();
    const kill = () => {
      running.reject(ends!.reason);
      this.kill();
    };
    ends?.addEventListener('abort', kill, { once: true });
    // The service does not end before its tasks.
    this.#child.ref();
    this.#child.channel?.ref();
    this.#send({ kind: 'task', task });
    const unwatch = this.#childMemory.watch();
    try {
      return (await running.promise) as Done & { readonly result: Result };
    } finally {
      unwatch();
      this.#idleSinceMs = performance.now();
      ends?.removeEventListener('abort', kill);
      this.#running = undefined;
      this.#child.unref();
      this.#child.channel?.unref();
    }
  }

  kill(): void {
    this.#isEnded = true;
    this.#child.kill('SIGKILL');
  }

  async #heard(message: FromProcess): Promise<void> {
    const running = this.#running;
    if (message.kind === 'ready') {
      this.#isReady = true;
      running?.onReady?.();
    }
    if (!running) return;
    switch (message.kind) {
      case 'done':
        return running.resolve(message);
      case 'failed':
        return running.reject(new Error(message.error));
      case 'note':
        return running.note?.(message.note);
      case 'question':
        try {
          const answer = await running.answer!(message.question);
          if (this.#running === running) this.#send({ kind: 'answer', answer });
        } catch (error) {
          running.reject(error as Error);
          this.kill();
        }
    }
  }

  #send(message: ToProcess): void {
    if (this.#child.connected)
      this.#child.send(message, error => {
        if (error) this.kill();
      });
  }

  #ended(why: string): void {
    this.#isEnded = true;
    this.#running?.reject(new ProcessEnded(why));
  }
}
