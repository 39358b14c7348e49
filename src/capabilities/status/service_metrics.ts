/** The text of /metrics: the counts of every thread, the index, the counters of the database, and the process. */

import { readFileSync } from 'node:fs';
import { processStart, residentBytes } from '../../core/base/processes.ts';
import type { SharedState } from '../../core/base/shared_state.ts';
import { CATALOGS } from '../../core/contract/catalogs.ts';
import { neededBytes } from '../../core/generations/database_watch.ts';
import type { IndexStatus } from '../../core/generations/indexer.ts';
import { Exposition, type Sample } from '../../core/metrics/exposition.ts';
import type { Measured } from '../../core/metrics/measured.ts';
import { ThreadMetrics } from '../../core/metrics/thread_metrics.ts';
import { catalogSkips } from '../../core/store/counters.ts';
import { LEVEL } from '../../core/store/level.ts';
import type { MetricsAnswer } from '../../core/store/metrics_task.ts';

export function metricsText({ threads, operations, replaced, index, stored, state, parts }: Measured): string {
  const exposition = new Exposition();
  addRequests(exposition, ThreadMetrics.sum(threads, operations));
  exposition
    .gauge('nearsky_server_threads', 'Threads that answer requests.', [[{}, threads.length]])
    .counter('nearsky_server_threads_replaced_total', 'Threads that died or hung, and were replaced.', [
      [{}, replaced],
    ]);
  if (index) addIndex(exposition, index, stored);
  for (const part of parts) part.addMetrics?.(exposition);
  const waitsSinceMs = state.writeWaitsSinceMs;
  exposition
    .gauge('nearsky_database_up', 'Whether the database could be read just now.', [[{}, stored ? 1 : 0]])
    .gauge('nearsky_write_wait_seconds', 'How long a write has been waiting for a write of another process.', [
      [{}, waitsSinceMs === 0 ? 0 : Math.max(0, Date.now() - waitsSinceMs) / 1000],
    ]);
  if (state.hasLog) addLog(exposition, state);
  if (Number.isFinite(state.diskFreeBytes)) {
    exposition.gauge('nearsky_disk_free_bytes', 'Free space on the disk of the data directory.', [
      [{}, state.diskFreeBytes],
    ]);
  }
  exposition.gauge('nearsky_disk_needed_bytes', 'Minimum free space for writes to that disk.', [
    [{}, neededBytes(state)],
  ]);
  if (stored) addStored(exposition, stored);
  addProcess(exposition);
  return exposition.text();
}

function addLog(exposition: Exposition, state: SharedState): void {
  const { logLagMs, logPosition, logLeft, logLevel, isStopped, isDamaged, clockSkewUs } = state;
  exposition
    .gauge('nearsky_log_position', 'Log records that this node has applied.', [[{}, logPosition]])
    .gauge('nearsky_log_lag_records', 'Log records that this node had not applied when the log was last checked.', [
      [{}, logLeft],
    ])
    .gauge('nearsky_log_lag_seconds', 'How long this node has been behind the log.', [[{}, logLagMs / 1000]])
    .gauge(
      'nearsky_log_clock_skew_seconds',
      'The clock of this node minus the time of the last record of another process, when the record arrived.',
      Number.isNaN(clockSkewUs) ? [] : [[{}, clockSkewUs / 1e6]],
    )
    .gauge('nearsky_log_level', 'The level of the log that this node has read so far.', [[{}, logLevel]])
    .gauge('nearsky_log_level_readable', 'The highest level of a log that this release reads.', [[{}, LEVEL]])
    .gauge('nearsky_node_stopped', 'Whether this node has lost its position in the log and refuses all queries.', [
      [{}, isStopped ? 1 : 0],
    ])
    .gauge('nearsky_node_damaged', 'Whether this node has stopped because its stored data is damaged.', [
      [{}, isDamaged ? 1 : 0],
    ]);
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
      'Error answers, by operation and error code.',
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
      'Time from the end of the headers to the answer, by operation.',
      operations
        .map(({ name, seconds: { bounds, counts, sum } }) => ({ labels: { operation: name }, bounds, counts, sum }))
        .filter(({ counts }) => counts.some(count => count > 0)),
    )
    .gauge('nearsky_http_connections', 'Open connections.', [[{}, total.get('connections')]])
    .counter('nearsky_http_connections_total', 'Connections accepted.', [[{}, total.get('connectionsTotal')]])
    .counter(
      'nearsky_http_connections_ended_total',
      'Connections that the server closed to make room, or because the client did not read.',
      [[{}, total.get('connectionsEvicted')]],
    )
    .gauge('nearsky_http_requests_open', 'Requests that are not answered yet.', [[{}, total.get('openRequests')]])
    .gauge('nearsky_queries_waiting', 'Long queries that are not answered yet.', [[{}, total.get('waitingQueries')]])
    .counter(
      'nearsky_queries_refused_total',
      'Long queries refused before they started, because of a long expected wait, or a long wait for memory.',
      [[{}, total.get('refusedQueries')]],
    )
    .gauge('nearsky_streams', 'Clients that read the stream of matches or of objects.', [[{}, total.get('streams')]])
    .gauge('nearsky_answer_memory_bytes', 'Memory reserved by long answers that are being written, or not yet read.', [
      [{}, 1024 * total.get('answerKib')],
    ])
    .counter('nearsky_damaged_values_total', 'Queries that found a stored value with damaged bytes.', [
      [{}, total.get('damagedValues')],
    ])
    .counter(
      'nearsky_sources_left_out_total',
      'Sources stored without a position, which answers at full, cones of sources and streams leave out.',
      [[{}, total.get('sourcesLeftOut')]],
    )
    .counter(
      'nearsky_values_left_out_total',
      'Payload values that do not fit the type of their column; null in tables.',
      [[{}, total.get('valuesLeftOut')]],
    );
}

