import type { PartOf } from '../../core/host.ts';
import { SAMPLE, SAMPLE_LIST } from './channel.ts';
import { Lists, SAMPLE_JOB } from './lists.ts';
import { Samples } from './samples.ts';

export const part: PartOf = host => {
  const { config, log, admission, loadAhead, answer } = host;
  loadAhead('src/capabilities/sample/list_task');
  const samples = new Samples(config, log, admission);
  const lists = new Lists(host);
  answer(SAMPLE, (asked, budget) => samples.report(asked, budget));
  answer(SAMPLE_LIST, async (asked, budget) => (await lists.answer(asked, budget)) ?? null);
  return {
    jobs: { [SAMPLE_JOB]: { run: lists.run.bind(lists), slots: 1 } },
    close: async () => {
      await Promise.all([samples.close(), lists.close()]);
    },
  };
};
