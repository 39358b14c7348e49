/** Paths, methods, headers, the error body, and the operations that need no query (docs/contract.md, Routes; Headers; Errors; Status and descriptions). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../directory.ts';
import { REQUESTS } from '../../e2e/requests.ts';
import { FACTS } from '../facts.ts';
import { type Json, type Running, startApp } from './support.ts';

const test = suite<{ running: Running }>('http/routing');

test.before(async context => {
  context.running = await startApp(async () => {});
});

test.after(({ running }) => running.close());

const GET_OPERATIONS = ['/api/objects/5', '/api/cone', '/api/tns/2026abc', '/api/status', '/api/recent-crossmatches'];
const OPERATIONS = [...GET_OPERATIONS.map(path => ['GET', path] as const), ['POST', '/api/lookup'] as const];

test('the body of an error: keys in order, error equal to message [Errors]', async ({ running: { app } }) => {
  const { body, status, headers } = await app.get('/api/cone?ra=1&dec=2&radius_arcsec=75');
  assert.is(status, 400);
  const message =
    'radius_arcsec must be at most 60 (75 was given); for larger cones use /vo/scs, whose radius SR is in degrees, at most 0.5';
  assert.equal(Object.entries(body), [
    ['error', message],
    ['code', 'invalid_parameter'],
    ['message', message],
    ['param', 'radius_arcsec'],
    ['retryable', false],
  ]);
  assert.is(headers.get('Content-Type'), 'application/json');
  assert.is(headers.get('Retry-After'), null);
});

test('the list of requests for tests has one of every route', async ({ running: { app } }) => {
  for (const { path, body, headers } of REQUESTS) {
    const type = headers?.['Content-Type'];
    await (body === undefined ? app.get(path) : app.post(path, body, ...(type === undefined ? [] : [type])));
  }
  for (const path of FACTS.flatMap(({ deletable = [] }) => deletable)) await app.get(path, { method: 'DELETE' });
  const missed = app.app.metrics.operations.filter(operation => !operation.statuses().length).map(({ name }) => name);
  assert.equal(missed, []);
  const { body } = await app.get('/openapi.json');
  for (const path of Object.keys(body.paths).filter(path => !path.startsWith('/vo/'))) {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}(\\?|$)`);
    assert.ok(
      REQUESTS.some(one => pattern.test(one.path)),
      path,
    );
  }
});

test('every operation of the document has a route [Status and descriptions]', async ({ running: { app } }) => {
  const { paths } = (await app.get('/openapi.json')).body;
  for (const [path, methods] of Object.entries<Json>(paths)) {
    // A preflight of a result is 404 like its job.
    if (path.endsWith('/results/result')) continue;
    for (const method of Object.keys(methods)) {
      const headers = { Origin: 'https://a.org', 'Access-Control-Request-Method': method };
      const asked = await app.get(path.replace(/\{\w+\}/g, '1'), { method: 'OPTIONS', headers });
      assert.is(asked.status, 204, path);
      const allowed = asked.headers.get('Access-Control-Allow-Methods')!.split(', ');
      assert.ok(allowed.includes(method.toUpperCase()), `${method} ${path}: ${allowed}`);
    }
  }
});

test('unknown paths are 404 with the error body [P3]', async ({ running: { app } }) => {
  const unknown = [
    '//',
    '/api',
    '/api/',
    '/api/nothing',
    '/api/cone/',
    '/api/cone//',
    '/api/status/',
    '/healthz/',
    '/api/objects/',
    '/api/objects/5/',
    '/api/objects/5/6',
    '/api/objects/5%2F6',
    '/api/objects/5%2f',
    '/objects',
    '/objects/5/',
    '/recent/',
    '/api/lookup/',
    '/api/tns',
    '/api/tns/',
    '/api/tns/2026abc/',
    '/api/tns/2026%2Fabc',
    '/api/recent-crossmatches/',
    '//api/cone',
    '/API/cone',
  ];
  for (const path of unknown) {
    for (const method of ['GET', 'POST']) {
      if (method === 'POST' && path.includes('%2')) continue;
      const { status, body } = await app.get(path, { method });
      assert.equal([status, body.code, body.retryable, body.param], [404, 'not_found', false, undefined], path);
    }
  }
});

test('another method is 405 with Allow, a bare OPTIONS among them [P1; P2; P11; Purpose; Routes]', async ({
  running: { app },
}) => {
  for (const [allowed, path] of OPERATIONS) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PURGE']) {
      if (allowed.includes(method)) continue;
      const { status, headers, body } = await app.get(path, { method });
      assert.equal([status, headers.get('Allow')], [405, allowed], `${method} ${path}`);
      if (method === 'HEAD') assert.is(body, undefined);
      else assert.equal([body.code, body.retryable, body.param], ['method_not_allowed', false, undefined]);
    }
  }
});

test('a preflight is answered 204; half a preflight is not one', async ({ running: { app } }) => {
  const origin = { Origin: 'https://example.org' };
  const asked = { 'Access-Control-Request-Method': 'GET' };
  for (const [allowed, path] of OPERATIONS) {
    const { status, headers, text } = await app.get(path, { method: 'OPTIONS', headers: { ...origin, ...asked } });
    assert.equal([status, text], [204, '']);
    assert.is(headers.get('Access-Control-Allow-Origin'), '*');
    assert.is(headers.get('Access-Control-Allow-Methods'), allowed);
    assert.is((await app.get(path, { method: 'OPTIONS', headers: origin })).status, 405);
    assert.is((await app.get(path, { method: 'OPTIONS', headers: asked })).status, 405);
  }
  assert.is((await app.get('/nothing', { method: 'OPTIONS', headers: { ...origin, ...asked } })).status, 404);
});

test('every response has the headers of security and CORS, and none of caching [P2; Headers]', async ({
  running: { app },
}) => {
  const responses = [
    await app.get('/api/status'),
    await app.get('/api/objects/5'),
    await app.get('/api/cone'),
    await app.get('/nothing'),
    await app.get('/api/cone', { method: 'POST' }),
    await app.get('/api/cone', {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.org', 'Access-Control-Request-Method': 'GET' },
    }),
    await app.get('/healthz'),
  ];
  assert.equal(
    responses.map(({ status }) => status),
    [200, 200, 400, 404, 405, 204, 200],
  );
  for (const { headers } of responses) {
    assert.is(headers.get('Access-Control-Allow-Origin'), '*');
    assert.is(headers.get('Access-Control-Expose-Headers'), 'Retry-After');
    assert.is(headers.get('X-Content-Type-Options'), 'nosniff');
    assert.is(headers.get('Referrer-Policy'), 'same-origin');
    assert.is(headers.get('Cross-Origin-Opener-Policy'), 'same-origin');
    for (const name of ['Cache-Control', 'ETag', 'Last-Modified']) assert.is(headers.get(name), null);
  }
});

test('the status', async ({ running: { app } }) => {
  const { status, body } = await app.get('/api/status?anything=goes');
  assert.is(status, 200);
  const { provenance, ...rest } = body;
  assert.is(Object.keys(body)[0], 'provenance');
  assert.is(provenance.contract_version, '1.0.0');
  assert.equal(Object.entries(rest), [
    ['database', 'ok'],
    ['service_version', version],
    ['contract_version', '1.0.0'],
    ['tns_resolution', 'unavailable'],
    ['tns_snapshot_epoch', null],
  ]);
});

test('health and readiness [Routes]', async ({ running: { app } }) => {
  const { status, body } = await app.get('/healthz', { method: 'POST' });
  assert.equal([status, body], [200, { status: 'ok' }]);
  assert.is((await app.get('/readyz')).status, 200);
});

test('a blank version is that of the release; declared cuts need both a value and a date [Provenance; Times]', async () => {
  const { app, close } = await startApp(async () => {}, {
    APP_VERSION: ' ',
    ANTARES_DECLARED_MIN_RELIABILITY: '0.6',
    ANTARES_DECLARED_MIN_RELIABILITY_AS_OF: '2026-10-01',
    LASAIR_DECLARED_MIN_RELIABILITY: '0.6',
  });
  const { provenance, service_version } = (await app.get('/api/status')).body;
  await close();
  assert.equal([service_version, provenance.service_version], [version, version]);
  const brokers = ['antares', 'lasair', 'pittgoogle'];
  assert.equal(
    provenance.reliability_cuts.filter(({ broker }: Json) => brokers.includes(broker)),
    [
      { broker: 'antares', min_reliability: 0.6, enforced_by: 'broker', status: 'declared', as_of: '2026-10-01' },
      { broker: 'lasair', min_reliability: null, enforced_by: 'broker', status: 'not_declared', as_of: null },
      { broker: 'pittgoogle', min_reliability: 0.6, enforced_by: 'service', status: 'service_setting', as_of: null },
    ],
  );
});

test.run();
