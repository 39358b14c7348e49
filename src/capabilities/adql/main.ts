import type { PartOf } from '../../core/host.ts';
import { jobsOf } from '../jobs/jobs.ts';
import { uploadsOf } from '../uploads/uploads.ts';
import { TAP } from './channel.ts';
import { adqlSettings } from './settings.ts';
import { TAP_JOB, Tap } from './tap.ts';

export const part: PartOf = host => {
  const { config, log, admission, answer } = host;
  const { reading, childMemory } = uploadsOf(host);
  const tap = new Tap(adqlSettings.of(config), log, admission, reading, childMemory);
  answer(TAP, step => tap.step(step));
  // A query may run as long as a job. Jobs of other clients run in the meantime.
  jobsOf(host).add(TAP_JOB, { run: tap.run.bind(tap), slots: 2 });
  return {
    addMetrics(exposition) {
      const { state } = tap;
      if (!state) return;
      const age = Math.max(0, Date.now() - state.asOfMs) / 1000;
      exposition
        .gauge('nearsky_tap_sequence', 'The journal entry of the tables for queries in ADQL.', [[{}, state.sequence]])
        .gauge('nearsky_tap_age_seconds', 'Time since the archive was last seen in the state of those tables.', [
          [{}, age],
        ]);
    },
    close: () => tap.close(),
  };
};
