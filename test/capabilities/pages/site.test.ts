/** The site of the documents, as the service serves it and as `npm run docs` writes it: whole, and every link leads somewhere. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeSite } from '../../../docs/site.ts';
import { DATA } from '../../../src/binary/bundle.ts';
import { makeSite } from '../../../src/capabilities/documents/site.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { root, withDirectory } from '../../directory.ts';

const test = suite<{ running: Running }>('pages/site');

test.before(async context => {
  context.running = await startApp(async () => {});
});
test.after(({ running }) => running.close());

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
const linksOf = (text: string) => [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => unescaped(link!));
const idsOf = (text: string) => new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!));

const LISTED = globSync('docs/*.md', { cwd: root }).filter(path => path !== 'docs/README.md');

test('docs/README.md lists every document, each with its own title, and the service serves it', async ({
  running: { app },
}) => {
  const list = readFileSync(join(root, 'docs/README.md'), 'utf8');
  for (const path of LISTED) {
    const name = path.replace('docs/', '');
    assert.ok(list.includes(`](${name})`), `${name} is not listed`);
    const { status, headers, text } = await app.get(`/docs/${name.replace('.md', '')}`);
    assert.equal([status, headers.get('Content-Type')], [200, 'text/html; charset=utf-8'], name);
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))!;
    assert.match(text, new RegExp(`<h1 id="[^"]+">${title!.replaceAll('`', '').replace(/[()?]/g, '\\$&')}</h1>`), name);
  }
});

test('every link of every page leads to a page, a heading or a file', async ({ running: { app } }) => {
  const texts = new Map<string, string>();
  const waiting = ['/docs'];
  const other = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    const { status, text } = await app.get(path);
    assert.is(status, 200, path);
    texts.set(path, text);
    for (const link of linksOf(text)) {
      const [to = '', fragment] = link.split('#');
      if (/^https?:/.test(to)) continue;
      const target = to === '' ? path : to;
      assert.match(target, /^\//, `${path} links to ${link}`);
      if (!target.startsWith('/docs')) other.add(target);
      else if (/\.\w+$/.test(target)) assert.is((await app.get(target)).status, 200, target);
      else waiting.push(target);
      if (fragment !== undefined && target.startsWith('/docs')) other.add(`${target}#${fragment}`);
    }
  }
  const anchors = [...other].filter(link => link.includes('#'));
  for (const link of anchors) {
    const [path, fragment] = link.split('#') as [string, string];
    assert.ok(idsOf(texts.get(path)!).has(fragment), link);
  }
});

test('pages show what the Markdown says: tables, code and pictures, and no HTML of theirs', async ({
  running: { app },
}) => {
  const { text } = await app.get('/docs/tutorial');
  assert.match(text, '<code>npm ci &amp;&amp; npm run demo</code>');
  assert.match(text, /<img src="\/docs\/map\.png" alt="The front page[^"]*"/);
  assert.match((await app.get('/docs/contract')).text, '<td><code>/mcp</code></td>');
  for (const path of LISTED)
    assert.not.match(readFileSync(join(root, path), 'utf8').replaceAll(/`[^`]*`/g, ''), /<[a-z]+[ >](?!.*`)/);
});

test('files have their type and bytes; what the documents do not name is missing', async ({ running: { app } }) => {
  const picture = await app.app.fetch(new Request('http://nearsky.test/docs/map.png'));
  assert.is(picture.headers.get('Content-Type'), 'image/png');
  assert.ok(Buffer.from(await picture.arrayBuffer()).equals(readFileSync(join(root, 'docs/images/map.png'))));
  assert.is((await app.get('/docs/calibration.svg')).headers.get('Content-Type'), 'image/svg+xml');
  const unit = await app.get('/docs/nearsky.service');
  assert.equal(
    [unit.headers.get('Content-Type'), unit.text],
    ['text/plain; charset=utf-8', readFileSync(join(root, 'deploy/nearsky.service'), 'utf8')],
  );
  for (const name of ['none', 'package.json', 'commands.ts', 'readme', 'tap.md', '..%2FREADME.md', '__proto__'])
    assert.is((await app.get(`/docs/${name}`)).status, 404, name);
});

test('the search index has the text of each section, at the address of its heading', async ({ running: { app } }) => {
  const sections: { address: string; title: string; heading: string; text: string }[] = (
    await app.get('/docs/search.json')
  ).body;
  const found = (text: string) => sections.filter(section => section.text.includes(text)).map(each => each.address);
  assert.equal(found('They look alike, but the same digits mean different sources'), [
    '/docs/faq#do-des-and-delve-ids-mean-the-same-source',
  ]);
  assert.equal(found('stores messages of a broker from files'), ['/docs/run#commands'], 'a cell of a table');
  assert.ok(found('nearsky crossmatch --data ./data').includes('/docs/commands#crossmatch'), 'code');
  const { text } = await app.get('/docs/tap');
  for (const { address } of sections.filter(each => each.address.startsWith('/docs/tap#')))
    assert.ok(idsOf(text).has(address.split('#')[1]!), address);
});

test('a link that leads nowhere is an error that names it', () => {
  const broken = { page: (name: string) => name, file: (name: string) => name };
  assert.not.throws(() => makeSite(broken));
  for (const [list, says] of [
    ['test/fixtures/documents/page.md', 'does not list the page'],
    ['test/fixtures/documents/heading.md', 'the page has no such heading'],
    ['test/fixtures/documents/file.md', 'the file is missing'],
  ] as const)
    assert.throws(
      () => makeSite(broken, list),
      (error: Error) => error.message.startsWith(`Cannot link from ${list} to `) && error.message.includes(says),
    );
});

test('as files: each link is a file that is there, and a heading in it', () =>
  withDirectory(async directory => {
    const site = join(directory, 'site');
    writeSite(site);
    const pages = readdirSync(site).filter(name => name.endsWith('.html'));
    for (const page of pages) {
      const text = readFileSync(join(site, page), 'utf8');
      for (const link of [...linksOf(text), /data-index="([^"]*)"/.exec(text)![1]!]) {
        const [to = '', fragment] = link.split('#');
        if (/^https?:/.test(to)) continue;
        assert.not.match(to, /^\//, `${page} links to ${link}`);
        const file = join(site, to === '' ? page : to);
        assert.ok(existsSync(file), `${page} links to ${link}`);
        if (fragment !== undefined)
          assert.ok(idsOf(readFileSync(file, 'utf8')).has(fragment), `${page} links to ${link}`);
      }
    }
    for (const { address } of JSON.parse(readFileSync(join(site, 'search.json'), 'utf8')))
      assert.ok(existsSync(join(site, address.split('#')[0])), address);
    for (const name of readdirSync(join(site, 'assets')).filter(each => each.endsWith('.js')))
      for (const [, imported] of readFileSync(join(site, 'assets', name), 'utf8').matchAll(/from '\.\/([\w.]+)'/g))
        assert.ok(existsSync(join(site, 'assets', imported!)), `${name} imports ${imported}`);
    assert.throws(() => writeSite(site), /is not empty/);
  }));

test('the executable and the npm package have every document', () => {
  const list = readFileSync(join(root, 'docs/README.md'), 'utf8');
  const linked = [...list.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => join('docs', path!));
  const name = (each: string) => each;
  const documents = ['docs/README.md', ...linked, ...makeSite({ page: name, file: name }).files.values()];
  for (const path of ['index/README.md', 'docs/images/map.png', 'deploy/nearsky.service', 'deploy/helm/values.yaml'])
    assert.ok(documents.includes(path), path);
  assert.equal(
    documents.filter(path => !DATA.some(each => path === each || path.startsWith(`${each}/`))),
    [],
  );
});

test.run();
