/** The files for operators in deploy/: alert rules, the dashboard, the timers with their script, and logrotate's file. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { addFiles } from '../../src/capabilities/catalogs/main.ts';
import { metricsText } from '../../src/capabilities/status/service_metrics.ts';
import { SharedState } from '../../src/core/base/shared_state.ts';
import { ThreadMetrics } from '../../src/core/metrics/thread_metrics.ts';
import { root } from '../directory.ts';
import { withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}
const deploy = (name: string) => join(root, 'deploy', name);
const text = (name: string) => readFileSync(deploy(name), 'utf8');
const rules: Rule[] = parse(text('alerts.yaml')).groups[0].rules;
const whyNot = (name: string, ...args: string[]) => (spawnSync(name, args).error ? `there is no ${name}` : undefined);

const test = suite('deploy/operators');

/** The names in /metrics of a node that shares a log, publishes, and has done everything at least once. */
function exposed(): Set<string> {
  const thread = new ThreadMetrics();
  thread.operation('get_object').answered(200, 0.01, undefined);
  const state = new SharedState();
  Object.assign(state, { logFollowedMs: 1, logTimeUs: 1, clockSkewUs: 1, diskFreeBytes: 1 });
  const counters = {
    'ingested/lasair/new': 1,
    'last_ingest_ms/lasair': 1,
    crossmatch_batches: 1,
    'crossmatch_matches/gaia_dr3': 1,
  };
  const stored = {
    ...{ tnsSnapshotEpochUs: 1, latestIngestTimeUs: 1, lastSequence: 1, objects: 1, pending: 1, log: 'a log' },
    ...{ published: new Map([['matches', { sequence: 1, messages: 1 } as never]]), counters, catalogs: [] },
  };
  const index = { objects: 1, arenas: 1, bytes: 1, sequence: 1, publishedMs: 1 };
  const shown = metricsText({
    threads: [thread],
    operations: ['get_object'],
    replaced: 0,
    index,
    stored,
    state,
    parts: [
      {
        addMetrics: exposition =>
          addFiles(exposition, new Map([['gaia_dr3', { usable: 1, missing: 0, stale: 0, damaged: 0, unreadable: 0 }]])),
      },
    ],
  });
  return new Set([...shown.matchAll(/^(\w+)[ {]/gm)].map(([, name]) => name!));
}

test('every metric in the rules and on the dashboard is in /metrics', () => {
  const names = exposed();
  const panels: { targets: { expr: string }[] }[] = JSON.parse(text('dashboard.json')).panels;
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(each => each.targets.map(({ expr }) => expr)),
  ];
  for (const expression of expressions) {
    const used = expression.match(/\b(?:nearsky|crossmatch|process)_\w+/g) ?? ['up'];
    for (const name of used) assert.ok(name === 'up' || names.has(name), `${name} in ${expression}`);
  }
});

/** The times at which alerts are looked at: those of the disk need half a day. Series are a little longer. */
const [AT_HOURS, DISK_AT_HOURS] = [3, 13];
const MINUTES = DISK_AT_HOURS * 60 + 60;
/** A series that has one value throughout. */
const always = (value: number | string) => `${value}x${MINUTES}`;
/** A counter that counts `count` more in the minute that is so many minutes before the evaluation. */
const once = (count: number, minutesBefore: number) => {
  const before = AT_HOURS * 60 - minutesBefore;
  return `0x${before} ${count}x${MINUTES - before}`;
};

type Series = Readonly<Record<string, string>>;
const FREE = 'nearsky_disk_free_bytes';
const LAST = 'crossmatch_alert_last_success_timestamp_seconds';
const REQUESTS = { 'nearsky_http_requests_total{operation="cone"}': `0+60x${MINUTES}` };

