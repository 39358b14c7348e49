/** GET /metrics, for Prometheus: what every thread counted, the index, and the counters of the database. */
import type { MetricsAnswer } from '../../workers/tasks.ts';
import type { Handler } from '../http/exchange.ts';
import { textResponse } from '../http/respond.ts';
import { Exposition, METRICS_MEDIA_TYPE, type Sample } from '../metrics/exposition.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { LocalIndex } from '../publish/index_source.ts';
import type { IndexFacts } from '../publish/publisher.ts';
import type { Service } from '../service.ts';

export const METRICS_PATH = '/metrics';

export interface Watched {
  /** Every thread that answers requests, this one first. */
  readonly threads: readonly ThreadMetrics[];
  readonly index: LocalIndex | undefined;
  /** Acceptors that died and were replaced. */
  readonly acceptorsReplaced?: number;
}

export function metrics({ metrics: own }: Service, watched: () => Watched): Handler {
  return async () => {
    const { threads, index, acceptorsReplaced = 0 } = watched();
    const names = own.operations.map(({ name }) => name);
    const exposition = new Exposition();
    addRequests(exposition, ThreadMetrics.sum(threads, names));
    exposition
      .gauge('nearsky_acceptors', 'Threads that take connections.', [[{}, threads.length]])
      .counter('nearsky_acceptors_replaced_total', 'Acceptors that died and were replaced.', [[{}, acceptorsReplaced]]);
    const stored = await index?.measure();
    if (index?.publisher.facts) addIndex(exposition, index.publisher.facts, stored);
    exposition.gauge('nearsky_database_up', 'Whether the database could be read just now.', [[{}, stored ? 1 : 0]]);
    if (stored) addStored(exposition, stored);
    addProcess(exposition);
    return textResponse(METRICS_MEDIA_TYPE, exposition.text());
  };
}

function addRequests(exposition: Exposition, total: ThreadMetrics): void {
  const { operations } = total;
  exposition
    .counter(
      'nearsky_http_requests_total',
      'Requests answered, by operation and HTTP status.',
      operations.flatMap(operation =>
        operation.statuses().map(([code, count]): Sample => [{ operation: operation.name, code }, count]),
      ),
    )
    .counter(
      'nearsky_http_errors_total',
      'Answers that are errors, by operation and code of the error.',
      operations.flatMap(operation =>
        operation.errors().map(([error, count]): Sample => [{ operation: operation.name, error }, count]),
      ),
    )
    .counter(
      'nearsky_budget_overruns_total',
      'Requests that exceeded their time budget, by operation.',
      operations.flatMap(operation =>
        operation
          .errors()
          .filter(([error]) => error === 'query_too_expensive')
          .map(([, count]): Sample => [{ operation: operation.name }, count]),
      ),
    )
    .histogram(
      'nearsky_http_request_duration_seconds',
      'From the end of the headers to the answer, by operation.',
      operations
        .map(({ name, seconds: { bounds, counts, sum } }) => ({ labels: { operation: name }, bounds, counts, sum }))
        .filter(({ counts }) => counts.some(count => count > 0)),
    )
    .gauge('nearsky_http_connections', 'Open connections.', [[{}, total.get('connections')]])
    .counter('nearsky_http_connections_total', 'Connections accepted.', [[{}, total.get('connectionsTotal')]])
    .counter(
      'nearsky_http_connections_ended_total',
      'Connections ended from here: to make room, or as the client did not read.',
      [[{}, total.get('connectionsEvicted')]],
    )
    .gauge('nearsky_http_requests_open', 'Requests that are not answered yet.', [[{}, total.get('openRequests')]])
    .gauge('nearsky_queries_waiting', 'Queries that are not answered yet.', [[{}, total.get('waitingQueries')]])
    .counter('nearsky_queries_refused_total', 'Queries refused at once, as they would have waited for too long.', [
      [{}, total.get('refusedQueries')],
    ])
    .counter('nearsky_query_tasks_failed_total', 'Batches whose thread died or hung.', [[{}, total.get('failedTasks')]])
    .histogram('nearsky_query_batch_size', 'Queries of one task of a query thread.', [
      { labels: {}, bounds: total.batchSizes.bounds, counts: total.batchSizes.counts, sum: total.batchSizes.sum },
    ]);
}

