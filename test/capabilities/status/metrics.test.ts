/** /metrics: Prometheus can read every line, and the numbers match the work done. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalIndex } from '../../../src/core/generations/local_index.ts';
import { Exposition } from '../../../src/core/metrics/exposition.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';
import { openStore } from '../../../src/core/store/store.ts';
import {
  crossmatched,
  delivery,
  loadRegistry,
  match,
  NOW_US,
  searched,
  startApp,
  type TestApp,
  withApp,
  withDirectory,
} from '../../core/http/support.ts';
import { eventually } from '../../directory.ts';
import { isDeno } from '../../runtime.ts';

const test = suite('metrics');

/** The samples by name and labels; throws if a line is not a sample, has no type, or occurs twice. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  for (const line of text.trimEnd().split('\n')) {
    const [, name, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (name) {
      assert.not(types.has(name), line);
      types.set(name, type!);
    }
    if (line.startsWith('#')) continue;
    const [, key, family, value] =
      /^(([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{\w+="(?:[^"\\]|\\.)*"(?:,\w+="(?:[^"\\]|\\.)*")*\})?) (-?[\d.e+-]+)$/.exec(
        line,
      ) ?? [];
    assert.ok(family && (types.has(family) || types.has(key!.replace(/\{.*/, ''))), line);
    assert.not(samples.has(key!), line);
    samples.set(key!, Number(value));
  }
  return samples;
}

async function scrape(app: TestApp): Promise<Map<string, number>> {
  const response = await app.app.fetch(new Request('http://nearsky.test/metrics'));
  const type = response.headers.get('Content-Type');
  assert.equal([response.status, type], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  return parse(await response.text());
}

test('requests, by operation, status and error, with their times', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(5n)], NOW_US);
    },
    async app => {
      for (let i = 0; i < 3; i++) await app.get('/api/objects/5');
      await app.get('/api/objects/x');
      await app.get('/api/objects/5', { method: 'DELETE' });
      await app.get('/nothing');
      const samples = await scrape(app);
      const of = (name: string, labels: string) => samples.get(`nearsky_http_${name}{${labels}}`);
      assert.is(of('requests_total', 'operation="get_object",code="200"'), 3);
      assert.is(of('requests_total', 'operation="get_object",code="400"'), 1);
      assert.is(of('requests_total', 'operation="get_object",code="405"'), 1);
      assert.is(of('requests_total', 'operation="other",code="404"'), 1);
      assert.is(of('errors_total', 'operation="get_object",error="invalid_parameter"'), 1);
      assert.is(of('request_duration_seconds_count', 'operation="get_object"'), 5);
      assert.is(of('request_duration_seconds_bucket', 'operation="get_object",le="+Inf"'), 5);
      assert.is(samples.get('nearsky_queries_waiting'), 0);
      assert.is((await scrape(app)).get('nearsky_http_requests_total{operation="metrics",code="200"}'), 1);
      assert.equal([(await app.get('/metrics', { method: 'POST' })).status], [405]);
    },
  ));

