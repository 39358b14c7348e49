import { messageOf } from '../../core/base/error_text.ts';
import { afterThisIteration } from '../../core/base/runtime.ts';
import type { PartOf } from '../../core/host.ts';
import { CatalogReader } from '../crossmatch/catalog_reader.ts';
import { jobsOf } from '../jobs/jobs.ts';
import { uploadsOf } from '../uploads/uploads.ts';
import { KEEP, LIST_INPUTS, SAMPLE, SAMPLE_LIST } from './channel.ts';
import { KeptStore } from './kept_store.ts';
import { Lists, SAMPLE_JOB } from './lists.ts';
import type { SampleTask } from './sample_task.ts';

/** The maximum number of requests that wait to keep or remove a sample. */
const MAX_KEEPING = 64;
/** The interval between checks for samples to remove. */
const SWEEP_MS = 600_000;

export const part: PartOf = host => {
  const { config, log, admission, answer } = host;
  const { reading, loadAhead } = uploadsOf(host);
  const jobs = jobsOf(host);
  loadAhead('src/capabilities/sample/list_task');
  const reader = new CatalogReader(config, log, admission, {
    // Each takes up to the budget of a request.
    maxWaiting: 16,
    isFull: 'too many reports are waiting',
    tooLong: 'the catalogs take too long to read: send fewer inputs',
    failed: 'sample_failed',
  });
  const lists = new Lists({ ...host, reading, jobs: jobs.store });
  answer(SAMPLE, ({ client, ...asked }, budget) => {
    const task: SampleTask = { module: 'src/capabilities/sample/sample_task', kind: 'sample', ...asked };
    return reader.run(client, task, budget);
  });
  answer(SAMPLE_LIST, async (asked, budget) => (await lists.answer(asked, budget)) ?? null);
  answer(LIST_INPUTS, async (asked, budget) => (await lists.inputs(asked, budget)) ?? null);
  const kept = new KeptStore(config);
  const steps = admission.slots({ slots: 1, isFull: 'too many samples are being kept', maxWaiting: MAX_KEEPING });
  answer(KEEP, async (asked, budget) => {
    const isTable = asked.step === 'keep' && asked.table;
    const read = isTable ? await lists.read(isTable, budget) : undefined;
    if (isTable && read?.outcome !== 'read') return read ?? null;
    const client = asked.step === 'keep' ? asked.sample.client : asked.client;
    return await steps.run(client, budget.remainingMs, async () => {
      // Lets other requests run between two samples, each of which is flushed to disk.
      await new Promise<void>(afterThisIteration);
      if (asked.step === 'keep') return { outcome: 'kept', sample: kept.keep(asked.sample) };
      return kept.remove(asked.id) ? { outcome: 'removed' } : null;
    });
  });
  const sweep = () => {
    try {
      kept.sweep();
    } catch (error) {
      log('samples_unreadable', { error: messageOf(error) });
    }
  };
  jobs.add(SAMPLE_JOB, { run: lists.run.bind(lists), slots: 1 });
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      sweep();
      timer = setInterval(sweep, SWEEP_MS);
      timer.unref();
    },
    close: async () => {
      clearInterval(timer);
      await Promise.all([reader.close(), lists.close()]);
    },
  };
};
