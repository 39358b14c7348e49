/** Operations by which the service describes itself: its state, configuration and metrics. */
import { toJson } from '@nearsky/astrotables/json';
import { formatTime, nowUs } from '../../core/base/times.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import type { Api } from '../../core/host.ts';
import type { Handler } from '../../core/http/exchange.ts';
import { jsonResponse, textResponse } from '../../core/http/respond.ts';
import { METRICS_MEDIA_TYPE } from '../../core/metrics/exposition.ts';
import type { Service } from '../../core/service/service.ts';
import { METRICS } from './channel.ts';
import { serviceDescription } from './describe.ts';

/** GET /api/status: 200 in any state of the service. */
export function serviceStatus(service: Service): Handler {
  return () => {
    const { provenance, config } = service;
    const seen = service.look();
    const epochUs = seen?.tnsSnapshotEpochUs ?? null;
    const isCurrent = isSnapshotCurrent(epochUs, nowUs(), config.TNS_SNAPSHOT_MAX_AGE_SECONDS);
    const body = {
      provenance,
      database: seen ? 'ok' : 'unavailable',
      service_version: provenance.service_version,
      contract_version: provenance.contract_version,
      tns_resolution: isCurrent ? 'available' : 'unavailable',
      tns_snapshot_epoch: isCurrent ? formatTime(epochUs) : null,
    };
    return jsonResponse(200, toJson(body));
  };
}

/** GET /api/describe: the live configuration; needs no database. */
export function describeService(service: Service, api: Api): Handler {
  return () => jsonResponse(200, toJson(serviceDescription(api, service.config, service.catalogs)));
}

/** GET /metrics, for Prometheus. */
export function metrics({ coordination }: Service): Handler {
  return async ({ budget }) => textResponse(METRICS_MEDIA_TYPE, await coordination.ask(METRICS, null, budget));
}
