/** `/llms.txt` and the reference pages (docs/contract.md, Documents). */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toHtml, toMarkdown } from '../../../src/capabilities/documents/blocks.ts';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { ERROR_CODES } from '../../../src/core/contract/codes.ts';
import { API } from '../../capabilities.ts';
import { FACTS } from '../facts.ts';
import { type Ask, configWith, DECLARED, withoutDatabase } from './support.ts';

const test = suite('contract/docs');

const document = openApiDocument(API, configWith());
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

function assertAllIn(text: string, parts: readonly string[]): void {
  for (const part of parts) assert.ok(text.includes(part), `it says nothing of ${part}`);
}

test('llms.txt has the layout of llmstxt.org, and is short [Documents]', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { status, headers, text } = await ask('/llms.txt');
    assert.is(status, 200);
    assert.is(headers.get('Content-Type'), 'text/plain; charset=utf-8');
    assert.ok(Buffer.byteLength(text) < 10 * 1024, `${Buffer.byteLength(text)} bytes`);
    const lines = text.split('\n').filter(line => line !== '');
    assert.match(lines[0]!, /^# \S/);
    assert.match(lines[1]!, /^> \S/);
    const sections = lines.filter(line => line.startsWith('## '));
    assert.equal(sections.slice(0, 4), ['## Docs', '## Discovery', '## Connector', '## Endpoints']);
    assert.ok(sections.slice(4).every(section => section === '## Optional'));
  });
});

test('llms.txt names operations, paths, limits, catalogs, brokers, cuts, caveats and the connector', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { text } = await ask('/llms.txt');
    assertAllIn(
      text,
      operations
        .filter(({ path }) => !path.startsWith('/vo/'))
        .flatMap(({ path, method, operation }) => [operation.operationId, `\`${method} ${path}\``]),
    );
    for (const path of FACTS.flatMap(({ named = [] }) => named)) assertAllIn(text, [path]);
    assertAllIn(text, ['1.0 arcsec', '60.0 arcsec', '5.0 s', '1000', '200', '100', '2000', '10000', '168 hours']);
    assertAllIn(text, ['Gaia DR3', 'DES Y6 Gold', 'DELVE DR3 Gold', 'SkyMapper DR4']);
    assertAllIn(text, ['antares', 'lasair', 'pittgoogle', '0.65', 'minimum reliability 0.6, enforced by the service']);
    assertAllIn(text, [
      'not a host association',
      'not evidence',
      '`http://nearsky.test/mcp`',
      'lookup_rubin_transients',
    ]);
    const discovery = text.slice(text.indexOf('## Discovery'), text.indexOf('## Connector'));
    assertAllIn(discovery, ['get_openapi', 'service_status', 'describe_service']);
  });
});

/** Every absolute link of a text. */
function linksOf(text: string): URL[] {
  return [...text.matchAll(/\]\((https?:[^)]*)\)/g)].map(([, url]) => new URL(url!));
}

async function assertLinksResolve(ask: Ask, text: string): Promise<void> {
  const links = linksOf(text);
  assert.ok(links.length > 1);
  for (const { origin, pathname, search } of links) {
    assert.is(origin, 'http://nearsky.test');
    assert.is((await ask(pathname + search)).status, 200, pathname);
  }
}

test('the links lead to routes, and to sections that are there', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { text } = await ask('/llms.txt');
    await assertLinksResolve(ask, text);
    const reference = (await ask('/api-docs.md')).text;
    await assertLinksResolve(ask, reference);
    for (const { hash } of linksOf(text)) if (hash) assert.match(reference, `\n## ${hash.slice(1)}\n`);
  });
});

