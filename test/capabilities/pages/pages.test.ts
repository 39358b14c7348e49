/** The pages as they are sent: headers, links, no content from elsewhere, the live configuration. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseSearchText } from '../../../src/capabilities/objects/search_text.js';
import { pageDataOf } from '../../../src/capabilities/pages/page_data.ts';
import { queryPage } from '../../../src/capabilities/pages/query_page.ts';
import { COMMANDS } from '../../../src/commands/table.ts';
import { CATALOGS, PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { caveats } from '../../../src/core/documents/prose.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import {
  configOf,
  delivery,
  eventually,
  NOW_US,
  type Running,
  startApp,
  type World,
  withApp,
} from '../../core/http/support.ts';

const test = suite<{ running: Running }>('pages/pages');

const PAGES = [
  '/',
  '/search',
  '/objects/5',
  '/recent',
  '/area',
  '/crossmatch',
  '/sample',
  '/validation',
  '/query',
  '/catalogs',
  '/help',
  '/brokers',
  '/consuming',
  '/status',
  '/api-docs',
  '/vo',
  '/docs',
  '/docs/tutorial',
  '/docs/contract',
];

const fill = async ({ writer }: World) => {
  for (const definition of CATALOGS)
    await writer.commit({ kind: 'register_catalog', registration: registrationOf(definition) });
  await writer.ingest([delivery(313637935709683761n)], NOW_US);
};

test.before(async context => {
  context.running = await startApp(fill, {
    LASAIR_OBJECT_URL_TEMPLATE: 'https://lasair.example/{diaObjectId}?a&b',
    CROSSMATCH_RADIUS_ARCSEC: '2.5',
    APP_VERSION: '"><script>',
  });
});

test.after(({ running }) => running.close());

test('the status page has the counts of the night', () =>
  withApp(
    async ({ writer }) => {
      const unstored = { broker: 'lasair', below_cut: 0, skipped: 0, rejected: { 'not <JSON>': 2 } };
      const latest = 1000 * Date.now() - 11 * 3_600_000_000;
      await writer.ingest([delivery(1n), delivery(2n), delivery(2n)], latest, unstored);
    },
    async app => {
      const { text } = await app.get('/status');
      assert.match(text, '<dt>Lasair</dt><dd>5 messages, 2 stored, 1 duplicate, 2 rejected (2 not &lt;JSON&gt;)</dd>');
    },
  ));

test('the menu and the page of help lead to every page', async ({ running: { app } }) => {
  const { text } = await app.get('/help');
  const asked = ['/search', '/objects/5', '/docs/tutorial', '/docs/contract'];
  for (const path of PAGES) if (!asked.includes(path)) assert.match(text, `<a href="${path}"`, path);
});

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
    // One page asks a hub of SAMP on the machine of its reader.
    assert.is(/connect-src ([^;]*);/.exec(policy)![1], path === '/query' ? "'self' http://localhost:21012" : "'self'");
    assert.not.match(policy.replace(/connect-src [^;]*/, ''), /unsafe|\*|http/);
    assert.match(text, /^<!DOCTYPE html>\n<html lang="en">/);
    assert.is(text.match(/<h1[ >]/g)?.length, 1, path);
    assert.match(text, /<main id="content">/);
    assert.not.match(text, /<style|\sstyle=|\son\w+=|javascript:|<iframe/);
    for (const [, attributes] of text.matchAll(/<script([^>]*)>/g))
      assert.match(attributes!, /src="\/assets\/|type="application\/json"/);
    for (const [, tag, url] of text.matchAll(/<(script|link(?! rel="alternate")|img)[^>]*?(?:src|href)="([^"]*)"/g))
      assert.match(url!, /^\/(?:assets|docs)\//, `${path}: ${tag}`);
  }
});

