/** The entry of a process that reads tables, areas and uploads of strangers. */

import type { Task } from '../src/pool/pool.ts';
import { runTasks } from '../src/pool/process_tasks.ts';
import type { MatchTableTask } from '../src/table_match/match_task.ts';

/** Modules are loaded with the first task: they find the settings of the process then. */
runTasks(async (task: Task<unknown>) => {
  return await (await import('../src/table_match/match_task.ts')).runMatchTable(task as MatchTableTask);
});
