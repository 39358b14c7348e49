/** The pages of the reference, and those that state the orders of coverage maps (docs/contract.md, Documents). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import { DECLARED, withoutDatabase } from '../../core/contract/support.ts';
import { withApp } from '../../core/http/support.ts';
import { exchange, parseAnswer, withServer } from '../../core/server/support.ts';

const test = suite('pages/reference');

test('the page says the same as HTML', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { status, headers, text } = await ask('/api-docs');
    assert.is(status, 200);
    assert.is(headers.get('Content-Type'), 'text/html; charset=utf-8');
    const { paths } = JSON.parse((await ask('/openapi.json')).text) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const { operationId } of Object.values(paths).flatMap(methods => Object.values(methods)))
      assert.match(text, new RegExp(`<h[23] id="${operationId}">`));
    for (const part of ['<code>filters_span_catalogs</code>', '<table>', '&lt;= 60'])
      assert.ok(text.includes(part), part);
    assert.is((await ask('/api-docs', { method: 'POST' })).headers.get('Allow'), 'GET, HEAD');
  });
});

test('pages state the order of a coverage map that is in force', () =>
  withApp(
    async ({ writer }) => {
      await writer.commit({ kind: 'register_catalog', registration: registrationOf(catalogDefinition('gaia_dr3')!) });
    },
    async app => {
      assert.match((await app.get('/catalogs')).text, /HEALPix order 2: .* order, 8/);
      assert.match((await app.get('/vo')).text, /Gaia DR3 to order 2,/);
    },
  ));

test('a page answers no other method, and Allow names those that it has', () =>
  withApp(
    async () => {},
    ({ app }) =>
      withServer(app.answer, async ({ port }) => {
        const received = await exchange(port, 'GETS / HTTP/1.1', 'Host: x', 'Connection: close');
        const { status, headers, body } = parseAnswer(received);
        assert.equal([status, headers.get('allow'), headers.get('connection')], [405, 'GET, HEAD', 'close']);
        assert.is(JSON.parse(body).code, 'method_not_allowed');
      }),
  ));

test('the page of an object links to the pages of its brokers, whose addresses are settings', () =>
  withApp(
    async () => {},
    async app => {
      const { text } = await app.get('/objects/1');
      assert.match(text, 'lasair.example/{id}');
      assert.match(text, 'antares.example/{id}');
    },
    {
      ANTARES_OBJECT_URL_TEMPLATE: 'https://antares.example/{diaObjectId}',
      LASAIR_OBJECT_URL_TEMPLATE: 'https://lasair.example/{diaObjectId}',
    },
  ));

test.run();
