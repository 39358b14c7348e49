/** The rules of filters in query strings, on each operation that has them (docs/contract.md, Query strings; Filters and counts). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FILTER_NAMES } from '../contract/suite/filters.ts';
import { FACTS } from '../facts.ts';
import {
  crossmatched,
  delivery,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  reshape,
  searched,
  startApp,
} from './support.ts';

const test = suite<{ running: Running }>('http/filters');

test.before(async context => {
  context.running = await startApp(async world => {
    const { writer } = world;
    await writer.ingest(
      [1n, 2n, 3n].map(id => delivery(id)),
      NOW_US,
    );
    const payload = { parallax: -3, parallax_error: 1.5, ruwe: Number.POSITIVE_INFINITY, pmra: '5', ext_mash: 4n };
    const gaia = { ...match('gaia_dr3', '1', { payload }), separationArcsec: 0.5 };
    const delve = match('delve_dr3_gold', '2', { payload: { ext_mash: 4n, dnf_z: null } });
    await crossmatched(world, 1n, searched('gaia_dr3'), [gaia, delve]);
    await crossmatched(world, 2n, searched('gaia_dr3'), [gaia]);
    reshape(world, 2n, { state: 'pending', reliability: null });
    await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc' }]);
  });
});

test.after(({ running }) => running.close());

const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'];
const PATHS = ['/api/objects/1?', '/api/cone?ra=150&dec=2&radius_arcsec=5', '/api/tns/2026abc?'];

test('each is taken on each operation [Filters and counts]', async ({ running: { app } }) => {
  for (const name of FILTER_NAMES.filter(name => name !== 'catalog')) {
    const { status, body } = await app.get(`/api/objects/1?${name}=1e0`);
    assert.equal([status, body.filters], [200, { [name]: 1 }]);
  }
  for (const catalog of CATALOGS)
    for (const path of PATHS) assert.equal((await app.get(`${path}&catalog=${catalog}`)).body.filters, { catalog });
});

test('a name that is shaped like a filter must be one; others are ignored [Query strings]', async ({
  running: { app },
}) => {
  const unknown = ['zzz.y', '.', 'zzz_min', '_max', 'gaia_dr3.parallax', 'gaia_dr3.zzz_min', 'skymapper_dr4.flags_min'];
  for (const path of PATHS) {
    for (const name of [...unknown, 'separation_arcsec_min', 'GAIA_DR3.ruwe_max']) {
      const { status, body } = await app.get(`${path}&${name}=1`);
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', name]);
    }
    const { status, body } = await app.get(`${path}&Catalog=x&reliability=x&separation_arcsec=&max=1`);
    assert.is(status, 200);
    assert.not.ok('filters' in body);
  }
});

test('an operation without filters, or counts, refuses them by name; other names are ignored [Query strings]', async ({
  running: { app },
}) => {
  const refused = async (method: string, path: string, query: string) => {
    const { status, body } = await app.get(`${path}${path.includes('?') ? '&' : '?'}${query}`, { method });
    assert.equal([status, body.code, body.retryable], [400, 'unsupported_parameter', false], `${path} ${query}`);
    return body.param ?? body.params;
  };
  const unfiltered = [
    ['POST', '/api/lookup'],
    ['GET', '/api/recent-crossmatches'],
    ...FACTS.flatMap(({ unfiltered = [] }) => unfiltered),
  ] as const;
  for (const [method, path] of unfiltered) {
    for (const name of ['reliability_min', 'separation_arcsec_max', 'gaia_dr3.ruwe_max', 'a.b', 'x_min', 'response'])
      assert.is(await refused(method, path, `${name}=1`), name);
    assert.equal(await refused(method, path, 'x_max=&zebra=1&response=count'), ['x_max', 'response']);
  }
  const { paths } = (await app.get('/openapi.json')).body;
  for (const [method, path] of unfiltered) {
    const documented = paths[path.split('?')[0]!]?.[method.toLowerCase()].parameters ?? [];
    const query = 'catalog=gaia_dr3';
    if (!documented.some(({ name }: { name: string }) => name === 'catalog'))
      assert.is(await refused(method, path, query), 'catalog');
    else assert.is((await app.get(`${path}&${query}`)).status, 200, path);
    if (method === 'GET')
      assert.is((await app.get(`${path}${path.includes('?') ? '&' : '?'}zebra=1&detial=x`)).status, 200, path);
  }
  for (const path of ['/api/status', '/api/describe', '/openapi.json'])
    assert.is((await app.get(`${path}?catalog=gaia_dr3&x_min=1&response=count`)).status, 200, path);
});

test('values: finite decimal numbers, a catalog by its name', async ({ running: { app } }) => {
  const bad = ['', '%20', 'x', 'nan', 'inf', '1e999', '0x1', 'null', 'true'];
  for (const path of PATHS) {
    for (const value of bad)
      assert.is((await app.get(`${path}&reliability_max=${value}`)).body.param, 'reliability_max');
    for (const value of ['', 'GAIA_DR3', 'gaia', '%20gaia_dr3'])
      assert.is((await app.get(`${path}&catalog=${value}`)).body.param, 'catalog');
    assert.is((await app.get(`${path}&separation_arcsec_max=-1e-9`)).body.param, 'separation_arcsec_max');
  }
  const { body } = await app.get('/api/objects/1?separation_arcsec_max=0&reliability_min=7&reliability_max=-7');
  assert.equal(body.filters, { separation_arcsec_max: 0, reliability_min: 7, reliability_max: -7 });
  assert.equal((await app.get('/api/objects/1?gaia_dr3.pmra_min=%20%2B.5%20')).body.filters, {
    'gaia_dr3.pmra_min': 0.5,
  });
});

test('the first bad one is named, the last of a repeated one counts, the echo is in order of the request', async ({
  running: { app },
}) => {
  const param = async (query: string) => (await app.get(`/api/objects/1?${query}`)).body.param;
  assert.is(await param('reliability_max=x&zzz_min=1'), 'reliability_max');
  assert.is(await param('zzz_min=1&reliability_max=x'), 'zzz_min');
  assert.is(await param('reliability_max=x&reliability_max=1&catalog=y'), 'catalog');
  const { body } = await app.get(
    '/api/objects/1?reliability_max=1&catalog=gaia_dr3&reliability_min=0&reliability_max=0.9',
  );
  assert.equal(Object.entries(body.filters), [
    ['reliability_max', 0.9],
    ['catalog', 'gaia_dr3'],
    ['reliability_min', 0],
  ]);
});

test('filters of several catalogs: all that name one, grouped by catalog [Filters and counts]', async ({
  running: { app },
}) => {
  const query =
    '&reliability_min=0&des_y6_gold.dnf_z_min=0&gaia_dr3.ruwe_max=1&separation_arcsec_max=1&catalog=des_y6_gold&gaia_dr3.pmra_min=1';
  for (const path of PATHS) {
    const { status, body } = await app.get(`${path}${query}`);
    assert.equal([status, body.code, body.retryable, body.param], [400, 'filters_span_catalogs', false, undefined]);
    assert.equal(body.params, ['des_y6_gold.dnf_z_min', 'catalog', 'gaia_dr3.ruwe_max', 'gaia_dr3.pmra_min']);
    const bad = await app.get(`${path}${query}&reliability_max=x`);
    assert.is(bad.body.param, 'reliability_max', 'every value comes before');
  }
  const one = await app.get('/api/objects/1?catalog=gaia_dr3&gaia_dr3.ruwe_max=1&gaia_dr3.pmra_min=1');
  assert.is(one.status, 200);
});

test('a source meets all match filters or none; values that are no finite numbers meet none', async ({
  running: { app },
}) => {
  const marks = async (id: number, query: string) => {
    const { objects, qualifies, qualifies_reason } = await app.result(`/api/objects/${id}?${query}`);
    assert.equal([objects[0].qualifies, objects[0].qualifies_reason], [qualifies, qualifies_reason]);
    return qualifies_reason;
  };
  const meets = ['catalog=gaia_dr3&separation_arcsec_max=0.5', 'gaia_dr3.parallax_over_error_max=-2'];
  for (const query of [
    ...meets,
    'gaia_dr3.parallax_over_error_min=-2',
    'delve_dr3_gold.ext_mash_min=4',
    'reliability_min=0.75',
  ])
    assert.is(await marks(1, query), 'meets_filters', query);
  const fails = [
    'catalog=gaia_dr3&separation_arcsec_max=0.499',
    'catalog=delve_dr3_gold&separation_arcsec_max=0.2',
    'gaia_dr3.ruwe_min=0',
    'gaia_dr3.pmra_min=0',
    'gaia_dr3.pmdec_min=0',
    'delve_dr3_gold.dnf_z_max=5',
    'delve_dr3_gold.ext_mash_max=3.999',
    'des_y6_gold.ext_mash_min=0',
    'catalog=skymapper_dr4',
  ];
  for (const query of fails) assert.is(await marks(1, query), 'no_source_meets_filters', query);
  assert.is(await marks(1, 'reliability_min=0.7501&catalog=gaia_dr3'), 'object_filters_not_met');
  assert.is(await marks(2, 'reliability_min=-5'), 'object_filters_not_met', 'no reliability meets none');
  assert.is(await marks(2, 'catalog=gaia_dr3'), 'crossmatch_pending', 'left-over sources do not count');
  assert.is(await marks(3, 'reliability_min=0.5'), 'meets_filters', 'a pending object can');
  assert.is(await marks(99, 'reliability_min=0.5'), 'not_in_service');
});

test('filters drop and reorder nothing [Filters and counts]', async ({ running: { app } }) => {
  for (const path of PATHS) {
    const [plain] = (await app.get(path)).body.results;
    const [filtered] = (await app.get(`${path}&catalog=skymapper_dr4`)).body.results;
    assert.equal(
      filtered.objects.map(({ qualifies, qualifies_reason, ...rest }: Record<string, unknown>) => rest),
      plain.objects,
    );
  }
});

test.run();