test('addresses follow the Host header and X-Forwarded-Proto [Documents]', async () => {
  await withoutDatabase({}, async ask => {
    const connector = async (headers: Record<string, string>) =>
      /`(\S+\/mcp)`/.exec((await ask('/llms.txt', { headers })).text)![1];
    assert.is(await connector({}), 'http://nearsky.test/mcp');
    assert.is(await connector({ 'X-Forwarded-Proto': 'https' }), 'https://nearsky.test/mcp');
    assert.is(await connector({ 'X-Forwarded-Proto': 'https, http' }), 'https://nearsky.test/mcp');
    assert.is(await connector({ 'X-Forwarded-Proto': 'http, https' }), 'http://nearsky.test/mcp');
    assert.is(await connector({ 'X-Forwarded-Proto': 'gopher' }), 'http://nearsky.test/mcp');
    assert.is(
      await connector({ Host: 'sky.example:8443', 'X-Forwarded-Proto': 'https' }),
      'https://sky.example:8443/mcp',
    );
    assert.is(await connector({ Host: '[::1]:8080' }), 'http://[::1]:8080/mcp');
    assert.is(await connector({ Host: 'x"><script>' }), 'http://nearsky.test/mcp');
  });
});

test('PUBLIC_BASE_URL is where the documents send their readers, whatever a client says [Documents]', async () => {
  await withoutDatabase({ PUBLIC_BASE_URL: 'https://sky.example/rubin/' }, async ask => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Proto': 'http' };
    for (const path of ['/llms.txt', '/api-docs.md', ...FACTS.flatMap(({ addressed = [] }) => addressed)]) {
      const { text } = await ask(path, { headers });
      assert.match(text, 'https://sky.example/rubin', path);
      assert.not.match(text, 'evil.example', path);
    }
  });
});

test('the reference has every operation, parameter, code and source id [Documents]', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { status, headers, text } = await ask('/api-docs.md');
    assert.is(status, 200);
    assert.is(headers.get('Content-Type'), 'text/markdown; charset=utf-8');
    assert.is(headers.get('Link'), '</llms.txt>; rel="describedby"');
    assert.match(text, /^# \S/);
    for (const { path, method, operation } of operations) {
      const start = text.indexOf(`# ${operation.operationId}\n`);
      assert.ok(start > 0, operation.operationId);
      const section = text.slice(start, text.indexOf('\n##', start + 1));
      const own = (operation.parameters ?? []).filter(({ name }) => name !== 'X-Log-Position');
      assertAllIn(section, [`${method} ${path}`, ...own.map(({ name }) => `\`${name}\``)]);
    }
    assertAllIn(text, ['`inputs`', '`filters`', '`kind`', '`radius_arcsec`']);
    for (const { name, status: code, meaning } of ERROR_CODES)
      assertAllIn(text, [`| \`${name}\` | ${code} |`, meaning]);
    assertAllIn(
      text,
      ['`source_id`', '`COADD_OBJECT_ID`', '`object_id`'].map(name => name.replaceAll('`', '')),
    );
    assertAllIn(text, ['The COADD_OBJECT_ID of DELVE DR3 Gold', 'not mean the same source', 'http://nearsky.test/mcp']);
  });
});

test('blocks as Markdown and as HTML', () => {
  const blocks = [
    { kind: 'heading', level: 2, text: 'A `b` & C' },
    { kind: 'list', items: ['one', '[two](http://x/?a=1&b=2)', '[three](javascript:x)'] },
    { kind: 'table', header: ['h'], rows: [['a | b <c>']] },
    { kind: 'code', text: '<x>' },
  ] as const;
  assert.is(
    toMarkdown(blocks),
    '## A `b` & C\n\n- one\n- [two](http://x/?a=1&b=2)\n- [three](javascript:x)\n\n| h |\n| --- |\n| a \\| b <c> |\n\n```\n<x>\n```\n',
  );
  const html = toHtml(blocks);
  assertAllIn(html, [
    '<h2 id="a-b--c">A <code>b</code> &amp; C</h2>',
    '<a href="http://x/?a=1&amp;b=2">two</a>',
    '<li>[three](javascript:x)</li>',
    '<td>a | b &lt;c&gt;</td>',
    '<pre tabindex="0"><code>&lt;x&gt;</code></pre>',
  ]);
});

test.run();