/** For each alert, series that make it fire, and those of a service that is well. */
const SERIES: Readonly<Record<string, readonly [bad: Series, ...good: Series[]]>> = {
  NearskyDown: [{ 'up{job="nearsky"}': always(0) }, { 'up{job="nearsky"}': `1x176 0x3 ${always(1)}` }],
  NearskyDatabaseUnreadable: [{ nearsky_database_up: always(0) }, { nearsky_database_up: always(1) }],
  // The second one that is well has started ten minutes ago.
  NearskyIndexBehind: [
    { nearsky_journal_lag_entries: always(101) },
    { nearsky_journal_lag_entries: always(100) },
    { nearsky_journal_lag_entries: `_x170 ${always(100_000)}` },
  ],
  // A cloudy night is one of all brokers.
  NearskyBrokerSilent: [
    { [`${LAST}{broker="a"}`]: always(-80_000), [`${LAST}{broker="b"}`]: always(-70_000) },
    { [`${LAST}{broker="a"}`]: always(-90_000), [`${LAST}{broker="b"}`]: always(-80_000) },
  ],
  NearskyBrokersSilent: [{ [`${LAST}{broker="a"}`]: always(-600_000) }, { [`${LAST}{broker="a"}`]: always(0) }],
  NearskyObjectsPending: [{ nearsky_objects_pending: always(50001) }, { nearsky_objects_pending: always(50000) }],
  NearskyCatalogUnreadable: [
    { crossmatch_catalog_skips_total: once(1, 20) },
    { crossmatch_catalog_skips_total: always(7) },
  ],
  // One missed refresh: the registry is older than two hours for a quarter of an hour.
  NearskyRegistryOld: [
    { nearsky_tns_snapshot_age_seconds: always(7201) },
    { nearsky_tns_snapshot_age_seconds: `3600x164 ${always(7900)}` },
  ],
  // One client's heavy queries, within a few minutes.
  NearskyOverloaded: [
    { nearsky_queries_refused_total: `0+1x${MINUTES}`, ...REQUESTS },
    { nearsky_queries_refused_total: once(100, 5), ...REQUESTS },
  ],
  NearskyBudgetOverruns: [
    { nearsky_budget_overruns_total: `0+1x${MINUTES}`, ...REQUESTS },
    { nearsky_budget_overruns_total: once(100, 20), ...REQUESTS },
  ],
  NearskySourcesWithoutPosition: [
    { nearsky_sources_left_out_total: once(1, 20) },
    { nearsky_sources_left_out_total: always(9) },
  ],
  NearskyDatabaseDamaged: [{ nearsky_damaged_values_total: once(1, 20) }, { nearsky_damaged_values_total: always(9) }],
  NearskyThreadsReplaced: [
    { nearsky_server_threads_replaced_total: once(1, 20) },
    { nearsky_server_threads_replaced_total: always(9) },
  ],
  NearskyWriteWaits: [{ nearsky_write_wait_seconds: always(61) }, { nearsky_write_wait_seconds: always(60) }],
  NearskyStreamBehind: [{ nearsky_publish_lag_entries: always(101) }, { nearsky_publish_lag_entries: always(100) }],
  // At 10 MB a minute, the disk of the first is full in 11 hours, that of the second in 13; below, in 167 and in 169.
  NearskyDiskNearlyFull: [
    { [FREE]: `14.4e9-10000000x${MINUTES}` },
    { [FREE]: `15.6e9-10000000x${MINUTES}` },
    { [FREE]: always('2.1e9') },
  ],
  NearskyDiskFilling: [{ [FREE]: `107.4e9-10000000x${MINUTES}` }, { [FREE]: `109.2e9-10000000x${MINUTES}` }],
  NearskyInternalErrors: [
    { 'nearsky_http_errors_total{error="internal_error"}': once(1, 2) },
    { 'nearsky_http_errors_total{error="internal_error"}': always(9) },
  ],
  NearskyPositions: [
    { 'nearsky_catalog_position_files{state="stale"}': always(1) },
    { 'nearsky_catalog_position_files{state="missing"}': always(1) },
  ],
  NearskyConnections: [{ nearsky_http_connections: always(15001) }, { nearsky_http_connections: always(15000) }],
  NearskyMemory: [
    { 'process_anonymous_memory_bytes{job="nearsky"}': always(8000000001) },
    { 'process_anonymous_memory_bytes{job="nearsky"}': always(1000000000) },
  ],
  NearskyClockSkew: [{ nearsky_log_clock_skew_seconds: always(-3) }, { nearsky_log_clock_skew_seconds: always(-1) }],
  NearskyNodeStopped: [{ nearsky_node_stopped: always(1) }, { nearsky_node_stopped: always(0) }],
};

needs(test, whyNot('promtool', '--version'))(
  'promtool accepts the rules; each fires when it should, and only then',
  () =>
    withDirectory(async directory => {
      const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
      const checked = promtool('check', 'rules', '--lint-fatal', deploy('alerts.yaml'));
      assert.is(checked.status, 0, checked.stdout + checked.stderr);
      assert.equal(Object.keys(SERIES).sort(), rules.map(({ alert }) => alert).sort());
      const tests = Object.entries(SERIES).flatMap(([alert, cases]) =>
        cases.map((series, i) => ({
          interval: '1m',
          name: `${alert} ${i}`,
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
              eval_time: `${FREE in series ? DISK_AT_HOURS : AT_HOURS}h`,
              exp_samples: i > 0 ? [] : [{ labels: '{}', value: 1 }],
            },
          ],
        })),
      );
      const file = join(directory, 'tests.yaml');
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ rule_files: [deploy('alerts.yaml')], evaluation_interval: '1m', tests }));
      const fired = promtool('test', 'rules', file);
      assert.is(fired.status, 0, fired.stdout + fired.stderr);
    }),
);

