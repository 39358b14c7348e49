/** /healthz and /readyz, for whoever runs the service. */
import { toJson } from '../../workers/json.ts';
import { unavailable } from '../http/errors.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service.ts';

/** The process lives. */
export const health: Handler = () => jsonResponse(200, toJson({ status: 'ok' }));

/** Queries can be answered: the index is loaded and the database can be read. */
export function readiness(service: Service): Handler {
  return async () => {
    if (service.isStopping) throw unavailable('the service is stopping');
    if (!service.indexReady) throw unavailable('the index is not ready');
    if (!(await service.probe())) throw unavailable('the database cannot be read');
    return jsonResponse(200, toJson({ status: 'ready' }));
  };
}