function addIndex(exposition: Exposition, facts: IndexFacts, stored: MetricsAnswer | undefined): void {
  const seconds = Math.max(0, Date.now() - facts.publishedMs) / 1000;
  exposition
    .gauge('nearsky_index_objects', 'Objects that can be found by position.', [[{}, facts.objects]])
    .gauge('nearsky_index_arenas', 'Parts of the index.', [[{}, facts.arenas]])
    .gauge('nearsky_index_bytes', 'Memory of the index.', [[{}, facts.bytes]])
    .gauge('nearsky_index_age_seconds', 'Since the index last changed.', [[{}, seconds]])
    .gauge('nearsky_index_sequence', 'The journal entry that the index answers for.', [[{}, facts.sequence]]);
  if (stored) {
    exposition.gauge('nearsky_journal_lag_entries', 'Commits that are not in the index yet.', [
      [{}, Math.max(0, stored.lastSequence - facts.sequence)],
    ]);
  }
}

/** The counters have the names of the public reference service. They count for the database, whatever process did it. */
function addStored(exposition: Exposition, stored: MetricsAnswer): void {
  const now = Date.now();
  const age = (us: number | null): Sample[] => (us === null ? [] : [[{}, Math.max(0, now - us / 1000) / 1000]]);
  const counters = Object.entries(stored.counters).map(([name, count]) => [name.split('/'), count] as const);
  const of = (name: string, labels: (...parts: readonly string[]) => Readonly<Record<string, string>>): Sample[] =>
    counters.filter(([[first]]) => first === name).map(([[, ...parts], value]) => [labels(...parts), value] as const);
  exposition
    .gauge('nearsky_objects', 'Objects stored.', [[{}, stored.objects]])
    .gauge('nearsky_objects_pending', 'Objects that wait for their crossmatch.', [[{}, stored.pending]])
    .gauge(
      'nearsky_latest_ingest_age_seconds',
      'Since the latest ingest time of any object.',
      age(stored.latestIngestTimeUs),
    )
    .gauge(
      'nearsky_tns_snapshot_age_seconds',
      "Since the epoch of the TNS registry's snapshot.",
      age(stored.tnsSnapshotEpochUs),
    )
    .counter(
      'crossmatch_alerts_ingested_total',
      'Alerts ingested, by broker and result (new|duplicate).',
      of('ingested', (broker, result) => ({ broker: broker!, result: result! })),
    )
    .gauge(
      'crossmatch_alert_last_success_timestamp_seconds',
      'Unix time of the last successful ingest, per broker.',
      of('last_ingest_ms', broker => ({ broker: broker! })).map(([labels, ms]) => [labels, ms / 1000]),
    )
    .counter(
      'crossmatch_batches_total',
      'Crossmatch batches recorded.',
      of('crossmatch_batches', () => ({ result: 'completed' })),
    )
    .counter(
      'crossmatch_matches_total',
      'Catalog matches written, by catalog.',
      of('crossmatch_matches', catalog => ({ catalog: catalog! })),
    )
    .counter(
      'crossmatch_catalog_skips_total',
      'Batches in which a catalog was skipped after a read failure, by catalog.',
      of('catalog_skips', catalog => ({ catalog: catalog! })),
    );
}

function addProcess(exposition: Exposition): void {
  const { user, system } = process.cpuUsage();
  exposition
    .counter('process_cpu_seconds_total', 'CPU time of the process.', [[{}, (user + system) / 1e6]])
    .gauge('process_resident_memory_bytes', 'Resident memory of the process.', [[{}, process.memoryUsage().rss]])
    .gauge('process_start_time_seconds', 'Unix time of the start of the process.', [
      [{}, Math.round(Date.now() / 1000 - process.uptime())],
    ]);
}
