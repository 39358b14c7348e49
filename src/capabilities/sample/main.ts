import type { PartOf } from '../../core/host.ts';
import { CatalogReader } from '../crossmatch/catalog_reader.ts';
import { SAMPLE, SAMPLE_LIST } from './channel.ts';
import { Lists, SAMPLE_JOB } from './lists.ts';
import type { SampleTask } from './sample_task.ts';

export const part: PartOf = host => {
  const { config, log, admission, loadAhead, answer } = host;
  loadAhead('src/capabilities/sample/list_task');
  const reader = new CatalogReader(config, log, admission, {
    // Each takes up to the budget of a request.
    maxWaiting: 16,
    isFull: 'too many reports are waiting',
    tooLong: 'the catalogs take too long to read: send fewer inputs',
    failed: 'sample_failed',
  });
  const lists = new Lists(host);
  answer(SAMPLE, ({ client, ...asked }, budget) => {
    const task: SampleTask = { module: 'src/capabilities/sample/sample_task', kind: 'sample', ...asked };
    return reader.run(client, task, budget);
  });
  answer(SAMPLE_LIST, async (asked, budget) => (await lists.answer(asked, budget)) ?? null);
  return {
    jobs: { [SAMPLE_JOB]: { run: lists.run.bind(lists), slots: 1 } },
    close: async () => {
      await Promise.all([reader.close(), lists.close()]);
    },
  };
};
