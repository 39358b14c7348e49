import type { PartOf } from '../../core/host.ts';
import { TABLE } from './channel.ts';
import { TABLE_JOB, TableJobs } from './table_jobs.ts';
import { TableMatches } from './table_matches.ts';

export const part: PartOf = ({ config, log, generation, reading, loadAhead, jobs, onProgress, answer }) => {
  loadAhead('src/capabilities/table_match/match_task');
  const tables = new TableMatches(config, log, generation, reading, onProgress);
  const tableJobs = new TableJobs(tables, generation, jobs);
  answer(TABLE, async (asked, budget) => (await tables.answer(asked, budget)) ?? null);
  return {
    // Tables are limited in size, and each is read by a process of its own.
    jobs: { [TABLE_JOB]: { run: tableJobs.run.bind(tableJobs), slots: 1 } },
    close: () => tables.close(),
  };
};
