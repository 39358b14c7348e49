import { channel } from '../../core/base/channel.ts';
import type { Job } from './job.ts';
import type { JobStep } from './job_queue.ts';

/** The current state of the job; null if no job has this id. */
export const JOBS = channel<{ readonly client: string; readonly step: JobStep }, Job | null>('jobs');
