/** GET /metrics, for Prometheus. */
import type { Handler } from '../http/exchange.ts';
import { textResponse } from '../http/respond.ts';
import { METRICS_MEDIA_TYPE } from '../metrics/exposition.ts';
import type { Service } from '../service/service.ts';

export function metrics({ coordination }: Service): Handler {
  return async ({ budget }) => textResponse(METRICS_MEDIA_TYPE, await coordination.ask('metrics', null, budget));
}