test('the index, the database, and what was ever done to it, under the names of the reference', () =>
  withApp(
    async world => {
      const { writer } = world;
      await writer.ingest([delivery(1n), delivery(2n), delivery(3n, { position: null })], NOW_US);
      await writer.ingest([delivery(1n), delivery(1n, { broker: 'antares' }), delivery(2n)], NOW_US + 5e6);
      await crossmatched(world, 1n, searched('gaia_dr3', 'des_y6_gold'), [
        match('gaia_dr3', '1'),
        match('des_y6_gold', '2'),
      ]);
      await crossmatched(world, 2n, [['gaia_dr3', 'skipped_read_failure']]);
      await crossmatched(world, 2n, [['gaia_dr3', 'skipped_read_failure']]);
      await writer.commit({
        kind: 'register_catalog',
        registration: {
          name: 'gaia_dr3',
          location: '/gaia',
          addedAtUs: NOW_US,
          partitions: [],
          columns: { id: 'id', ra: 'ra', dec: 'dec', payload: [] },
          coverage: { order: 0, ranges: new Uint8Array(0), source: 'rows', pixelsLeftOut: 0 },
          counted: { rows: 9, withoutPosition: 2, withoutId: null },
          hats: { rows: 9, builder: null, releaseDate: null },
        },
      });
      await loadRegistry(world, Date.now() * 1000 - 3600e6, [{ name: '2026abc' }]);
    },
    async app => {
      const samples = await scrape(app);
      const expected: Record<string, number> = {
        nearsky_database_up: 1,
        nearsky_objects: 3,
        nearsky_objects_pending: 1,
        nearsky_index_objects: 2,
        nearsky_journal_lag_entries: 0,
        nearsky_server_threads: 1,
        nearsky_server_threads_replaced_total: 0,
        nearsky_write_wait_seconds: 0,
        'crossmatch_alerts_ingested_total{broker="lasair",result="new"}': 3,
        'crossmatch_alerts_ingested_total{broker="lasair",result="duplicate"}': 2,
        'crossmatch_alerts_ingested_total{broker="antares",result="new"}': 1,
        'crossmatch_alert_last_success_timestamp_seconds{broker="lasair"}': Math.floor(NOW_US / 1000 + 5000) / 1000,
        'crossmatch_batches_total{result="completed"}': 2,
        'crossmatch_matches_total{catalog="gaia_dr3"}': 1,
        'crossmatch_matches_total{catalog="des_y6_gold"}': 1,
        'crossmatch_catalog_skips_total{catalog="gaia_dr3"}': 1,
        'crossmatch_catalog_skips_total{catalog="des_y6_gold"}': 0,
        'nearsky_http_errors_total{operation="get_object",error="internal_error"}': 0,
        'nearsky_budget_overruns_total{operation="get_object"}': 0,
        'nearsky_catalog_rows{catalog="gaia_dr3"}': 9,
        'nearsky_catalog_rows_without{catalog="gaia_dr3",lacks="position"}': 2,
      };
      for (const [name, value] of Object.entries(expected)) assert.is(samples.get(name), value, name);
      assert.not.ok(samples.has('nearsky_catalog_rows_without{catalog="gaia_dr3",lacks="id"}'));
      const age = samples.get('nearsky_tns_snapshot_age_seconds')!;
      assert.ok(age >= 3600 && age < 3700, `${age}`);
      assert.ok(samples.get('nearsky_index_bytes')! > 0);
      const resident = samples.get('process_resident_memory_bytes')!;
      const anonymous = samples.get('process_anonymous_memory_bytes');
      assert.ok(resident > 1e6);
      if (process.platform === 'linux' && !isDeno)
        assert.ok(anonymous! > 1e6 && anonymous! < resident, `${anonymous} of ${resident}`);
    },
  ));

test('without a database there are metrics still', async () => {
  const { app, world, close } = await startApp(async () => {});
  await app.app.close();
  const samples = await scrape(app);
  assert.equal([samples.get('nearsky_database_up'), samples.has('nearsky_objects')], [0, false]);
  await world.store.close();
  await close().catch(() => {});
});

test('who asks at the same time shares one look at the database', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const index = new LocalIndex(directory, () => {});
    // The threads take their time to start, more than a look may take.
    await eventually('the threads look', () => index.measure());
    const look = index.measure();
    assert.is(index.measure(), look);
    assert.is((await look)!.objects, 0);
    assert.is.not(index.measure(), look);
    await index.close();
    await store.close();
  }));

test('the metrics of threads add up', () => {
  const threads = [1, 2, 3].map(n => {
    const metrics = new ThreadMetrics();
    for (let i = 0; i < n; i++) metrics.operation('a').answered(200, 0.0015, undefined);
    metrics.operation('b').answered(503, 100, 'service_unavailable');
    metrics.set('connections', n);
    return new ThreadMetrics(metrics.memory);
  });
  const total = ThreadMetrics.sum(threads, ['a', 'b']);
  const [a, b] = total.operations;
  const errorsOf = (operation: typeof a) => operation!.errors().filter(([, count]) => count > 0);
  assert.equal([a!.statuses(), errorsOf(a), a!.seconds.counts[2]], [[['200', 6]], [], 6]);
  assert.equal([b!.statuses(), errorsOf(b)], [[['503', 3]], [['service_unavailable', 3]]]);
  assert.equal([b!.seconds.counts.at(-1), b!.seconds.sum], [3, 300]);
  assert.is(total.get('connections'), 6);
});

test('the text format escapes what it must', () => {
  const text = new Exposition()
    .gauge('g', 'a\\b\nc', [[{ l: 'q"\\\n' }, Number.POSITIVE_INFINITY]])
    .counter('none', 'not shown', [])
    .histogram('h', 'h', [{ labels: {}, bounds: [1, 2], counts: [3, 0, 4], sum: 9.5 }])
    .text();
  assert.is(
    text,
    [
      '# HELP g a\\\\b\\nc',
      '# TYPE g gauge',
      'g{l="q\\"\\\\\\n"} +Inf',
      '# HELP h h',
      '# TYPE h histogram',
      'h_bucket{le="1"} 3',
      'h_bucket{le="2"} 3',
      'h_bucket{le="+Inf"} 7',
      'h_sum 9.5',
      'h_count 7',
      '',
    ].join('\n'),
  );
});

test.run();
