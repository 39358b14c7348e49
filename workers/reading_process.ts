/** The entry of a process that reads tables and areas from untrusted clients. */

import type { Task } from '../src/pool/pool.ts';
import { runTasks } from '../src/pool/process_tasks.ts';
import type { MatchTableTask } from '../src/table_match/match_task.ts';
import type { ReadSourcesTask } from '../src/tap/read_sources_task.ts';
import type { ReadUploadsTask } from '../src/tap/upload_task.ts';
import type { ReadAreaTask } from '../src/vo/area_task.ts';

/** Modules need the settings of the process when they are loaded. */
const loadTables = () => import('../src/table_match/match_task.ts');

/** The modules of other tasks are loaded with the first of their kind. */
runTasks(async (task: Task<unknown>) => {
  const known = task as MatchTableTask | ReadAreaTask | ReadUploadsTask | ReadSourcesTask;
  switch (known.kind) {
    case 'matchTable':
      return await (await loadTables()).runMatchTable(known);
    case 'readUploads':
      return await (await import('../src/tap/upload_task.ts')).runReadUploads(known);
    case 'readSources':
      return await (await import('../src/tap/read_sources_task.ts')).runReadSources(known);
    case 'readArea':
      return await (await import('../src/vo/area_task.ts')).runReadArea(known);
  }
}, loadTables);
