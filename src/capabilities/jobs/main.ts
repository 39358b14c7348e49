import { spareBytesAt } from '../../core/base/disk.ts';
import { afterThisIteration } from '../../core/base/runtime.ts';
import { jobLimits } from '../../core/config/described_limits.ts';
import type { PartOf } from '../../core/host.ts';
import { JOBS } from './channel.ts';
import { JobQueue } from './job_queue.ts';
import { jobsOf } from './jobs.ts';

/** The maximum number of waiting job steps. Each step takes milliseconds, because it is flushed to disk. */
const MAX_JOB_STEPS = 128;

export const part: PartOf = host => {
  const { config, log, admission, livePids } = host;
  const { store, kinds } = jobsOf(host);
  const stated = jobLimits(config);
  const limits = {
    maxJobs: stated.max_jobs,
    maxJobsOfClient: stated.max_jobs_per_client,
    maxBytes: stated.max_bytes,
    spareBytes: () => spareBytesAt(config.NEARSKY_DATA),
    keptMs: stated.retention_hours * 3_600_000,
    runMs: stated.max_run_seconds * 1000,
  };
  const queue = new JobQueue(store, kinds, limits, log, livePids);
  const steps = admission.slots({
    slots: 2,
    isFull: 'too many jobs are being made or changed',
    maxWaiting: MAX_JOB_STEPS,
  });
  host.answer(JOBS, ({ client, step }, { remainingMs }) =>
    steps.run(client, remainingMs, async () => {
      const job = queue.step(step);
      // Lets other requests run between two steps of the count.
      await new Promise<void>(afterThisIteration);
      return job;
    }),
  );
  return { start: () => queue.start(), close: () => queue.close() };
};
