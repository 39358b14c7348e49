/**
 * Ignored parameters are named in a header, and `Accept` is never refused (docs/contract.md, Query strings; decision
 * P15).
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { preferredFormat } from '../../../src/core/http/accept.ts';
import { type Running, startApp } from './support.ts';

const test = suite<{ running: Running }>('http/unknown_parameters');

test.before(async context => {
  context.running = await startApp(async () => {});
});

test.after(({ running }) => running.close());

const CONE = '/api/cone?ra=1&dec=2&radius_arcsec=5';
const HEADER = 'X-Unknown-Parameters';

test('what is ignored is named, with the nearest name; the answer is the same [Headers; Query strings]', async ({
  running: { app },
}) => {
  for (const [path, expected] of [
    [`${CONE}&fromat=csv`, 'fromat;did-you-mean=format'],
    [`${CONE}&Detail=ids`, 'Detail;did-you-mean=detail'],
    [`${CONE}&zebra=1&radius=5`, 'zebra, radius'],
    [`${CONE}&fromat=csv&fromat=csv`, 'fromat;did-you-mean=format'],
    [`${CONE}&a%2Cb%0D%0A=1&%C3%A9=1&*=1`, 'a%2Cb%0D%0A, %C3%A9, %2A'],
    [`${CONE}${Array.from({ length: 11 }, (_, i) => `&zebra${i}=1`).join('')}`, /^zebra0, .*zebra7, \*;more=3$/],
    [`${CONE}&${'z'.repeat(500)}=1`, /^z{64}\.\.\.$/],
    ['/api/objects/5?detial=ids', 'detial;did-you-mean=detail'],
    ['/api/tns/2026abc?radius_arcses=3', 'radius_arcses;did-you-mean=radius_arcsec'],
    ['/api/recent-crossmatches?strat=2026-01-01', 'strat;did-you-mean=start'],
    ['/api/status?x=1', 'x'],
    ['/api/describe?format=csv', 'format'],
    ['/api/cone?rs=1&dec=2&radius_arcsec=5', 'rs;did-you-mean=ra'],
  ] as const) {
    const { headers, status, body } = await app.get(path);
    if (typeof expected === 'string') assert.is(headers.get(HEADER), expected, path);
    else assert.match(headers.get(HEADER) ?? '', expected, path);
    assert.is(headers.get('Access-Control-Expose-Headers'), `Retry-After, ${HEADER}`);
    assert.is(status, path.includes('rs=') ? 400 : 200, JSON.stringify(body).slice(0, 200));
  }
  const { headers } = await app.get(`${CONE}&format=csv&fromat=csv`);
  assert.match(headers.get('Access-Control-Expose-Headers')!, /Link, .*, X-Unknown-Parameters$/);
});

test('every parameter that the document lists is known; so are filters', async ({ running: { app } }) => {
  const { paths } = (await app.get('/openapi.json')).body;
  let parameters = 0;
  for (const [path, { get }] of Object.entries<Record<string, { parameters?: { name: string; in: string }[] }>>(
    paths,
  )) {
    const names = (get?.parameters ?? []).filter(each => each.in === 'query').map(({ name }) => name);
    parameters += names.length;
    const url = path.replace('{diaObjectId}', '5').replace('{name}', '2026abc');
    const { headers } = await app.get(`${url}?${names.map(name => `${name}=1`).join('&')}`);
    assert.is(headers.get(HEADER), null, path);
    assert.is(headers.get('Access-Control-Expose-Headers'), 'Retry-After');
  }
  assert.ok(parameters > 100, `${parameters}`);
});

test('Accept: JSON unless the header names another format; nothing is refused [P15]', async ({ running: { app } }) => {
  const typeOf = async (path: string, accept: string) => {
    const { status, headers } = await app.get(path, { headers: { Accept: accept } });
    return [status, headers.get('Content-Type')];
  };
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';
  const json = [
    'application/xml',
    'text/html',
    'image/*',
    'application/json;q=0',
    'nonsense',
    'text/*',
    '*/*;q=0',
    ',',
  ];
  for (const accept of [...json, '', '*/*', 'application/*', browser, 'application/json; charset=utf-8']) {
    for (const path of [CONE, '/api/objects/5', '/api/tns/2026abc', '/api/recent-crossmatches'])
      assert.equal(await typeOf(path, accept), [200, 'application/json'], `${path} ${accept}`);
    assert.equal(await typeOf('/api/cone?ra=x', accept), [400, 'application/json'], accept);
    assert.match(`${(await typeOf(`${CONE}&format=csv`, accept))[1]}`, 'text/csv');
  }
  for (const [accept, format] of [
    ['application/msgpack;q=0.5, text/*', 'msgpack'],
    ['application/json;q=0, */*', 'json'],
    ['application/json;q=0, text/csv;q=0, */*;q=0.1', 'json'],
    ['text/html, text/csv;q=0.1', 'csv'],
    // Of equal weights, the first.
    ['text/csv;q=0.5, application/msgpack;q=0.5', 'csv'],
    ['application/msgpack, text/csv', 'msgpack'],
    ['text/xml', 'votable'],
    ['text/xml;q=0.5, text/csv;q=0.4', 'votable'],
    ['application/vnd.msgpack', 'msgpack'],
    ['application/x-parquet', 'parquet'],
  ] as const)
    assert.is(preferredFormat(accept), format, accept);
  assert.match(`${(await typeOf(CONE, 'text/xml'))[1]}`, 'votable');
});

test.run();
