/** Stores files that must be durable on return: making_durable.ts DIRECTORY. A test cuts the power at its end. */
import { join } from 'node:path';
import { RejectLog, rejectOf } from '../../../src/capabilities/ingest/rejects.ts';
import { JobStore } from '../../../src/capabilities/jobs/job_store.ts';
import { makeDirectory } from '../../../src/core/base/files.ts';

const directory = process.argv[2]!;
makeDirectory(join(directory, 'made/with/parents'));

using rejects = new RejectLog({ NEARSKY_DATA: directory, REJECTS_MAX_FILES: 2 }, 'lasair');
for (const line of [1, 2]) rejects.write([rejectOf({ file: 'alerts', line }, 'not JSON', '{')]);

const jobs = new JobStore(directory);
const created = {
  kind: 'tap',
  phase: 'PENDING',
  pid: process.pid,
  client: 'ip 1',
  maxInputBytes: 0,
  createdMs: 1,
  destructionMs: 2,
  attempts: 0,
} as const;
const job = jobs.create(created, { request: null, parameters: { QUERY: 'SELECT 1' } });
jobs.setRequest(job.id, { request: null, parameters: { QUERY: 'SELECT 2' } });
jobs.write({ ...job, phase: 'QUEUED' });
