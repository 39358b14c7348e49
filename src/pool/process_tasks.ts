/** Inside a process that runs tasks: see `TaskProcess`. */

import { messageOf } from '../base/error_text.ts';
import { residentBytes } from '../base/processes.ts';
import type { Task } from './pool.ts';
import type { FromProcess, ToProcess } from './task_process.ts';
import { setThreadData } from './thread_data.ts';

let waiting: ((answer: unknown) => void) | undefined;

/** Asks the process that serves. One question at a time. */
export function question(asked: unknown): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  waiting = resolve;
  say({ kind: 'question', question: asked });
  return promise;
}

/** Tells it something. */
export function note(said: unknown): void {
  say({ kind: 'note', note: said });
}

function say(message: FromProcess): void {
  if (process.connected) process.send!(message);
}

export function runTasks(run: (task: Task<unknown>) => Promise<unknown>): void {
  const answer = async (task: Task<unknown>) => {
    const before = process.cpuUsage();
    try {
      const result = await run(task);
      const { user, system } = process.cpuUsage(before);
      // Where it is not told, its peak is: the process is then replaced earlier.
      const rssBytes = residentBytes() ?? 1024 * process.resourceUsage().maxRSS;
      say({ kind: 'done', result, cpuSeconds: (user + system) / 1e6, rssBytes });
    } catch (error) {
      say({ kind: 'failed', error: messageOf(error) });
    }
  };
  process.on('message', (message: ToProcess) => {
    if (message.kind === 'start') setThreadData(message.data);
    else if (message.kind === 'task') void answer(message.task);
    else waiting?.(message.answer);
  });
  // The process that serves has ended, however it did.
  process.on('disconnect', () => process.exit());
}
