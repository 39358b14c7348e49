/** /healthz and /readyz, for operators and load balancers. */
import { toJson } from '@nearsky/astrotables/json';
import { Unavailable } from '../../core/base/refusal.ts';
import { whySettingsDiffer } from '../../core/cluster/shared_settings.ts';
import { fullDisk, longWait } from '../../core/generations/database_watch.ts';
import { methodNotAllowed } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { jsonResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';

/** Health checks may use any of the usual methods. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** @throws ApiError for TRACE, which would have to return the request, and for methods of other protocols */
function requireUsual({ method }: Exchange): void {
  if (!METHODS.includes(method)) throw methodNotAllowed(method, METHODS.join(', '));
}

/** Reports that the process runs. */
export const health: Handler = exchange => {
  requireUsual(exchange);
  return jsonResponse(200, toJson({ status: 'ok' }));
};

/** Reports whether queries can be answered: the index is loaded and the database can be read. */
export function readiness(service: Service): Handler {
  return exchange => {
    requireUsual(exchange);
    if (service.isStopping) throw new Unavailable('the service is stopping');
    if (!service.indexReady) throw new Unavailable('the index is not ready');
    const { state } = service.coordination;
    if (!service.look()) throw new Unavailable(state.whyNoAnswer ?? 'the database cannot be read');
    const { NEARSKY_LOG_MAX_LAG_SECONDS: maxLagSeconds, NEARSKY_STALE_READS: mayBeStale } = service.config;
    const isBehind = state.logLagMs > 1000 * maxLagSeconds || (state.hasLog && !state.hasCaughtUp);
    // A node that can read the log will soon have caught up.
    const isStale = isBehind && mayBeStale && state.isLogAway;
    const full = fullDisk(state);
    if (isBehind && !isStale) {
      const why = full
        ? ` because its disk is full: ${full.free_bytes} bytes are free, and ${full.needed_bytes} needed`
        : '';
      throw new Unavailable(
        `this node ${state.hasCaughtUp ? 'is behind' : 'has not caught up with'} the log of the nodes${why}`,
      );
    }
    const differs = state.hasLog ? whySettingsDiffer(service.store, service.config) : undefined;
    if (differs !== undefined) throw new Unavailable(differs);
    // Reads continue while writes wait or have no space. The body reports that, but the service stays ready, because
    // clients would lose the reads without gaining writes.
    return jsonResponse(
      200,
      toJson({
        status: isStale ? 'stale' : 'ready',
        writes_wait: longWait(state, service.store),
        disk_full: full ?? undefined,
      }),
    );
  };
}
