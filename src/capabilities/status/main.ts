import type { PartOf } from '../../core/host.ts';
import { METRICS } from './channel.ts';
import { metricsText } from './service_metrics.ts';

export const part: PartOf = ({ answer, measure }) => {
  // Metrics show what is wrong, so they are needed most while the database cannot be read.
  answer(METRICS, async () => metricsText(await measure()), { isAlways: true });
  return {};
};
