/** Runs tasks in the thread or process that they were sent to. A module is loaded with the first of its tasks. */
import { programModule } from '../base/program_files.ts';
import type { Task, Tasks } from './pool.ts';
import { holdEnd } from './thread_end.ts';

interface TaskModule {
  readonly tasks: Tasks<Task<unknown>>;
}

const loaded = new Map<string, TaskModule>();

/** Runs a task with the function that its module exports for its kind. */
export function runTask(task: Task<unknown>): unknown {
  const module = loaded.get(task.module);
  return module ? module.tasks[task.kind]!(task) : loadAndRun(task);
}

async function loadAndRun(task: Task<unknown>): Promise<unknown> {
  const { tasks } = await loadTasks(task.module);
  return await tasks[task.kind]!(task);
}

/** Loads a module before the first of its tasks. */
export async function loadTasks(path: string): Promise<TaskModule> {
  const module: TaskModule = await holdEnd(() => import(programModule(path).href));
  loaded.set(path, module);
  return module;
}
