import type { PartOf } from '../../core/host.ts';
import { jobsOf } from '../jobs/jobs.ts';
import { uploadsOf } from '../uploads/uploads.ts';
import { TABLE } from './channel.ts';
import { TABLE_JOB, TableJobs } from './table_jobs.ts';
import { TableMatches } from './table_matches.ts';

export const part: PartOf = host => {
  const { config, log, generation, onProgress, answer } = host;
  const { reading, loadAhead } = uploadsOf(host);
  const jobs = jobsOf(host);
  loadAhead('src/capabilities/table_match/match_task');
  const tables = new TableMatches(config, log, generation, reading, onProgress);
  const tableJobs = new TableJobs(tables, generation, jobs.store);
  answer(TABLE, async (asked, budget) => (await tables.answer(asked, budget)) ?? null);
  // Tables are limited in size, and each is read by a process of its own.
  jobs.add(TABLE_JOB, { run: tableJobs.run.bind(tableJobs), slots: 1 });
  return { close: () => tables.close() };
};
