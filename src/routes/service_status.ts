/** GET /api/status: 200 whatever the state of the service. */
import { toJson } from '@nearsky/astrotables/json';
import { formatTime, nowUs } from '../base/times.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';
import { isSnapshotCurrent } from '../tns/names.ts';

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