needs(test, whyNot('systemd-analyze', '--version'))('the timers and their services are right', () =>
  withDirectory(async directory => {
    const names = globSync('nearsky-*.{service,timer}', { cwd: join(root, 'deploy') });
    assert.is(names.length, 8);
    const files = names.map(name => {
      // The script must exist where it is checked, and a template needs an instance.
      const file = join(directory, name.replace('@.', '@lasair.'));
      writeFileSync(file, text(name).replace('/usr/local/lib/nearsky/nightly.sh', deploy('nightly.sh')));
      const schedule = /^OnCalendar=(.*)$/m.exec(text(name))?.[1];
      if (schedule) execFileSync('systemd-analyze', ['calendar', schedule], { stdio: 'ignore' });
      return file;
    });
    const { stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    assert.not.match(stderr, /nearsky/);
  }),
);

needs(test, whyNot('logrotate', '--version'))("logrotate's file is right", () => {
  const { status, stderr } = spawnSync('logrotate', ['--debug', deploy('nearsky.logrotate')], { encoding: 'utf8' });
  assert.is(status, 0, stderr);
  assert.not.match(stderr, /^error/m);
});

test('nightly.sh stores and moves files, moves those that it cannot use aside, and keeps only the newest backups', () =>
  withDirectory(async directory => {
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'nearsky'),
      `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/nearsky.cjs')}' "$@"\n`,
    );
    chmodSync(join(bin, 'nearsky'), 0o755);
    const data = join(directory, 'data');
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, NEARSKY_DATA: data };
    const nightly = (...args: string[]) => spawnSync(deploy('nightly.sh'), args, { env, encoding: 'utf8' });
    const objects = (from: string) =>
      JSON.parse(execFileSync(join(bin, 'nearsky'), ['stats', '--json', '--data', from], { encoding: 'utf8' })).objects;

    const [spool, backups] = [join(directory, 'spool'), join(directory, 'backups')];
    for (const each of [spool, backups]) mkdirSync(each);
    const sample = join(root, 'sample/alerts/lasair.ndjson');
    copyFileSync(sample, join(spool, 'b night.ndjson'));
    copyFileSync(sample, join(spool, 'unfinished.part'));
    writeFileSync(join(spool, 'a.ndjson'), 'not JSON\n');
    // Its end is missing, so the next run may read it.
    writeFileSync(join(spool, 'c.ndjson.gz'), gzipSync(readFileSync(sample)).subarray(0, 500));
    const first = nightly('ingest', 'lasair', spool);
    assert.is(first.status, 1);
    assert.match(
      first.stderr,
      /not JSON[\s\S]*moved .*a\.ndjson to .*spool\/rejected, because none of its messages can be/,
    );
    assert.equal(readdirSync(spool).sort(), ['c.ndjson.gz', 'done', 'rejected', 'unfinished.part']);
    assert.equal(readdirSync(join(spool, 'rejected')), ['a.ndjson']);
    writeFileSync(join(spool, 'c.ndjson.gz'), gzipSync(readFileSync(sample)));
    const stored = objects(data);
    assert.ok(stored > 0);
    // A file of the same name replaces no earlier one.
    copyFileSync(sample, join(spool, 'b night.ndjson'));
    assert.is(nightly('ingest', 'lasair', spool).status, 0);
    assert.equal(readdirSync(join(spool, 'done')).sort(), ['b night.ndjson', 'b night.ndjson.~1~', 'c.ndjson.gz']);
    assert.is(objects(data), stored);

    const today = join(backups, `nearsky-${new Date().toISOString().slice(0, 10)}`);
    const older = ['nearsky-2020-01-01', 'nearsky-2020-01-02', 'nearsky-of-mine'];
    for (const each of older) mkdirSync(join(backups, each));
    // Killed jobs left these on earlier days. The last one is recent, so it may still be in the making.
    const unfinished = ['nearsky-2020-01-03.12.part', 'nearsky-2020-01-03.ndjson.gz.12.part'];
    for (const each of unfinished) {
      mkdirSync(join(backups, each));
      utimesSync(join(backups, each), 1e9, 1e9);
    }
    const kept = 'nearsky-2020-01-04.13.part';
    mkdirSync(join(backups, kept));
    for (let i = 0; i < 2; i++) {
      const { status, stderr } = nightly('backup', backups, '2');
      assert.is(status, 0, stderr);
      assert.equal(
        readdirSync(backups).sort(),
        ['nearsky-2020-01-02', unfinished[1], kept, basename(today), 'nearsky-of-mine'].sort(),
      );
    }
    assert.is(objects(today), stored);
    const { status, stderr } = nightly('export', backups, '1');
    assert.is(status, 0, stderr);
    assert.ok(existsSync(`${today}.ndjson.gz`) && existsSync(today));
    assert.not.ok(existsSync(join(backups, unfinished[1]!)));
    assert.is.not(nightly('backup', backups, '0').status, 0);
    assert.ok(
      nightly('report')
        .stdout.split('\n')
        .some(line => line.startsWith('last backup') && line.endsWith(today)),
    );
    assert.ok(existsSync(today));
  }));

test.run();
