/** The counts and log lines of each answered request. */
import { bigintAsString } from '@nearsky/astrotables/json';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Exchange } from './exchange.ts';
import type { Answer } from './respond.ts';

/** The maximum number of characters of the address, and of the request's contents, in a log line. */
const SHOWN_CHARACTERS = 2000;

/** Makes the function that counts each answered request, and logs it if it was slow or every request is logged. */
export function requestLog(
  { NEARSKY_SLOW_REQUEST_MS: slowMs, NEARSKY_LOG_REQUESTS: logsAll }: Config,
  log: Log,
  metrics: ThreadMetrics,
) {
  /** For requests without an operation. */
  const other = metrics.operation('other');
  return (exchange: Exchange, { status, body }: Answer): void => {
    const ms = performance.now() - exchange.budget.startMs;
    const operation = exchange.operation ?? other;
    operation.answered(status, ms / 1000, exchange.error);
    if (ms < slowMs && !logsAll) return;
    log(ms < slowMs ? 'request' : 'slow_request', {
      request_id: exchange.requestId,
      operation: operation.name,
      method: exchange.method,
      url: exchange.url.slice(0, SHOWN_CHARACTERS),
      status,
      error: exchange.error,
      ms: Math.round(ms * 10) / 10,
      bytes: body?.length ?? 0,
      peer: exchange.peerAddress,
      asked:
        exchange.asked === undefined
          ? undefined
          : JSON.stringify(exchange.asked, bigintAsString).slice(0, SHOWN_CHARACTERS),
    });
  };
}