test('only where the operator names a host of images may the page of an object show them', async ({
  running: { app },
}) => {
  const imagesOf = async (of: Running['app'], path: string) => {
    const { headers, text } = await of.get(path);
    const data = JSON.parse(/id="page-data">(.*)<\/script>/.exec(text)![1]!);
    return [/img-src ([^;]*);/.exec(headers.get('Content-Security-Policy')!)![1], data.imageUrl];
  };
  assert.equal(await imagesOf(app, '/objects/5'), ["'self'", null]);
  const url = 'https://images.example:8443/cutout?at={ra},{dec}&size={fov}';
  await withApp(
    async () => {},
    async other => {
      assert.equal(await imagesOf(other, '/objects/5'), ["'self' https://images.example:8443", url]);
      assert.equal((await imagesOf(other, '/'))[0], "'self'");
    },
    { SURVEY_IMAGE_URL_TEMPLATE: url },
  );
  for (const bad of [
    'https://images.example/?{ra}{dec}',
    'ftp://images.example/?{ra}{dec}{fov}',
    'https://{ra}.example/{dec}{fov}',
    'https://a;script-src*/{ra}{dec}{fov}',
    'https://user@images.example/{ra}{dec}{fov}',
  ])
    assert.throws(() => configOf('/nowhere', { SURVEY_IMAGE_URL_TEMPLATE: bad }), /SURVEY_IMAGE_URL_TEMPLATE/, bad);
});

