/** The code inside a process that runs tasks: see `TaskProcess`. */

import { messageOf } from '../../core/base/error_text.ts';
import { residentBytes } from '../../core/base/processes.ts';
import { collectNow } from '../../core/base/shared_memory.ts';
import type { Task } from '../../core/pool/pool.ts';
import { loadTasks, runTask } from '../../core/pool/run_task.ts';
import { setThreadData } from '../../core/pool/thread_data.ts';
import type { FromProcess, ToProcess } from './task_process.ts';

/** A process with more resident memory than this after a task is replaced, because runtimes hardly return memory. */
const KEPT_BYTES = 160 << 20;

let waiting: ((answer: unknown) => void) | undefined;

/** Sends a question to the serving process, one at a time, and waits for the answer. */
export function question(asked: unknown): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  waiting = resolve;
  say({ kind: 'question', question: asked });
  return promise;
}

/** Sends a note to the serving process. */
export function note(said: unknown): void {
  say({ kind: 'note', note: said });
}

function say(message: FromProcess): void {
  if (process.connected) process.send!(message);
}

/** Garbage is collected first, as that takes a tenth of the time that a new process needs. */
function isLarge(): boolean {
  // If the current resident memory is unknown, its peak counts. The process is then replaced earlier.
  const bytes = () => residentBytes() ?? 1024 * process.resourceUsage().maxRSS;
  if (bytes() <= KEPT_BYTES) return false;
  collectNow();
  return bytes() > KEPT_BYTES;
}

export function runProcess(): void {
  const answer = async (task: Task<unknown>) => {
    const before = process.cpuUsage();
    try {
      const result = await runTask(task);
      const { user, system } = process.cpuUsage(before);
      say({ kind: 'done', result, cpuSeconds: (user + system) / 1e6, isLarge: isLarge() });
    } catch (error) {
      say({ kind: 'failed', error: messageOf(error) });
    }
  };
  process.on('message', async (message: ToProcess) => {
    if (message.kind === 'start') {
      setThreadData(() => message.data);
      // The modules may need the settings when they are loaded.
      await Promise.all(message.modules.map(loadTasks));
      say({ kind: 'ready' });
    } else if (message.kind === 'task') void answer(message.task);
    else waiting?.(message.answer);
  });
  // The serving process has ended, for any reason.
  process.on('disconnect', () => process.exit());
}
