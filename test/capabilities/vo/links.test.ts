/** The links of objects. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { API } from '../../capabilities.ts';
import { CENTRES, storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { infosOf, rowsOf } from '../../core/tables/read_votable.ts';
import { linkedColumn } from './linked_column.ts';

const test = suite<{ running: Running }>('vo/links');
const OBJECTS = trueObjects(50);
const [FIRST, SECOND] = OBJECTS as [(typeof OBJECTS)[0], (typeof OBJECTS)[0]];
const [CENTRE] = CENTRES as [(typeof CENTRES)[number]];
const CONE = `RA=${CENTRE.ra}&DEC=${CENTRE.dec}&SR=0.2`;
const PAGES = API.hasPages ? ['page'] : [];

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS));
});

test.after(({ running }) => running.close());

const asked = ({ app }: Running, query: string) => app.get(`/vo/links?${query}`, { headers: { Host: 'sky.example' } });

test('an object has two links; an identifier without an object has the reason', async ({ running }) => {
  const { text, headers } = await asked(running, `ID=${FIRST.id}&id=${2n ** 63n - 1n}&ID=M%2031&ID=${SECOND.id}`);
  assert.is(headers.get('Content-Type'), 'application/x-votable+xml;content=datalink');
  assert.equal(infosOf(text, 'QUERY_STATUS'), ['OK']);
  assert.equal(infosOf(text, 'standardID'), ['ivo://ivoa.net/std/DataLink#links-1.1']);
  const rows = rowsOf(text);
  assert.equal(
    rows.map(({ ID, semantics, content_type }) => [ID, semantics, content_type]),
    [
      [`${FIRST.id}`, '#this', 'application/json'],
      ...PAGES.map(() => [`${FIRST.id}`, '#auxiliary', 'text/html']),
      [`${2n ** 63n - 1n}`, '#this', null],
      ['M 31', '#this', null],
      [`${SECOND.id}`, '#this', 'application/json'],
      ...PAGES.map(() => [`${SECOND.id}`, '#auxiliary', 'text/html']),
    ],
  );
  const [notFound, invalid] = rows.slice(1 + PAGES.length);
  assert.match(notFound!.error_message!, /^NotFoundFault: /);
  assert.match(invalid!.error_message!, /^UsageFault: M 31 is not a diaObjectId/);
  for (const { access_url: url, content_type: type } of rows.slice(0, 1 + PAGES.length)) {
    assert.match(url!, /^http:\/\/sky\.example\//);
    const linked = await running.app.get(url!.replace('http://sky.example', ''), { headers: { Accept: type! } });
    assert.equal([linked.status, linked.headers.get('Content-Type')!.startsWith(type!)], [200, true], url!);
    assert.match(linked.text, `${FIRST.id}`);
  }
});

test('no identifier, many of them, by a form, in another format', async ({ running }) => {
  assert.equal(rowsOf((await asked(running, '')).text), []);
  const form = await running.app.get('/vo/links', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: Array.from({ length: 1001 }, (_, i) => `ID=${i}`).join('&'),
  });
  assert.is(rowsOf(form.text).length, 1000);
  assert.equal(infosOf(form.text, 'QUERY_STATUS'), ['OK', 'OVERFLOW']);
  const binary = await asked(
    running,
    `ID=${FIRST.id}&RESPONSEFORMAT=application/x-votable%2Bxml;serialization=BINARY2`,
  );
  assert.match(binary.text, '<BINARY2>');
  for (const [format, type] of [
    ['votable', 'application/x-votable+xml;content=datalink'],
    ['application/x-votable%2Bxml;content=datalink', 'application/x-votable+xml;content=datalink'],
    ['text/xml', 'text/xml'],
  ])
    assert.is((await asked(running, `ID=1&RESPONSEFORMAT=${format}`)).headers.get('Content-Type'), type);
  const parts = new FormData();
  parts.append('ID', `${FIRST.id}`);
  parts.append('ID', `${SECOND.id}`);
  const { headers, body } = new Request('http://sky.example', { method: 'POST', body: parts });
  const multipart = await running.app.get('/vo/links', {
    method: 'POST',
    headers: { 'Content-Type': headers.get('Content-Type')! },
    body: await new Response(body).text(),
  });
  assert.equal(
    rowsOf(multipart.text).map(({ ID }) => ID),
    [FIRST, SECOND].flatMap(({ id }) => ['object', ...PAGES].map(() => `${id}`)),
  );
  const refused = await asked(running, `ID=${FIRST.id}&RESPONSEFORMAT=fits`);
  assert.is(refused.status, 400);
  assert.match(refused.text, /<INFO name="QUERY_STATUS" value="ERROR">UsageFault: RESPONSEFORMAT must be/);
  const json = await running.app.get('/vo/links', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: `{"ID": "${FIRST.id}"}`,
  });
  assert.is(json.status, 400, 'not an empty table');
  assert.match(json.text, /UsageFault: Content-Type must be .* \(application\/json was given\)/);
  assert.is((await running.app.get('/vo/links', { method: 'PUT' })).status, 405);
});

test('VOTables of cone searches refer to the links', async ({ running }) => {
  for (const path of [`/vo/scs?${CONE}`, `/vo/scs/gaia_dr3?${CONE}&VERB=1`, `/vo/scs?${CONE}&MAXREC=0`]) {
    const { text } = await running.app.get(path, { headers: { Host: 'sky.example' } });
    assert.is(linkedColumn(text), 'diaObjectId', path);
  }
});

test.run();