test('a notice of the operator stands on every page, as text', async ({ running: { app } }) => {
  assert.not.match((await app.get('/')).text, 'class="about-data"');
  await withApp(
    async () => {},
    async other => {
      for (const path of [...PAGES, '/nothing'])
        assert.match(
          (await other.get(path, BROWSER)).text,
          'aria-label="About this service">A &lt;test&gt;</aside>',
          path,
        );
    },
    { PAGES_NOTICE: 'A <test>' },
  );
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

test('below a path, every address has the path and leads to something: links, redirects, the index of the documents [Headers]', () =>
  withApp(
    fill,
    async app => {
      const links = new Set<string>();
      for (const path of [...PAGES, '/nothing']) {
        const { text } = await app.get(path, BROWSER);
        for (const [, name, address] of text.matchAll(/ ([\w-]+)="(\/[^"]*)"/g))
          if (name !== 'value') links.add(address!.replaceAll('&amp;', '&'));
      }
      for (const path of ['/?q=M31', '/api', '/recent/', '/api/task', '/vo/tap'])
        links.add((await app.get(path, BROWSER)).headers.get('Location')!);
      links.add(/^<(.*)>;/.exec((await app.get('/api-docs.md')).headers.get('Link')!)![1]!);
      for (const { address } of (await app.get('/docs/search.json')).body) links.add(address.replace(/#.*/, ''));
      assert.ok(links.size > 100, `${links.size}`);
      for (const link of links) {
        assert.match(link, /^\/a&b\/c\//);
        assert.is.not((await app.get(link.slice('/a&b/c'.length))).status, 404, link);
      }
    },
    { PUBLIC_BASE_URL: 'https://sky.example/a&b/c/' },
  ));

test('no address in a script or the style starts at the root of the host', () => {
  const directory = new URL('../../../src/capabilities/pages/browser/', import.meta.url);
  // A quote after a bracket ends a regular expression.
  for (const name of readdirSync(directory).filter(each => /\.(?:js|css)$/.test(each)))
    assert.not.match(readFileSync(new URL(name, directory), 'utf8'), /(?<!\))["'`=]\/[\w?$]|url\(\//, name);
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
  for (const script of ['map_page.js', 'page.js'])
    for (const [, imported] of (await app.get(`/assets/${version}/${script}`)).text.matchAll(/from '\.\/([\w.-]+)'/g))
      assert.is((await app.get(`/assets/${version}/${imported}`)).status, 200, imported);
  for (const name of ['tsconfig.json', 'lit-html.d.ts', 'none.js', '..%2Fhtml.ts', '__proto__'])
    assert.is((await app.get(`/assets/${version}/${name}`)).status, 404, name);
});

test('scripts are sent without the lines that are comments alone, and with all others', async ({
  running: { app },
}) => {
  const version = /\/assets\/(\w+)\//.exec((await app.get('/')).text)![1];
  const directory = new URL('../../../src/capabilities/pages/browser/', import.meta.url);
  for (const name of readdirSync(directory).filter(each => each.endsWith('.js'))) {
    const { text } = await app.get(`/assets/${version}/${name}`);
    const stored = readFileSync(new URL(name, directory), 'utf8')
      .split('\n')
      .map(line => line.trimStart());
    const code = stored.filter(line => !/^(?:\/\/|\/\*|\*)/.test(line));
    // Files of the core are sent beside those of the pages.
    assert.is(text, code.join('\n').replaceAll(/from '(?:\.\.\/)+(?:core\/)?[a-z]+\//g, "from './"), name);
    for (const [, imported] of text.matchAll(/from '\.\/([\w.]+)'/g))
      assert.is((await app.get(`/assets/${version}/${imported}`)).status, 200, `${name}: ${imported}`);
  }
});

test('what the pages say is the live configuration', async ({ running: { app } }) => {
  const page = async (path: string) => (await app.get(path)).text;
  for (const path of ['/', '/catalogs', '/consuming']) assert.match(await page(path), /2\.5/);
  assert.match(
    await page('/brokers'),
    /Pitt-Google<\/a><\/th>\s*<td class="number"[^>]*>0\.6<\/td><td[^>]*>this service/,
  );
  const plain = (await page('/consuming')).replace(/<\/?code>/g, '`');
  for (const caveat of caveats()) assert.ok(plain.includes(caveat.replaceAll('"', '&quot;')), caveat);
  for (const name of ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'])
    assert.match(await page('/catalogs'), name);
  const data = JSON.parse(/<script type="application\/json" id="page-data">(.*)<\/script>/.exec(await page('/'))![1]!);
  assert.is(data.links[0].url, 'https://lasair.example/{id}?a&b');
  assert.is(data.crossmatchRadiusArcsec, 2.5);
});

test('scripts and style come as small as a coding makes them, and as they are to who takes none', async ({
  running: { app },
}) => {
  const { text } = await app.get('/');
  const names = [...text.matchAll(/"(\/assets\/[^"]*\.(?:js|css))"/g)].map(([, name]) => name!);
  for (const name of names) {
    const plain = Buffer.from((await app.get(name)).text);
    for (const [coding, decode] of [
      ['gzip', gunzipSync],
      ['zstd', zstdDecompressSync],
    ] as const) {
      const response = await app.app.fetch(
        new Request(`http://nearsky.test${name}`, { headers: { 'Accept-Encoding': coding } }),
      );
      assert.is(response.headers.get('Content-Encoding'), coding, name);
      assert.is(response.headers.get('Vary'), 'Accept-Encoding');
      const bytes = Buffer.from(await response.arrayBuffer());
      assert.ok(bytes.length < plain.length, name);
      assert.ok(decode(bytes).equals(plain), name);
    }
  }
});

test('the pages say with how many catalogs objects are compared: with those that are registered', async ({
  running: { app },
}) => {
  assert.match((await app.get('/catalogs')).text, 'Each object is compared with 4 catalogs.');
  const lead = async (names: readonly string[]) => {
    let texts: string[] = [];
    await withApp(
      async ({ writer }) => {
        for (const definition of CATALOGS)
          if (names.includes(definition.name))
            await writer.commit({ kind: 'register_catalog', registration: registrationOf(definition) });
      },
      async own => {
        texts = [(await own.get('/catalogs')).text, (await own.get('/')).text];
      },
    );
    return texts;
  };
  const [two, front] = await lead(['gaia_dr3', 'skymapper_dr4']);
  assert.match(two!, 'Each object is compared with 2 of these 4 catalogs: the others are not registered here.');
  assert.match(front!, 'galaxy or quasar of Gaia DR3, SkyMapper DR4 lies within');
  const [none] = await lead([]);
  assert.match(none!, 'None of these 4 catalogs is registered here yet: objects wait until one is.');
});

test('what comes from outside is escaped', async ({ running: { app } }) => {
  for (const path of PAGES) {
    const { text } = await app.get(path, { headers: { Host: 'x"><script>alert(1)</script>' } });
    assert.not.match(text, /"><script>(alert|\.)/, path);
    assert.not.match(text, 'alert(1)');
  }
});

test('every status and outcome has a word', () => {
  const { statuses, outcomes } = pageDataOf(configOf('/nowhere'));
  for (const words of [statuses, outcomes])
    for (const [name, { word, meaning }] of Object.entries(words)) assert.ok(word && meaning.endsWith('.'), name);
  assert.is(Object.keys(statuses).length, 10);
  assert.is(Object.keys(outcomes).length, 7);
});

const BROWSER = { headers: { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };

test('where there is nothing: a page for a browser, the error of the API for everyone else [P3]', async ({
  running: { app },
}) => {
  for (const path of ['/nothing', '/api/nothing', '/objects/x/y', '/assets/1', '/"><script>']) {
    const page = await app.get(path, BROWSER);
    assert.equal([page.status, page.headers.get('Content-Type')], [404, 'text/html; charset=utf-8'], path);
    assert.match(page.headers.get('Content-Security-Policy')!, /^default-src 'none'/);
    assert.match(page.headers.get('Vary')!, /^Accept\b/);
    assert.not.match(page.text, '"><script>');
    for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/html;q=0']) {
      const { status, headers, body } = await app.get(
        path,
        accept === undefined ? {} : { headers: { Accept: accept } },
      );
      assert.equal([status, headers.get('Content-Type'), body.code], [404, 'application/json', 'not_found'], accept);
    }
    assert.is((await app.get(path, { ...BROWSER, method: 'POST' })).headers.get('Content-Type'), 'application/json');
  }
});

test('a question put to the front page is a search', async ({ running: { app } }) => {
  const { status, headers } = await app.get('/?q=SN+2099aaa&radius=5', BROWSER);
  assert.equal([status, headers.get('Location')], [302, '/search?q=SN+2099aaa&radius=5']);
  assert.is((await app.get('/?q=', BROWSER)).status, 200);
});

test('what is near to a page leads a browser there, and nobody else', async ({ running: { app } }) => {
  const redirects: readonly (readonly [from: string, to: string])[] = [
    ['/api', '/api-docs'],
    ['/api/', '/api-docs'],
    ['/objects', '/search'],
    ['/objects/', '/search'],
    ['/objects/313637935709683761/', '/objects/313637935709683761'],
    ['/api-docs/', '/api-docs'],
    ['/recent/?hours=12', '/recent?hours=12'],
    ['/vo//', '/vo'],
  ];
  for (const [from, to] of redirects) {
    const { status, headers } = await app.get(from, BROWSER);
    assert.equal([status, headers.get('Location')], [302, to], from);
    const other = await app.get(from);
    assert.equal([other.status, other.body?.code], [404, 'not_found'], from);
  }
  const icon = await app.get('/favicon.ico', BROWSER);
  assert.equal([icon.status, icon.headers.get('Content-Type')], [200, 'image/svg+xml']);
});

test('what the pages offer to try is in the database', async ({ running: { app } }) => {
  const text = await eventually('the index has the object', async () => {
    const { text } = await app.get('/');
    return text.includes('class="examples"') ? text : undefined;
  });
  const tries = [...text.matchAll(/<a href="\/search\?q=([^"]*)">/g)].map(([, q]) => decodeURIComponent(q!));
  assert.is(tries[0], '313637935709683761');
  assert.match(text, /placeholder="e\.g\. 313637935709683761"/);
  assert.is(tries.length, 3, `${tries}`);
  for (const typed of tries) {
    const search = parseSearchText(typed);
    const path =
      search.kind === 'id'
        ? `/api/objects/${search.id}`
        : search.kind === 'position'
          ? `/api/cone?ra=${search.ra}&dec=${search.dec}&radius_arcsec=${search.radiusArcsec ?? 1}`
          : '';
    assert.is((await app.get(path)).body.results[0].objects[0].diaObjectId_str, '313637935709683761', typed);
  }
  for (const path of ['/consuming', '/api-docs']) assert.match((await app.get(path)).text, /313637935709683761/);
});

test('the page of queries has every table, and says where queries cannot be answered', async ({ running: { app } }) => {
  const text = (await app.get('/query')).text.replaceAll('<wbr>', '');
  for (const name of ['nearsky.objects', 'nearsky.gaia_dr3_matches', 'TAP_SCHEMA.columns'])
    assert.match(text, `<code>${name}</code>`);
  assert.match(text, '<code class="insert">phot_g_mean_mag</code> <span class="unit">mag</span>');
  const main = (settings: Record<string, string>, isInstalled: boolean) =>
    queryPage(configOf('/nowhere', settings), PROJECT_CATALOGS, isInstalled).main.text;
  assert.not.match(main({}, true), 'class="notice">Queries');
  assert.match(main({}, false), 'the package @duckdb/node-api is not installed');
  assert.match(main({ TAP_MAX_QUERIES: '0' }, true), 'Queries are switched off here');
});

test('an empty service offers nothing to try, and says what to do next', async ({ running }) => {
  await withApp(
    async () => {},
    async app => {
      const { status, text } = await app.get('/');
      assert.is(status, 200);
      assert.not.match(text, /class="examples"/);
      assert.match(text, /No objects yet/);
      const commands = [...text.matchAll(/^(?:<pre.*>)?(nearsky .*?)(?:<\/code>.*)?$/gm)].map(
        ([, command]) => command!,
      );
      assert.is(commands.length, 2, text);
      for (const command of commands) {
        const [, name] = command.split(' ');
        const { command: known } = await COMMANDS.get(name!)!.load();
        const options = [...command.matchAll(/ --(\w+)/g)].map(([, option]) => option!);
        for (const option of options) assert.ok(option === 'data' || option in known.options, command);
      }
    },
  );
  assert.not.match((await running.app.get('/')).text, /No objects yet/);
});

test('HEAD has the headers of GET, and no body', async ({ running: { app } }) => {
  for (const path of [...PAGES, '/objects/none', '/nothing', '/favicon.ico']) {
    const got = await app.get(path, BROWSER);
    const { status, headers, text } = await app.get(path, { ...BROWSER, method: 'HEAD' });
    assert.equal([status, text], [got.status, ''], path);
    const named = (all: Headers) => [...all].filter(([name]) => name !== 'x-request-id');
    assert.equal(named(headers), named(got.headers), path);
  }
  assert.is((await app.get('/recent', { method: 'POST' })).headers.get('Allow'), 'GET, HEAD');
});

test('the page of an object names it before a script runs: heading, title, and what a link to it shows', async ({
  running: { app },
}) => {
  const { text } = await app.get('/objects/313637935709683761', { headers: { Host: 'near.example' } });
  const meta = (property: string) => new RegExp(`<meta property="${property}" content="([^"]*)">`).exec(text)?.[1];
  assert.match(text, '<h1 id="title" class="id-title">313637935709683761</h1>');
  assert.match(text, '<title>313637935709683761 · nearsky</title>');
  assert.is(meta('og:title'), '313637935709683761 · nearsky');
  assert.match(meta('og:description')!, /^Rubin alert object 313637935709683761: .*2\.5″/);
  assert.is(meta('og:url'), 'http://near.example/objects/313637935709683761');
});

test('an id that is none is a page that is not there', async ({ running: { app } }) => {
  for (const id of ['none', '-1', '1.5', '9223372036854775808', '%00', '5%2F6', '%E2%80%AE']) {
    const { status, text } = await app.get(`/objects/${id}`, BROWSER);
    assert.is(status, 404, id);
    assert.match(text, 'ends in its diaObjectId, an integer in decimal digits, 0 to 9223372036854775807');
    assert.equal([(await app.get(`/objects/${id}`)).body.code], ['not_found'], id);
  }
  for (const id of ['0', '9223372036854775807', '0000000000000000000005'])
    assert.is((await app.get(`/objects/${id}`, BROWSER)).status, 200, id);
});

test('a part that a script fills says that it is loading until then', async ({ running: { app } }) => {
  for (const path of ['/search', '/objects/5', '/recent', '/status', '/validation'])
    assert.match((await app.get(path)).text, / aria-busy="true"><p class="loading">Loading<\/p><\//, path);
});

test('another method than GET is 405', async ({ running: { app } }) => {
  for (const path of PAGES) assert.equal([(await app.get(path, { method: 'POST' })).status], [405], path);
});

test.run();
