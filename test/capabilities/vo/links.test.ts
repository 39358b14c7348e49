/** The links of objects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CENTRES, storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { infosOf, rowsOf } from '../../core/tables/read_votable.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite<{ running: Running }>('vo/links');
const OBJECTS = trueObjects(50);
const [FIRST, SECOND] = OBJECTS as [(typeof OBJECTS)[0], (typeof OBJECTS)[0]];
const [CENTRE] = CENTRES as [(typeof CENTRES)[number]];
const CONE = `RA=${CENTRE.ra}&DEC=${CENTRE.dec}&SR=0.2`;
const LINKS = 'http://sky.example/vo/links';
const noEngine = duckdbObstacle();

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, OBJECTS));
});

test.after(({ running }) => running.close());

const asked = ({ app }: Running, query: string) => app.get(`/vo/links?${query}`, { headers: { Host: 'sky.example' } });

test('an object has two links; an identifier without an object has the reason', async ({ running }) => {
  const { text, headers } = await asked(running, `ID=${FIRST.id}&id=${2n ** 63n - 1n}&ID=M%2031&ID=${SECOND.id}`);
  assert.is(headers.get('Content-Type'), 'application/x-votable+xml;content=datalink');
  assert.equal(infosOf(text, 'standardID'), ['ivo://ivoa.net/std/DataLink#links-1.1']);
  const rows = rowsOf(text);
  assert.equal(
    rows.map(({ ID, semantics, content_type }) => [ID, semantics, content_type]),
    [
      [`${FIRST.id}`, '#this', 'application/json'],
      [`${FIRST.id}`, '#auxiliary', 'text/html'],
      [`${2n ** 63n - 1n}`, '#this', null],
      ['M 31', '#this', null],
      [`${SECOND.id}`, '#this', 'application/json'],
      [`${SECOND.id}`, '#auxiliary', 'text/html'],
    ],
  );
  assert.match(rows[2]!.error_message!, /^NotFoundFault: /);
  assert.match(rows[3]!.error_message!, /^UsageFault: M 31 is not a diaObjectId/);
  for (const { access_url: url, content_type: type } of [rows[0]!, rows[1]!]) {
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
    [FIRST, FIRST, SECOND, SECOND].map(({ id }) => `${id}`),
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

/** The column with identifiers of objects in a document, if it refers to the service of links. */
function linkedColumn(text: string): string | undefined {
  if (!text.includes('<RESOURCE type="meta" utype="adhoc:service"')) return undefined;
  assert.match(text, `<PARAM name="accessURL" datatype="char" arraysize="*" value="${LINKS}"/>`);
  assert.match(text, '<PARAM name="ID" datatype="char" arraysize="*" value="" ref="diaObjectId"/>');
  return [...text.matchAll(/<FIELD name="(\w+)" ID="diaObjectId"/g)].map(([, name]) => name).join();
}

async function query({ app }: Running, adql: string): Promise<string> {
  const path = `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: adql })}`;
  for (;;) {
    const { status, text } = await app.get(path, { headers: { Host: 'sky.example' } });
    if (status === 200) return text;
    assert.is(status, 503, text);
    await sleep(200);
  }
}

test('VOTables of cone searches refer to the links', async ({ running }) => {
  for (const path of [`/vo/scs?${CONE}`, `/vo/scs/gaia_dr3?${CONE}&VERB=1`, `/vo/scs?${CONE}&MAXREC=0`]) {
    const { text } = await running.app.get(path, { headers: { Host: 'sky.example' } });
    assert.is(linkedColumn(text), 'diaObjectId', path);
  }
});

needs(test, noEngine)(
  'VOTables of queries refer to the links by their first column of objects',
  async ({ running }) => {
    for (const [adql, column] of [
      [
        'SELECT o.diaObjectId AS o, m.diaObjectId AS m FROM objects AS o LEFT JOIN matches AS m USING (diaObjectId)',
        'o',
      ],
      ['SELECT ra, diaObjectId FROM nearsky.crossmatches', 'diaObjectId'],
      ['SELECT status, MIN(diaObjectId) AS least FROM objects GROUP BY status', 'least'],
      ['SELECT n.id FROM (SELECT diaObjectId AS id FROM objects) AS n', 'id'],
      ['SELECT ra, diaObjectId + 1 AS n, COUNT(diaObjectId) AS c FROM objects GROUP BY ra, diaObjectId', undefined],
      ['SELECT catalog_source_id FROM matches', undefined],
    ] as const)
      assert.is(linkedColumn(await query(running, adql)), column, adql);
  },
);

test.run();
