/** The entry of a process that reads tables and areas of strangers. */

import type { Task } from '../src/pool/pool.ts';
import { runTasks } from '../src/pool/process_tasks.ts';
import type { MatchTableTask } from '../src/table_match/match_task.ts';
import type { ReadUploadsTask } from '../src/tap/upload_task.ts';
import type { ReadAreaTask } from '../src/vo/area_task.ts';

/** Modules find the settings of the process when they are loaded. */
const loadTables = () => import('../src/table_match/match_task.ts');

/** The modules of areas and uploads are loaded with their first task. */
runTasks(async (task: Task<unknown>) => {
  const known = task as MatchTableTask | ReadAreaTask | ReadUploadsTask;
  switch (known.kind) {
    case 'matchTable':
      return await (await loadTables()).runMatchTable(known);
    case 'readUploads':
      return await (await import('../src/tap/upload_task.ts')).runReadUploads(known);
    case 'readArea':
      return await (await import('../src/vo/area_task.ts')).runReadArea(known);
  }
}, loadTables);