function addIndex(exposition: Exposition, status: IndexStatus, stored: MetricsAnswer | undefined): void {
  const seconds = Math.max(0, Date.now() - status.publishedMs) / 1000;
  exposition
    .gauge('nearsky_index_objects', 'Objects that can be found by position.', [[{}, status.objects]])
    .gauge('nearsky_index_arenas', 'Parts of the index.', [[{}, status.arenas]])
    .gauge('nearsky_index_bytes', 'Memory of the index.', [[{}, status.bytes]])
    .gauge('nearsky_index_age_seconds', 'Time since the last change of the index.', [[{}, seconds]])
    .gauge('nearsky_index_sequence', 'The last journal entry that the index covers.', [[{}, status.sequence]]);
  if (stored) {
    exposition.gauge('nearsky_journal_lag_entries', 'Commits that are not in the index yet.', [
      [{}, Math.max(0, stored.lastSequence - status.sequence)],
    ]);
  }
}

/**
 * Adds the counters, which have the same names as in the public reference service. They cover the database, whichever
 * process did the work.
 */
function addStored(exposition: Exposition, stored: MetricsAnswer): void {
  const now = Date.now();
  const age = (us: number | null): Sample[] => (us === null ? [] : [[{}, Math.max(0, now - us / 1000) / 1000]]);
  const counters = Object.entries(stored.counters).map(([name, count]) => [name.split('/'), count] as const);
  const of = (name: string, labels: (...parts: readonly string[]) => Readonly<Record<string, string>>): Sample[] =>
    counters.filter(([[first]]) => first === name).map(([[, ...parts], value]) => [labels(...parts), value] as const);
  exposition
    .gauge('nearsky_objects', 'Objects stored.', [[{}, stored.objects]])
    .gauge('nearsky_journal_sequence', 'The last journal entry: the number of commits that changed objects.', [
      [{}, stored.lastSequence],
    ])
    .gauge('nearsky_objects_pending', 'Pending objects.', [[{}, stored.pending]])
    .gauge(
      'nearsky_log_info',
      'The log of which this node has applied records.',
      stored.log === null ? [] : [[{ log: stored.log }, 1]],
    )
    .gauge(
      'nearsky_publish_lag_entries',
      'Commits that were not published yet, by topic.',
      [...stored.published].map(([topic, { sequence }]): Sample => [{ topic }, stored.lastSequence - sequence]),
    )
    .counter(
      'nearsky_published_messages_total',
      'Messages that the brokers have acknowledged, by topic.',
      [...stored.published].map(([topic, { messages }]): Sample => [{ topic }, messages]),
    )
    .gauge(
      'nearsky_latest_ingest_age_seconds',
      'Time since the latest ingest of an object.',
      age(stored.latestIngestTimeUs),
    )
    .gauge(
      'nearsky_tns_snapshot_age_seconds',
      "Time since the epoch of the TNS registry's snapshot.",
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
      // Start at 0, because Prometheus sees no increase in a first value.
      [...new Set([...CATALOGS.map(({ name }) => name), ...stored.catalogs])].map(
        (name): Sample => [{ catalog: name }, stored.counters[catalogSkips(name)] ?? 0],
      ),
    )
    .gauge(
      'nearsky_catalog_rows',
      'Rows of a registered catalog, as counted when it was added.',
      of('catalog_rows', catalog => ({ catalog: catalog! })),
    )
    .gauge(
      'nearsky_catalog_rows_without',
      'Rows of a registered catalog that cannot match anything, by what is missing (position|id).',
      of('catalog_rows_without', (catalog, what) => ({ catalog: catalog!, lacks: what! })),
    );
}

function addProcess(exposition: Exposition): void {
  const { user, system } = process.cpuUsage();
  const resident = residentBytes();
  exposition
    .counter('process_cpu_seconds_total', 'CPU time of the process.', [[{}, (user + system) / 1e6]])
    .gauge(
      'process_resident_memory_bytes',
      'Resident memory of the process.',
      resident === undefined ? [] : [[{}, resident]],
    )
    .gauge(
      'process_anonymous_memory_bytes',
      'Resident memory of the process, without pages of files.',
      anonymousBytes().map((bytes): Sample => [{}, bytes]),
    )
    .gauge('process_start_time_seconds', 'Unix time of the start of the process.', [
      [{}, Math.round(processStart().getTime() / 1000)],
    ]);
}

/**
 * The bytes of anonymous memory, as a list with one item; empty if the system does not report it. Only Linux reports
 * it, and not under Deno.
 */
function anonymousBytes(): number[] {
  try {
    const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return kib === undefined ? [] : [1024 * Number(kib)];
  } catch {
    return [];
  }
}
