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
import { SharedState } from '../../src/core/base/shared_state.ts';
import { metricsText } from '../../src/core/metrics/service_metrics.ts';
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
    parts: [],
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

/** For each alert a series that makes it fire, and one of a service that is well. */
const SERIES: Readonly<Record<string, readonly [series: string, bad: string, good: string]>> = {
  NearskyDown: ['up{job="nearsky"}', '0x130', '1x130'],
  NearskyDatabaseUnreadable: ['nearsky_database_up', '0x130', '1x130'],
  NearskyIndexBehind: ['nearsky_journal_lag_entries', '101x130', '100x130'],
  NearskyBrokerSilent: ['crossmatch_alert_last_success_timestamp_seconds', '-80000x130', '0x130'],
  NearskyObjectsPending: ['nearsky_objects_pending', '50001x130', '50000x130'],
  NearskyCatalogUnreadable: ['crossmatch_catalog_skips_total', '0x100 1x30', '7x130'],
  NearskyRegistryOld: ['nearsky_tns_snapshot_age_seconds', '7201x130', '3600x130'],
  NearskyOverloaded: ['nearsky_queries_refused_total', '0+1x130', '9x130'],
  NearskyBudgetOverruns: ['nearsky_budget_overruns_total', '0x118 1x20', '9x130'],
  NearskySourcesWithoutPosition: ['nearsky_sources_left_out_total', '0x100 1x30', '9x130'],
  NearskyDatabaseDamaged: ['nearsky_damaged_values_total', '0x100 1x30', '9x130'],
  NearskyThreadsReplaced: ['nearsky_server_threads_replaced_total', '0x100 1x30', '9x130'],
  NearskyWriteWaits: ['nearsky_write_wait_seconds', '61x130', '60x130'],
  NearskyStreamBehind: ['nearsky_publish_lag_entries', '101x130', '100x130'],
  NearskyDiskNearlyFull: ['nearsky_disk_free_bytes', '79x130', '80x130'],
  NearskyInternalErrors: ['nearsky_http_errors_total{error="internal_error"}', '0x118 1x20', '9x130'],
  NearskyConnections: ['nearsky_http_connections', '15001x130', '15000x130'],
  NearskyMemory: ['process_anonymous_memory_bytes{job="nearsky"}', '8000000001x130', '1000000000x130'],
  NearskyClockSkew: ['nearsky_log_clock_skew_seconds', '-3x130', '-1x130'],
  NearskyNodeStopped: ['nearsky_node_stopped', '1x130', '0x130'],
};

needs(test, whyNot('promtool', '--version'))(
  'promtool accepts the rules; each fires when it should, and only then',
  () =>
    withDirectory(async directory => {
      const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
      const checked = promtool('check', 'rules', '--lint-fatal', deploy('alerts.yaml'));
      assert.is(checked.status, 0, checked.stdout + checked.stderr);
      assert.equal(Object.keys(SERIES).sort(), rules.map(({ alert }) => alert).sort());
      const needed = { series: 'nearsky_disk_needed_bytes', values: '4x130' };
      const tests = Object.entries(SERIES).flatMap(([alert, [series, ...both]]) =>
        both.map((values, isGood) => ({
          interval: '1m',
          input_series: [{ series, values }, needed],
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
              eval_time: '2h',
              exp_samples: isGood ? [] : [{ labels: '{}', value: 1 }],
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
