/** The pages as they are sent: headers, links, nothing from elsewhere, the live configuration. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caveats } from '../../src/contract/prose.ts';
import { factsOf } from '../../src/pages/facts.ts';
import { configOf, type Running, startApp } from '../http/support.ts';

const test = suite<{ running: Running }>('pages/pages');

const PAGES = [
  '/',
  '/search',
  '/objects/5',
  '/recent',
  '/catalogs',
  '/brokers',
  '/consuming',
  '/status',
  '/api-docs',
  '/vo',
];

test.before(async context => {
  context.running = await startApp(async () => {}, {
    LASAIR_OBJECT_URL_TEMPLATE: 'https://lasair.example/{diaObjectId}?a&b',
    CROSSMATCH_RADIUS_ARCSEC: '2.5',
    APP_VERSION: '"><script>',
  });
});

test.after(({ running }) => running.close());

test('each page is HTML under a policy that takes nothing from elsewhere and no script that stands in it', async ({
  running: { app },
}) => {
  for (const path of PAGES) {
    const { status, headers, text } = await app.get(path);
    assert.is(status, 200, path);
    assert.is(headers.get('Content-Type'), 'text/html; charset=utf-8');
    assert.is(headers.get('Cache-Control'), 'no-cache');
    assert.is(headers.get('X-Content-Type-Options'), 'nosniff');
    const policy = headers.get('Content-Security-Policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.not.match(policy, /unsafe|\*|http/);
    assert.match(text, /^<!DOCTYPE html>\n<html lang="en">/);
    assert.is(text.match(/<h1[ >]/g)?.length, 1, path);
    assert.match(text, /<main id="content">/);
    assert.not.match(text, /<style|\sstyle=|\son\w+=|javascript:|<iframe/);
    for (const [, attributes] of text.matchAll(/<script([^>]*)>/g))
      assert.match(attributes!, /src="\/assets\/|type="application\/json"/);
    for (const [, tag, url] of text.matchAll(/<(script|link|img)[^>]*?(?:src|href)="([^"]*)"/g))
      assert.match(url!, /^\/assets\//, `${path}: ${tag}`);
  }
});

test('the links of the pages lead to something', async ({ running: { app } }) => {
  const links = new Set<string>();
  for (const path of PAGES) {
    const { text } = await app.get(path);
    for (const [, url] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) links.add(url!.replaceAll('&amp;', '&'));
    for (const [, id] of text.matchAll(/href="#([^"]*)"/g)) assert.ok(text.includes(`id="${id}"`), `${path}#${id}`);
  }
  assert.ok(links.size > 20, `${links.size}`);
  for (const link of links) assert.is((await app.get(link)).status, 200, link);
});

test('scripts and style may be kept for ever under their version, and not under another', async ({
  running: { app },
}) => {
  const { text } = await app.get('/');
  const names = [...text.matchAll(/"\/assets\/(\w+)\/([\w.-]+)"/g)];
  for (const [, version, name] of names) {
    const { headers, status } = await app.get(`/assets/${version}/${name}`);
    assert.equal([status, headers.get('Cache-Control')], [200, 'public, max-age=31536000, immutable']);
    const type = { js: /^text\/javascript/, css: /^text\/css/, svg: /^image\/svg/ }[name!.split('.').at(-1)!]!;
    assert.match(headers.get('Content-Type')!, type);
    assert.is((await app.get(`/assets/old/${name}`)).headers.get('Cache-Control'), 'no-store');
  }
  const version = names[0]![1];
  for (const [, imported] of (await app.get(`/assets/${version}/map_page.js`)).text.matchAll(/from '\.\/([\w.]+)'/g))
    assert.is((await app.get(`/assets/${version}/${imported}`)).status, 200, imported);
  for (const name of ['tsconfig.json', 'none.js', '..%2Fhtml.ts', '__proto__'])
    assert.is((await app.get(`/assets/${version}/${name}`)).status, 404, name);
});

test('what the pages say is the live configuration', async ({ running: { app } }) => {
  const page = async (path: string) => (await app.get(path)).text;
  for (const path of ['/', '/catalogs', '/consuming']) assert.match(await page(path), /2\.5/);
  assert.match(await page('/brokers'), /pittgoogle<\/th>\s*<td class="number">0\.6<\/td><td>this service/);
  const plain = (await page('/consuming')).replace(/<\/?code>/g, '`');
  for (const caveat of caveats()) assert.ok(plain.includes(caveat.replaceAll('"', '&quot;')), caveat);
  for (const name of ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'])
    assert.match(await page('/catalogs'), name);
  const data = JSON.parse(/<script type="application\/json" id="facts">(.*)<\/script>/.exec(await page('/'))![1]!);
  assert.is(data.links[0].url, 'https://lasair.example/{id}?a&b');
  assert.is(data.crossmatchRadiusArcsec, 2.5);
});

test('what comes from outside is escaped', async ({ running: { app } }) => {
  for (const path of PAGES) {
    const { text } = await app.get(path, { headers: { Host: 'x"><script>alert(1)</script>' } });
    assert.not.match(text, /"><script>(alert|\.)/, path);
    assert.not.match(text, 'alert(1)');
  }
});

test('every status and outcome has a word', () => {
  const { statuses, outcomes } = factsOf(configOf('/nowhere'));
  for (const words of [statuses, outcomes])
    for (const [name, { word, meaning }] of Object.entries(words)) assert.ok(word && meaning.endsWith('.'), name);
  assert.is(Object.keys(statuses).length, 10);
  assert.is(Object.keys(outcomes).length, 6);
});

test('another method than GET is 405', async ({ running: { app } }) => {
  for (const path of PAGES) assert.equal([(await app.get(path, { method: 'POST' })).status], [405], path);
});

test.run();
